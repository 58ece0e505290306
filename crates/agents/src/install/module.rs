//! A plugin module that is Linchpin's alone: written as a whole, and taken away as a whole.
//!
//! Its first line says whose it is. What does not begin with that line is somebody else's file.

use serde_json::Value;

use super::document::SettingsError;
use super::handler::may_fail_closed;
use super::scope::SettingsScope;

pub(crate) struct Module {
    /// Its program text. It finds what it calls as `PROGRAM`, and as `FAIL_CLOSED` whether it refuses where that is not there.
    pub plugin: &'static str,
    /// What it calls Linchpin for.
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

/// The first line of every module of ours.
const MARK: &str = "// Written by `linchpin install`; `linchpin uninstall` takes it away. Do not edit.";

/// The line that says which program is called, before and after its name in JSON.
const PROGRAM: (&str, &str) = ("const PROGRAM = ", ";");

pub(super) fn is_ours(text: &str) -> bool {
    text.lines().next() == Some(MARK)
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

/// The program that a module of ours calls.
pub(super) fn program(text: &str) -> Option<String> {
    let (before, after) = PROGRAM;
    let name = text.lines().find_map(|line| line.strip_prefix(before)?.strip_suffix(after))?;
    serde_json::from_str(name).ok()
}
