//! Antigravity, the successor of Gemini CLI. Its payloads do not name the event, so the hook's command line does.

mod capabilities;
mod encode;
mod install;
mod translate;

use crate::environment::AgentVariables;
use crate::transcript::TranscriptFormat;
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "antigravity",
    title: "Antigravity",
    program: "agy",
    events: translate::EVENTS,
    fields: translate::FIELDS,
    adjust_payload: Some(translate::adjust_payload),
    native_tools: NativeTools {
        shell: "run_command",
        files: &[
            "view_file",
            "write_to_file",
            "replace_file_content",
            "multi_replace_file_content",
            "delete_file",
            "grep_search",
            "find_by_name",
            "list_dir",
        ],
    },
    convert_call: translate::convert_call,
    directory_argument: Some("Cwd"),
    unknown_server: None,
    outcome: translate::outcome,
    capabilities: capabilities::capabilities,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: TranscriptFormat::NONE,
    environment: AgentVariables { detection_variables: &["ANTIGRAVITY_AGENT"], session: &[], project_dir: None },
};
