//! Claude Code. Its tool names are the canonical ones, its hooks the shape that others follow.

mod decode;
mod encode;
mod install;
mod transcript;

use crate::Adapter;
use crate::environment::Variables;

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "claude",
    title: "Claude Code",
    kind: decode::kind,
    tool: decode::tool,
    outcome: decode::outcome,
    encode: encode::encode,
    settings: install::SETTINGS,
    transcript: transcript::FORMAT,
    environment: Variables {
        marks: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
        session: &["CLAUDE_CODE_SESSION_ID"],
        project_dir: Some("CLAUDE_PROJECT_DIR"),
    },
};
