//! Cursor. It has its own protocol: names of events in camel case, and answers with a field `permission`.

mod capabilities;
mod encode;
mod install;
mod translate;

use crate::environment::AgentVariables;
use crate::transcript::TranscriptFormat;
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "cursor",
    title: "Cursor",
    program: "cursor-agent",
    events: translate::EVENTS,
    fields: translate::FIELDS,
    adjust_payload: Some(translate::adjust_payload),
    native_tools: NativeTools {
        shell: "Shell",
        files: &["Read", "Write", "StrReplace", "ApplyPatch", "EditNotebook", "Delete"],
    },
    convert_call: translate::convert_call,
    directory_argument: Some("working_directory"),
    unknown_server: Some(translate::UNKNOWN_SERVER),
    outcome: translate::outcome,
    capabilities: capabilities::capabilities,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: TranscriptFormat::NONE,
    environment: AgentVariables {
        detection_variables: &["CURSOR_AGENT"],
        session: &[],
        project_dir: Some("CURSOR_PROJECT_DIR"),
    },
};
