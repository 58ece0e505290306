//! Claude Code. Its tool names are the canonical ones, its hooks the shape that others follow.

mod decode;
mod install;
mod powers;
mod transcript;

use crate::Adapter;
use crate::environment::Variables;
use crate::protocol::{encode, kinds};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    events: kinds::FAMILY,
    fields: &[],
    translate: None,
    shell_tool: "Bash",
    file_tools: &["Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep"],
    tool: decode::tool,
    folder: None,
    unknown_server: None,
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: Variables {
        marks: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
        session: &["CLAUDE_CODE_SESSION_ID"],
        project_dir: Some("CLAUDE_PROJECT_DIR"),
    },
};
