//! Cursor's `hooks.json`: a command line for a shell, and a version.
//!
//! Asked for is `preToolUse`, which every tool passes; the older events about one tool each would call a second time.

use serde_json::{Map, Value, json};

use crate::install::{Entries, Form, Hook, Nesting, Scope, Settings};
use crate::protocol::tools::shell_quoted;

pub(super) const SETTINGS: Settings = Settings {
    sign: Some(".cursor"),
    project_file: ".cursor/hooks.json",
    local_file: None,
    user_folder: ".cursor",
    moved_by: None,
    user_file: "hooks.json",
    accepting: None,
    form: Form::Entries(Entries {
        hooks: &[
            Hook { event: "preToolUse", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "postToolUse", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "postToolUseFailure", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "beforeSubmitPrompt", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "stop", nesting: Nesting::Flat, timeout: 600 },
            Hook { event: "subagentStart", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "subagentStop", nesting: Nesting::Flat, timeout: 600 },
            Hook { event: "preCompact", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "sessionStart", nesting: Nesting::Flat, timeout: 60 },
            Hook { event: "sessionEnd", nesting: Nesting::Flat, timeout: 10 },
        ],
        is_versioned: true,
        handler,
        problems: |_: &Map<String, Value>| Vec::new(),
    }),
};

fn handler(hook: &Hook, scope: Scope, program: &str) -> Value {
    let mut handler = json!({ "command": format!("{} hook cursor", shell_quoted(program)), "timeout": hook.timeout });
    if let Value::Object(fields) = &mut handler {
        // Committed, the switch would lock out everyone who has no Linchpin.
        if hook.event == "preToolUse" && scope != Scope::Project {
            fields.insert("failClosed".to_owned(), json!(true));
        }
        // How often a stop is held is for the rules to say.
        if matches!(hook.event, "stop" | "subagentStop") {
            fields.insert("loop_limit".to_owned(), Value::Null);
        }
    }
    handler
}
