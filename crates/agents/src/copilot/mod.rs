//! GitHub Copilot CLI. For hooks with Claude Code's names of events, it sends payloads in Claude Code's format, except
//! at a few events.

mod capabilities;
mod encode;
mod install;
mod transcript;
mod translate;

use crate::environment::AgentVariables;
use crate::protocol::event_names;
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    events: event_names::CANONICAL,
    fields: translate::FIELDS,
    adjust_payload: Some(translate::adjust_payload),
    native_tools: NativeTools {
        shell: "Bash",
        files: &[
            "Read",
            "Write",
            "Edit",
            "view",
            "create",
            "edit",
            "str_replace_editor",
            "apply_patch",
            "grep",
            "glob",
        ],
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
        detection_variables: &["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
        session: &["COPILOT_AGENT_SESSION_ID"],
        project_dir: Some("COPILOT_PROJECT_DIR"),
    },
};
