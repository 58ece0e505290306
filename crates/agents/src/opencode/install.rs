//! The plugin module that is shipped within the binary.

use crate::install::{Form, MODULE_MARK, Module, Moved, Scope, Settings};

pub(super) const SETTINGS: Settings = Settings {
    sign: Some(".opencode"),
    project_file: ".opencode/plugins/linchpin.js",
    local_file: None,
    user_folder: ".config/opencode",
    moved_by: Some(Moved { variable: "XDG_CONFIG_HOME", below: "opencode" }),
    user_file: "plugins/linchpin.js",
    accepting: None,
    form: Form::Module(Module {
        text: module,
        events: &[
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "SessionStart",
        ],
    }),
};

const PLUGIN: &str = include_str!("plugin.js");

fn module(scope: Scope, program: &str) -> String {
    let program = serde_json::Value::from(program);
    // Committed, a plugin that refuses without Linchpin would lock out everyone who has none.
    let fail_closed = scope != Scope::Project;
    format!("{MODULE_MARK}\nconst PROGRAM = {program};\nconst FAIL_CLOSED = {fail_closed};\n\n{PLUGIN}")
}
