//! GitHub Copilot CLI. Under Claude Code's names of events it sends Claude Code's shape, save for a few events.

mod decode;
mod encode;
mod install;
mod powers;
mod transcript;

use crate::Adapter;
use crate::environment::Variables;
use crate::protocol::kinds;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    events: kinds::FAMILY,
    fields: decode::FIELDS,
    translate: Some(decode::translate),
    shell_tool: "Bash",
    file_tools: &[
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
    tool: decode::tool,
    folder: None,
    unknown_server: None,
    outcome: decode::outcome,
    powers: powers::powers,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: Variables {
        marks: &["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
        session: &["COPILOT_AGENT_SESSION_ID"],
        project_dir: Some("COPILOT_PROJECT_DIR"),
    },
};
