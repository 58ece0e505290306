//! A plugin module that is Linchpin's alone: written as a whole, and taken away as a whole.
//!
//! Its first line says whose it is. What does not begin with that line is somebody else's file.

use serde_json::Value;

use super::handler::may_fail_closed;
use super::{Difference, Entry, Installed, Scope, SettingsError};

pub(crate) struct Module {
    /// Its program text. It finds what it calls as `PROGRAM`, and as `FAIL_CLOSED` whether it refuses where that is not there.
    pub plugin: &'static str,
    /// What it calls Linchpin for.
    pub events: &'static [&'static str],
}

impl Module {
    fn text(&self, scope: Scope, program: &str) -> String {
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
    scope: Scope,
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

pub(super) fn installed(module: &Module, scope: Scope, text: &str) -> Installed {
    if !is_ours(text) {
        let problem = "a plugin lies where Linchpin's should, and is not the one that `install` writes";
        let problems = if text.trim().is_empty() { Vec::new() } else { vec![problem.to_owned()] };
        return Installed { problems, ..Installed::default() };
    }
    let program = program(text);
    let entry = |program: &String| Entry { event: "every event".to_owned(), program: program.clone() };
    Installed {
        entries: program.iter().map(entry).collect(),
        differences: difference(module, scope, text, program.as_deref()).into_iter().collect(),
        ..Installed::default()
    }
}

fn difference(module: &Module, scope: Scope, text: &str, program: Option<&str>) -> Option<Difference> {
    let is_for = |scope: Scope| program.is_some_and(|program| module.text(scope, program) == text);
    if is_for(scope) {
        return None;
    }
    let is_for_others = Scope::ALL.into_iter().any(is_for);
    Some(match (is_for_others, may_fail_closed(scope)) {
        (true, true) => {
            Difference { text: "the plugin lets calls run where Linchpin cannot be run".to_owned(), weakens: true }
        }
        (true, false) => {
            Difference { text: "the plugin locks out everyone who has no Linchpin".to_owned(), weakens: false }
        }
        (false, _) => Difference {
            text: "the plugin is not the one that this Linchpin writes, so what it does is not known".to_owned(),
            weakens: true,
        },
    })
}

fn program(text: &str) -> Option<String> {
    let (before, after) = PROGRAM;
    let name = text.lines().find_map(|line| line.strip_prefix(before)?.strip_suffix(after))?;
    serde_json::from_str(name).ok()
}
