//! A plugin module: a file that contains only Linchpin's code, and is written and deleted as a whole.
//!
//! The first line shows that the file is Linchpin's. A file with another first line is not changed.

use serde_json::Value;

use super::document::SettingsError;
use super::handler::may_fail_closed;
use super::scope::SettingsScope;

pub(crate) struct Module {
    /// The source code. It uses two constants: `PROGRAM`, the program to call, and `FAIL_CLOSED`, true if calls are
    /// refused when that program is missing.
    pub plugin: &'static str,
    /// The events for which the module calls Linchpin.
    pub events: &'static [&'static str],
}

impl Module {
    pub(super) fn text(&self, scope: SettingsScope, program: &str) -> String {
        let (before, after) = PROGRAM;
        let program = Value::from(program);
        let fail_closed = may_fail_closed(scope);
        let plugin = self.plugin;
        format!("{FIRST_LINE}\n{before}{program}{after}\nconst FAIL_CLOSED = {fail_closed};\n\n{plugin}")
    }
}

/// The first line of the module.
const FIRST_LINE: &str = "// Written by `linchpin install`; `linchpin uninstall` removes it. Do not edit.";

/// The text before and after the program's path in the line that defines `PROGRAM`. The path is written as a JSON
/// string.
const PROGRAM: (&str, &str) = ("const PROGRAM = ", ";");

pub(super) fn is_linchpin_module(text: &str) -> bool {
    // Earlier versions of Linchpin wrote other words after this prefix.
    text.starts_with("// Written by `linchpin install`;")
}

pub(super) fn install(
    module: &Module,
    scope: SettingsScope,
    text: Option<&str>,
    program: &str,
) -> Result<String, SettingsError> {
    match text {
        Some(text) if !is_linchpin_module(text) => {
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
