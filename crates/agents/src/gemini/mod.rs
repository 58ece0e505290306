//! Gemini CLI. Its hooks are similar to Claude Code's, but its events and tools have other names.

mod capabilities;
mod install;
mod transcript;
mod translate;
mod trusted_folders;

use crate::environment::AgentVariables;
use crate::protocol::encode;
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    events: translate::EVENTS,
    fields: &[],
    adjust_payload: Some(translate::adjust_payload),
    native_tools: NativeTools {
        shell: "run_shell_command",
        files: &["read_file", "read_many_files", "write_file", "replace", "glob", "grep_search", "list_directory"],
    },
    convert_call: translate::convert_call,
    directory_argument: Some("dir_path"),
    unknown_server: None,
    outcome: translate::outcome,
    capabilities: capabilities::capabilities,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: AgentVariables {
        detection_variables: &["GEMINI_CLI"],
        session: &[],
        project_dir: Some("GEMINI_PROJECT_DIR"),
    },
};
