//! Tests the part of Linchpin's OpenCode plugin that is for OpenCode 2. OpenCode 2 is not in the npm registry, so a
//! stand-in loads the plugin.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::agent_kind::AgentKind;
use super::scenarios::NO_FORBIDDEN;
use super::workspace::Workspace;

const HOST: &str = include_str!("opencode_2.js");

pub(super) fn play(linchpin: &Path, directory: &Path) -> Result<()> {
    let run = directory.join("runs/opencode-2-stand-in");
    let workspace = Workspace::create(&run, linchpin)?;
    let (rule, text) = NO_FORBIDDEN;
    workspace.write_rule(rule, text)?;
    workspace.install(AgentKind::OpenCode)?;
    // Node treats a file as an ES module if its extension is `.mjs`.
    let (host, plugin) = (run.join("host.mjs"), run.join("plugin.mjs"));
    fs::write(&host, HOST)?;
    fs::copy(workspace.project().join(".opencode/plugins/linchpin.js"), &plugin)?;
    let output = workspace.command("node").arg(host).arg(plugin).output()?;
    ensure!(output.status.success(), "the host failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
