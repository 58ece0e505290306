//! Claude Code. Its tool names and its hook format are the canonical ones.

mod capabilities;
mod install;
mod transcript;
mod translate;

use crate::environment::AgentVariables;
use crate::protocol::{encode, event_names};
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    events: event_names::CANONICAL,
    fields: &[],
    adjust_payload: None,
    native_tools: NativeTools {
        shell: "Bash",
        files: &["Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep"],
    },
    convert_call: translate::convert_call,
    directory_argument: None,
    unknown_server: None,
    outcome: translate::outcome,
    capabilities: capabilities::capabilities,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: AgentVariables {
        detection_variables: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
        session: &["CLAUDE_CODE_SESSION_ID"],
        project_dir: Some("CLAUDE_PROJECT_DIR"),
    },
};
