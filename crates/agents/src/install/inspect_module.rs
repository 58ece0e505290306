//! Compares a plugin module with the one that `install` would write.

use super::difference::Difference;
use super::handler::may_fail_closed;
use super::installed::{Installed, InstalledEntry};
use super::module::{Module, is_linchpin_module, program};
use super::scope::SettingsScope;

pub(super) fn inspect(module: &Module, scope: SettingsScope, text: &str) -> Installed {
    if !is_linchpin_module(text) {
        let problem = "the file of Linchpin's plugin contains another plugin";
        let problems = if text.trim().is_empty() { Vec::new() } else { vec![problem.to_owned()] };
        return Installed { problems, ..Installed::default() };
    }
    let program = program(text);
    let entry = |program: &String| InstalledEntry { event: "every event".to_owned(), program: program.clone() };
    Installed {
        entries: program.iter().map(entry).collect(),
        differences: difference(module, scope, text, program.as_deref()).into_iter().collect(),
        ..Installed::default()
    }
}

fn difference(module: &Module, scope: SettingsScope, text: &str, program: Option<&str>) -> Option<Difference> {
    let is_for = |scope: SettingsScope| program.is_some_and(|program| module.text(scope, program) == text);
    if is_for(scope) {
        return None;
    }
    let is_for_others = SettingsScope::ALL.into_iter().any(is_for);
    Some(match (is_for_others, may_fail_closed(scope)) {
        (true, true) => Difference {
            text: "the plugin lets calls run unchecked if Linchpin cannot be run".to_owned(),
            weakens: true,
        },
        (true, false) => {
            Difference { text: "the plugin blocks everyone who does not have Linchpin".to_owned(), weakens: false }
        }
        (false, _) => Difference {
            text: "the plugin differs from the one that this Linchpin writes, so its effect is unknown".to_owned(),
            weakens: true,
        },
    })
}
