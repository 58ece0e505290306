//! Codex CLI. Its hooks have Claude Code's format; answers must contain only keys that Codex knows.

mod capabilities;
mod encode;
mod install;
mod shell_patch;
mod transcript;
mod translate;

use crate::environment::AgentVariables;
use crate::protocol::event_names;
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "codex",
    title: "Codex CLI",
    program: "codex",
    events: event_names::CANONICAL,
    fields: &[],
    adjust_payload: None,
    native_tools: NativeTools { shell: "Bash", files: &["apply_patch", "view_image"] },
    convert_call: translate::convert_call,
    directory_argument: None,
    unknown_server: None,
    outcome: translate::outcome,
    capabilities: capabilities::capabilities,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: AgentVariables {
        detection_variables: &["CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID"],
        session: &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
        project_dir: None,
    },
};
