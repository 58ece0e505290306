//! Gemini CLI. Its hooks are called and answered much as Claude Code's are, under names of its own.

mod decode;
mod install;
mod powers;
mod transcript;
mod trusted_folders;

use crate::Adapter;
use crate::environment::Variables;
use crate::protocol::encode;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    events: decode::EVENTS,
    fields: &[],
    translate: Some(decode::translate),
    shell_tool: "run_shell_command",
    file_tools: &["read_file", "read_many_files", "write_file", "replace", "glob", "grep_search", "list_directory"],
    tool: decode::tool,
    folder: Some("dir_path"),
    unknown_server: None,
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: Variables { marks: &["GEMINI_CLI"], session: &[], project_dir: Some("GEMINI_PROJECT_DIR") },
};
