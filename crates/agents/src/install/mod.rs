//! Adds, finds and removes Linchpin's entries in agents' settings or, for OpenCode, Linchpin's plugin module. Changes
//! nothing else.
//!
//! Except for the functions in `file.rs`, this module works on the text of settings and does not access the file
//! system.

mod acceptance;
mod command_line;
mod difference;
mod document;
mod entries;
mod file;
mod handler;
mod inspect;
mod inspect_module;
mod installed;
mod module;
mod pretty;
mod scope;
mod settings;
mod switch_file;

use serde_json::{Map, Value, json};

use crate::Agent;
use handler::nest;
use pretty::pretty;

pub(crate) use acceptance::{AcceptanceFile, AcceptanceRecord, AcceptanceSubject, Canonicalize};
pub use acceptance::{AcceptanceStatus, HookAcceptance, acceptance};
pub use difference::Difference;
pub(crate) use document::Document;
pub use document::SettingsError;
pub use entries::is_linchpin;
pub use file::{real_path, remove, remove_empty_directories, write};
pub(crate) use handler::{Call, Field, Handler, Hook, Nesting, Timeout};
pub use inspect::inspect;
pub use installed::{Installed, InstalledEntry};
pub(crate) use module::Module;
pub use scope::SettingsScope;
pub(crate) use settings::{DirectoryOverride, Entries, Settings, SettingsForm};
pub use settings::{also_reads, marker_paths, next_steps, overridden_user_directories, settings_path, settings_root};
pub use switch_file::{SwitchFile, switch_files};
pub(crate) use switch_file::{SwitchFileSpec, json_values};

/// Returns the settings with Linchpin's entries, one for each event that Linchpin uses. Each entry runs `PROGRAM hook
/// AGENT`, for some agents with the event's name as a further argument. Existing entries of Linchpin's are updated, or
/// removed if their event is no longer used.
///
/// `text`: the current settings, `None` or blank if there are none.
pub fn install(agent: Agent, scope: SettingsScope, text: Option<&str>, program: &str) -> Result<String, SettingsError> {
    let text = text.filter(|text| !text.trim_start_matches('\u{FEFF}').trim().is_empty());
    let entries = match &agent.adapter().settings.form {
        SettingsForm::Entries(entries) => entries,
        SettingsForm::Module(module) => return module::install(module, scope, text, program),
    };
    let wanted = |hook: &Hook| nest(hook, entries.handler.to_json(agent, hook, scope, program));
    let Some(text) = text else {
        let hooks: Map<String, Value> =
            entries.hooks.iter().map(|hook| (hook.event.to_owned(), json!([wanted(hook)]))).collect();
        // `version` comes last. In a file that already had a `version`, `hooks` is added after the `version`, so the
        // order of the two keys shows whether `install` wrote `version`.
        let all =
            if entries.is_versioned { json!({ "hooks": hooks, "version": 1 }) } else { json!({ "hooks": hooks }) };
        return Ok(pretty(&all) + "\n");
    };
    let mut document = Document::new(text);
    for hook in entries.hooks {
        entries::ensure_entry(&mut document, agent, hook.event, &wanted(hook))?;
    }
    let wanted_event = |event: &str| entries.hooks.iter().any(|hook| hook.event == event);
    while let Some(own) = entries::find(&document, agent)?.into_iter().rfind(|own| !wanted_event(&own.event)) {
        entries::remove_entry(&mut document, &own)?;
    }
    Ok(document.into_text())
}

/// Returns the settings without Linchpin's entries; `None` if [`install`] wrote the whole file.
pub fn uninstall(agent: Agent, text: &str) -> Result<Option<String>, SettingsError> {
    let entries = match &agent.adapter().settings.form {
        SettingsForm::Entries(entries) => entries,
        SettingsForm::Module(_) => return Ok((!module::is_linchpin_module(text)).then(|| text.to_owned())),
    };
    let mut document = Document::new(text);
    let program = entries::find(&document, agent)?.into_iter().next().map(|own| own.program);
    // The entries are removed in the reverse of the order in which `install` added them.
    while let Some(own) = entries::find(&document, agent)?.pop() {
        if !entries::remove_entry(&mut document, &own)? {
            return Ok(None);
        }
    }
    let is_bare = is_bare(entries, &document)?;
    let rest = document.into_text();
    // If the rest is only an empty structure, either the file had that before `install`, or `install` wrote the whole
    // file and somebody reformatted it.
    let existed_before = |program: &String| {
        SettingsScope::ALL
            .iter()
            .any(|scope| install(agent, *scope, Some(&rest), program).is_ok_and(|after| after == text))
    };
    let is_left_over = is_bare && program.is_some_and(|program| !existed_before(&program));
    Ok((!is_left_over).then_some(rest))
}

/// True if the settings contain only the empty structure that [`install`] adds entries to.
fn is_bare(entries: &Entries, document: &Document) -> Result<bool, SettingsError> {
    let is_frame = |(key, value): (&String, &Value)| match (key.as_str(), value) {
        ("hooks", Value::Object(events)) => events.values().all(|list| list == &json!([])),
        ("version", version) => entries.is_versioned && version == &json!(1),
        _ => false,
    };
    Ok(!document.syntax()?.tokens.have_comments() && entries::values(document)?.iter().all(is_frame))
}

/// True if the settings contain an entry of Linchpin's, or if the file is Linchpin's plugin module.
pub fn calls_linchpin(agent: Agent, text: &str) -> bool {
    match &agent.adapter().settings.form {
        SettingsForm::Entries(_) => entries::find(&Document::new(text), agent).is_ok_and(|found| !found.is_empty()),
        SettingsForm::Module(_) => module::is_linchpin_module(text),
    }
}

#[cfg(test)]
mod tests;
