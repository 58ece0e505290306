//! Antigravity, which followed Gemini CLI. Its payloads do not name their event, so its settings do.

mod decode;
mod encode;
mod install;
mod powers;

use crate::Adapter;
use crate::environment::Variables;
use crate::transcript::Format;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "antigravity",
    title: "Antigravity",
    program: "agy",
    events: decode::EVENTS,
    fields: decode::FIELDS,
    translate: Some(decode::translate),
    shell_tool: "run_command",
    file_tools: &[
        "view_file",
        "write_to_file",
        "replace_file_content",
        "multi_replace_file_content",
        "delete_file",
        "grep_search",
        "find_by_name",
        "list_dir",
    ],
    tool: decode::tool,
    folder: Some("Cwd"),
    unknown_server: None,
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: Format::NONE,
    environment: Variables { marks: &["ANTIGRAVITY_AGENT"], session: &[], project_dir: None },
};
