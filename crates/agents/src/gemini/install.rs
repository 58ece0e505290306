//! Gemini CLI's `settings.json`: a command line for a shell, times in milliseconds.
//!
//! Not asked for: `PreCompress`, which it calls before every request, and what is called for every request or piece of an
//! answer (`BeforeModel`, `AfterModel`, `BeforeToolSelection`).

use serde_json::{Map, Value, json};

use crate::install::{Accepting, Entries, Form, Hook, Moved, Nesting, Scope, Settings};
use crate::protocol::tools::shell_quoted;

pub(super) const SETTINGS: Settings = Settings {
    sign: Some(".gemini"),
    project_file: ".gemini/settings.json",
    local_file: None,
    user_folder: ".gemini",
    moved_by: Some(Moved { variable: "GEMINI_CLI_HOME", below: ".gemini" }),
    user_file: "settings.json",
    accepting: Some(Accepting {
        file: "trustedFolders.json",
        by_hooks: false,
        demand: "where folder trust is on, it reads a project's settings only in trusted folders",
        is_off: |_| false,
    }),
    form: Form::Entries(Entries {
        hooks: &[
            Hook { event: "BeforeTool", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "AfterTool", nesting: Nesting::Matched("*"), timeout: 60 },
            Hook { event: "BeforeAgent", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "AfterAgent", nesting: Nesting::Grouped, timeout: 600 },
            Hook { event: "Notification", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SessionStart", nesting: Nesting::Grouped, timeout: 60 },
            Hook { event: "SessionEnd", nesting: Nesting::Grouped, timeout: 10 },
        ],
        is_versioned: false,
        handler,
        problems,
    }),
};

const NAME: &str = "linchpin";

fn handler(hook: &Hook, _scope: Scope, program: &str) -> Value {
    json!({
        "type": "command",
        "name": NAME,
        "command": format!("{} hook gemini", shell_quoted(program)),
        "timeout": u64::from(hook.timeout) * 1000,
    })
}

fn problems(settings: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    let config = settings.get("hooksConfig");
    if config.and_then(|config| config.get("enabled")) == Some(&Value::Bool(false)) {
        problems.push("`hooksConfig.enabled` is off, so Gemini CLI calls no hooks".to_owned());
    }
    let disabled = config.and_then(|config| config.get("disabled")?.as_array()).into_iter().flatten();
    for name in disabled.filter_map(Value::as_str).filter(|name| name.contains(NAME)) {
        problems.push(format!("`hooksConfig.disabled` names `{name}`, so Gemini CLI does not call it"));
    }
    problems
}
