//! The plugin module that is shipped within the binary.

use crate::install::{Form, MODULE_MARK, Module, Moved, Scope, Settings, may_fail_closed};

pub(super) const SETTINGS: Settings = Settings {
    project_signs: &[".opencode"],
    home_signs: &[],
    project_file: ".opencode/plugins/linchpin.js",
    local_file: None,
    user_folder: ".config/opencode",
    moved_by: Some(Moved { variable: "XDG_CONFIG_HOME", below: "opencode" }),
    user_file: "plugins/linchpin.js",
    accepting: None,
    switch_files: &[],
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
    let fail_closed = may_fail_closed(scope);
    format!("{MODULE_MARK}\nconst PROGRAM = {program};\nconst FAIL_CLOSED = {fail_closed};\n\n{PLUGIN}")
}
