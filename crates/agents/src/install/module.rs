//! A plugin module that contains only Linchpin's code, and is written and deleted as a whole.
//!
//! Its first line identifies it. A file with another first line is not changed.

use serde_json::Value;

use super::document::SettingsError;
use super::handler::may_fail_closed;
use super::scope::SettingsScope;

pub(crate) struct Module {
    /// The source code. `PROGRAM` is the program to call, `FAIL_CLOSED` is true if calls are refused when it is
    /// missing.
    pub plugin: &'static str,
    /// The events for which it calls Linchpin.
    pub events: &'static [&'static str],
}

impl Module {
    pub(super) fn text(&self, scope: SettingsScope, program: &str) -> String {
        let (before, after) = PROGRAM;
        let program = Value::from(program);
        let fail_closed = may_fail_closed(scope);
        let plugin = self.plugin;
        format!("{MARK}\n{before}{program}{after}\nconst FAIL_CLOSED = {fail_closed};\n\n{plugin}")
    }
}

/// The first line of the module.
const MARK: &str = "// Written by `linchpin install`; `linchpin uninstall` removes it. Do not edit.";

/// The line with the program, before and after its name in JSON.
const PROGRAM: (&str, &str) = ("const PROGRAM = ", ";");

pub(super) fn is_ours(text: &str) -> bool {
    // Earlier versions had other words after this.
    text.starts_with("// Written by `linchpin install`;")
}

pub(super) fn install(
    module: &Module,
    scope: SettingsScope,
    text: Option<&str>,
    program: &str,
) -> Result<String, SettingsError> {
    match text {
        Some(text) if !is_ours(text) => {
            Err(SettingsError { line: 1, column: 1, message: "this file is not Linchpin's".to_owned() })
        }
        _ => Ok(module.text(scope, program)),
    }
}

/// Returns the program that the module calls.
pub(super) fn program(text: &str) -> Option<String> {
    let (before, after) = PROGRAM;
    let name = text.lines().find_map(|line| line.strip_prefix(before)?.strip_suffix(after))?;
    serde_json::from_str(name).ok()
}
