//! The half of OpenCode's plugin that is for OpenCode 2, which cannot be installed from the registry: tried with a stand-in
//! for its host.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::client::Client;
use super::scenarios::NO_FORBIDDEN;
use super::workspace::Workspace;

const HOST: &str = include_str!("second_generation.js");

pub(super) fn play(linchpin: &Path, folder: &Path) -> Result<()> {
    let run = folder.join("runs/opencode-2-stand-in");
    let workspace = Workspace::create(&run, linchpin)?;
    let (rule, text) = NO_FORBIDDEN;
    workspace.write_rule(rule, text)?;
    workspace.install(Client::OpenCode)?;
    // Node reads a module by its ending.
    let (host, plugin) = (run.join("host.mjs"), run.join("plugin.mjs"));
    fs::write(&host, HOST)?;
    fs::copy(workspace.project().join(".opencode/plugins/linchpin.js"), &plugin)?;
    let output = workspace.command("node").arg(host).arg(plugin).output()?;
    ensure!(output.status.success(), "the host says: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
