//! OpenCode. It has no hooks that call programs, but plugins; ours calls Linchpin and speaks Claude Code's protocol with it.

mod decode;
mod install;
mod powers;
mod transcript;

use crate::Adapter;
use crate::environment::Variables;
use crate::protocol::{encode, kinds};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    events: kinds::FAMILY,
    fields: &[],
    translate: None,
    shell_tool: "bash",
    file_tools: &["read", "write", "edit", "apply_patch", "glob", "grep", "list"],
    tool: decode::tool,
    folder: Some(decode::FOLDER),
    unknown_server: None,
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: Variables {
        marks: &["OPENCODE", "LINCHPIN_OPENCODE_SESSION"],
        session: &["LINCHPIN_OPENCODE_SESSION"],
        project_dir: None,
    },
};
