//! Compares an agent's settings with those that `install` would write, for `linchpin doctor`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::difference::ExpectedEntries;
use super::document::{Document, SettingsError};
use super::entries::{self, OwnEntry};
use super::inspect_module;
use super::installed::{Installed, InstalledEntry};
use super::scope::SettingsScope;
use super::settings::{Entries, SettingsForm};
use crate::Agent;

/// Compares settings with those that [`install`](super::install) would write. `deadline`: the maximum time that
/// Linchpin takes for an answer.
pub fn inspect(agent: Agent, scope: SettingsScope, text: &str, deadline: Duration) -> Result<Installed, SettingsError> {
    let entries = match &agent.adapter().settings.form {
        SettingsForm::Entries(entries) => entries,
        SettingsForm::Module(module) => return Ok(inspect_module::inspect(module, scope, text)),
    };
    if text.trim().is_empty() {
        return Ok(Installed::default());
    }
    let document = Document::new(text);
    let found = entries::find(&document, agent)?;
    let values = entries::values(&document)?;
    // In a file without Linchpin's entries, it does not matter whether the agent calls the hooks.
    let mut problems = if found.is_empty() { Vec::new() } else { faults(entries, &document, &values)? };
    for (event, command) in entries::wrapping_commands(&document, agent)? {
        problems.push(format!("`{event}` runs Linchpin inside `{command}`, so the agent might not get its answer"));
    }
    let is_there = |event: &str| found.iter().any(|own| own.event == event);
    let missing = entries.hooks.iter().map(|hook| hook.event).filter(|event| !is_there(event)).collect();
    Ok(Installed {
        missing,
        differences: ExpectedEntries { agent, scope, entries, deadline }.differences(&found),
        repeated: repeated(&found),
        problems,
        switches: (entries.switches)(&values),
        entries: found.into_iter().map(|OwnEntry { event, program, .. }| InstalledEntry { event, program }).collect(),
    })
}

/// Returns problems because of which the agent might not call the hooks in this file.
fn faults(entries: &Entries, document: &Document, values: &Map<String, Value>) -> Result<Vec<String>, SettingsError> {
    let mut faults = (entries.faults)(values);
    if entries.is_versioned && values.get("version") != Some(&Value::from(1)) {
        faults.push("`\"version\": 1` is missing, so the agent might not read the file".to_owned());
    }
    for event in entries::events_without_list(document)? {
        faults.push(format!("`hooks.{event}` is not a list, so the agent might not read the file"));
    }
    Ok(faults)
}

/// Returns the events with more than one of Linchpin's entries.
fn repeated(found: &[OwnEntry]) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for own in found {
        let count = found.iter().filter(|other| other.event == own.event).count();
        if count > 1 && !events.contains(&own.event) {
            events.push(own.event.clone());
        }
    }
    events
}
