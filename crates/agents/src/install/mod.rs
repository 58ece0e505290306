//! Linchpin's entries in the settings of agents, or its module among their plugins: put in, found again, taken out, and
//! nothing else touched.
//!
//! Functions here turn settings text into settings text. Only [`write`] and [`remove`] touch a disk.

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
mod switch;

use serde_json::{Map, Value, json};

use crate::Agent;
use handler::nested;
use pretty::pretty;

pub(crate) use acceptance::{About, Accepting, Noted, Real};
pub use acceptance::{Accepted, HookAcceptance, acceptance};
pub use difference::Difference;
pub(crate) use document::Document;
pub use document::SettingsError;
pub use entries::is_linchpin;
pub use file::{real_path, remove, remove_empty_folders, write};
pub(crate) use handler::{Call, Field, Handler, Hook, Nesting, Timeout};
pub use inspect::installed;
pub use installed::{Installed, InstalledEntry};
pub(crate) use module::Module;
pub use scope::SettingsScope;
pub(crate) use settings::{Entries, Form, Moved, Settings};
pub use settings::{afterwards, read_besides, settings_path, settings_top, signs, user_folders};
pub(crate) use switch::{SwitchFile, json_values};
pub use switch::{Switches, switches};

/// The settings with our entries in them: `program hook AGENT` for every event that Linchpin can use.
///
/// `text` is what is there now, `None` or blank where there is nothing. Older entries of ours are brought up to date.
pub fn install(agent: Agent, scope: SettingsScope, text: Option<&str>, program: &str) -> Result<String, SettingsError> {
    let text = text.filter(|text| !text.trim_start_matches('\u{FEFF}').trim().is_empty());
    let entries = match &agent.adapter().settings.form {
        Form::Entries(entries) => entries,
        Form::Module(module) => return module::install(module, scope, text, program),
    };
    let wanted = |hook: &Hook| nested(hook, entries.handler.written(agent, hook, scope, program));
    let Some(text) = text else {
        let hooks: Map<String, Value> =
            entries.hooks.iter().map(|hook| (hook.event.to_owned(), json!([wanted(hook)]))).collect();
        // The version last: in a file of somebody else's, `hooks` would come behind it.
        let all =
            if entries.is_versioned { json!({ "hooks": hooks, "version": 1 }) } else { json!({ "hooks": hooks }) };
        return Ok(pretty(&all) + "\n");
    };
    let mut document = Document::new(text);
    for hook in entries.hooks {
        entries::put(&mut document, agent, hook.event, &wanted(hook))?;
    }
    let wanted_event = |event: &str| entries.hooks.iter().any(|hook| hook.event == event);
    while let Some(own) = entries::find(&document, agent)?.into_iter().rfind(|own| !wanted_event(&own.event)) {
        entries::take_out(&mut document, &own)?;
    }
    Ok(document.into_text())
}

/// The settings without our entries, or `None` where nothing but what [`install`] wrote is in them.
pub fn uninstall(agent: Agent, text: &str) -> Result<Option<String>, SettingsError> {
    let entries = match &agent.adapter().settings.form {
        Form::Entries(entries) => entries,
        Form::Module(_) => return Ok((!module::is_ours(text)).then(|| text.to_owned())),
    };
    let mut document = Document::new(text);
    let program = entries::find(&document, agent)?.into_iter().next().map(|own| own.program);
    // From the last to the first, so that what was put in first goes last.
    while let Some(own) = entries::find(&document, agent)?.pop() {
        if !entries::take_out(&mut document, &own)? {
            return Ok(None);
        }
    }
    let is_bare = is_bare(entries, &document)?;
    let rest = document.into_text();
    // What holds nothing was there before, or it is what is left of a file of ours that somebody wrote down otherwise.
    let was_there = |program: &String| {
        SettingsScope::ALL
            .iter()
            .any(|scope| install(agent, *scope, Some(&rest), program).is_ok_and(|after| after == text))
    };
    let is_left_over = is_bare && program.is_some_and(|program| !was_there(&program));
    Ok((!is_left_over).then_some(rest))
}

/// Whether there is nothing in the settings but the frame that [`install`] puts entries into.
fn is_bare(entries: &Entries, document: &Document) -> Result<bool, SettingsError> {
    let is_frame = |(key, value): (&String, &Value)| match (key.as_str(), value) {
        ("hooks", Value::Object(events)) => events.values().all(|list| list == &json!([])),
        ("version", version) => entries.is_versioned && version == &json!(1),
        _ => false,
    };
    Ok(!document.syntax()?.tokens.have_comments() && entries::values(document)?.iter().all(is_frame))
}

/// Whether the agent calls Linchpin by these settings.
pub fn calls_linchpin(agent: Agent, text: &str) -> bool {
    match &agent.adapter().settings.form {
        Form::Entries(_) => entries::find(&Document::new(text), agent).is_ok_and(|found| !found.is_empty()),
        Form::Module(_) => module::is_ours(text),
    }
}

#[cfg(test)]
mod tests;
