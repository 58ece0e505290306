//! A plugin module that is Linchpin's alone: written as a whole, and taken away as a whole.
//!
//! Its first line says whose it is. What does not begin with that line is somebody else's file.

use super::{Entry, Installed, Module, Scope, SettingsError};

/// The first line of every module of ours.
pub(crate) const MARK: &str = "// Written by `linchpin install`; `linchpin uninstall` takes it away. Do not edit.";

/// The line that says which program is called, before and after its name in JSON.
const PROGRAM: (&str, &str) = ("const PROGRAM = ", ";");

pub(super) fn is_ours(text: &str) -> bool {
    text.lines().next() == Some(MARK)
}

pub(super) fn install(
    module: &Module,
    scope: Scope,
    text: Option<&str>,
    program: &str,
) -> Result<String, SettingsError> {
    match text {
        Some(text) if !is_ours(text) => {
            Err(SettingsError { line: 1, column: 1, message: "this file is not Linchpin's".to_owned() })
        }
        _ => Ok((module.text)(scope, program)),
    }
}

pub(super) fn installed(module: &Module, text: &str) -> Installed {
    let Some(program) = is_ours(text).then(|| program(text)).flatten() else { return Installed::default() };
    let is_as_written = Scope::ALL.into_iter().any(|scope| (module.text)(scope, &program) == text);
    let problems = if is_as_written {
        Vec::new()
    } else {
        vec!["the plugin is not the one that this Linchpin writes; install it again".to_owned()]
    };
    Installed {
        entries: vec![Entry { event: "every event".to_owned(), program }],
        missing: Vec::new(),
        problems,
        switches: Vec::new(),
    }
}

fn program(text: &str) -> Option<String> {
    let (before, after) = PROGRAM;
    let name = text.lines().find_map(|line| line.strip_prefix(before)?.strip_suffix(after))?;
    serde_json::from_str(name).ok()
}
