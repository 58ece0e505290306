//! Codex CLI. Its hooks have Claude Code's shape; its answers must hold exactly the keys that it knows.

mod decode;
mod encode;
mod install;
mod powers;
mod shell_patch;
mod transcript;

use crate::Adapter;
use crate::environment::Variables;
use crate::protocol::kinds;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "codex",
    title: "Codex CLI",
    program: "codex",
    events: kinds::FAMILY,
    fields: &[],
    translate: None,
    shell_tool: "Bash",
    file_tools: &["apply_patch", "view_image"],
    tool: decode::tool,
    folder: None,
    unknown_server: None,
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: Variables {
        marks: &["CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID"],
        session: &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
        project_dir: None,
    },
};
