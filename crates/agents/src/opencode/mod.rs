//! OpenCode. It has plugins instead of hooks. Linchpin's plugin calls Linchpin with Claude Code's protocol.

mod capabilities;
mod install;
mod transcript;
mod translate;

use crate::environment::AgentVariables;
use crate::protocol::{encode, event_names};
use crate::{Adapter, NativeTools};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    events: event_names::CANONICAL,
    fields: &[],
    adjust_payload: None,
    native_tools: NativeTools {
        shell: "bash",
        files: &["read", "write", "edit", "apply_patch", "glob", "grep", "list"],
    },
    convert_call: translate::convert_call,
    directory_argument: Some(translate::DIRECTORY_ARGUMENT),
    unknown_server: None,
    outcome: translate::outcome,
    capabilities: capabilities::capabilities,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: AgentVariables {
        detection_variables: &["OPENCODE", "LINCHPIN_OPENCODE_SESSION"],
        session: &["LINCHPIN_OPENCODE_SESSION"],
        project_dir: None,
    },
};
