//! Cursor. A protocol of its own: events in lower case, answers with a `permission`.

mod decode;
mod encode;
mod install;
mod powers;

use crate::Adapter;
use crate::environment::Variables;
use crate::transcript::Format;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "cursor",
    title: "Cursor",
    program: "cursor-agent",
    events: decode::EVENTS,
    fields: decode::FIELDS,
    translate: Some(decode::translate),
    shell_tool: "Shell",
    file_tools: &["Read", "Write", "StrReplace", "ApplyPatch", "EditNotebook", "Delete"],
    tool: decode::tool,
    folder: Some("working_directory"),
    unknown_server: Some(decode::UNKNOWN_SERVER),
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: Format::NONE,
    environment: Variables { marks: &["CURSOR_AGENT"], session: &[], project_dir: Some("CURSOR_PROJECT_DIR") },
};
