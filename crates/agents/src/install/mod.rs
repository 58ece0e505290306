//! Linchpin's entries in the settings of agents: put in, found again, taken out, and nothing else touched.
//!
//! Functions here turn settings text into settings text. Only [`write`] and [`remove`] touch a disk.

mod document;
mod entries;
mod file;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::Agent;
use document::Document;
use entries::Own;

pub use document::SettingsError;
pub use file::{remove, write};

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The repository's, shared with everyone who clones it.
    Project,
    /// The repository's, but of this person only.
    Local,
    /// This person's, in all repositories.
    User,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Project, Self::Local, Self::User];

    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
        }
    }
}

/// How one agent keeps its hooks.
pub(crate) struct Settings {
    /// From the project's root.
    pub project_file: &'static str,
    pub local_file: Option<&'static str>,
    /// The agent's folder in the home, the variable that replaces it, and the file in it.
    pub user_folder: &'static str,
    pub user_folder_variable: &'static str,
    pub user_file: &'static str,
    pub hooks: &'static [Hook],
    /// The handler of one hook, as the agent wants it written.
    pub handler: fn(&Hook, Scope, program: &str) -> Value,
    /// What in the settings, besides our entries, would keep the agent from calling them.
    pub problems: fn(&Map<String, Value>) -> Vec<String>,
}

/// One event that Linchpin asks to be called for.
#[derive(Debug)]
pub(crate) struct Hook {
    pub event: &'static str,
    /// The agent narrows this event by a matcher; ours lets everything through.
    pub has_matcher: bool,
    /// Seconds after which the agent gives up waiting, far above Linchpin's own deadline.
    pub timeout: u32,
}

/// What stands in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Installed {
    /// Each of our entries: its event and the program that it calls.
    pub entries: Vec<Entry>,
    /// Events that Linchpin would be called for after an `install`, and now is not.
    pub missing: Vec<&'static str>,
    /// What keeps the entries from working.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub event: String,
    pub program: String,
}

/// Where an agent's settings of this scope are, if it has such a scope.
pub fn settings_path(
    agent: Agent,
    scope: Scope,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    let settings = &agent.adapter().settings;
    match scope {
        Scope::Project => Some(project.join(settings.project_file)),
        Scope::Local => settings.local_file.map(|file| project.join(file)),
        Scope::User => {
            let moved = lookup(settings.user_folder_variable).filter(|folder| !folder.is_empty());
            let folder = moved.map_or_else(|| home.join(settings.user_folder), PathBuf::from);
            Some(folder.join(settings.user_file))
        }
    }
}

/// Where agents' own folders are that a variable moved out of the home, and how they are known otherwise.
pub fn user_folders(lookup: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let moved = |agent: Agent| {
        let settings = &agent.adapter().settings;
        let folder = lookup(settings.user_folder_variable).filter(|folder| !folder.is_empty())?;
        Some((folder, format!("~/{}", settings.user_folder)))
    };
    Agent::ALL.into_iter().filter_map(moved).collect()
}

/// The settings with our entries in them: `program hook AGENT` for every event that Linchpin can use.
///
/// `text` is what is there now, `None` or blank where there is nothing. Older entries of ours are brought up to date.
pub fn install(agent: Agent, scope: Scope, text: Option<&str>, program: &str) -> Result<String, SettingsError> {
    let settings = &agent.adapter().settings;
    let wanted = |hook: &Hook| group(hook, &(settings.handler)(hook, scope, program));
    let Some(text) = text.filter(|text| !text.trim_start_matches('\u{FEFF}').trim().is_empty()) else {
        let hooks: Map<String, Value> =
            settings.hooks.iter().map(|hook| (hook.event.to_owned(), json!([wanted(hook)]))).collect();
        return Ok(pretty(&json!({ "hooks": hooks })) + "\n");
    };
    let mut document = Document::new(text);
    for hook in settings.hooks {
        entries::put(&mut document, agent, hook.event, &wanted(hook))?;
    }
    let wanted_event = |event: &str| settings.hooks.iter().any(|hook| hook.event == event);
    while let Some(own) = entries::find(&document, agent)?.into_iter().rfind(|own| !wanted_event(&own.event)) {
        entries::take_out(&mut document, &own)?;
    }
    Ok(document.into_text())
}

/// The settings without our entries, or `None` where nothing but what [`install`] wrote is in them.
pub fn uninstall(agent: Agent, text: &str) -> Result<Option<String>, SettingsError> {
    let mut document = Document::new(text);
    // From the last to the first, so that what was put in first goes last.
    while let Some(own) = entries::find(&document, agent)?.pop() {
        if !entries::take_out(&mut document, &own)? {
            return Ok(None);
        }
    }
    Ok(Some(document.into_text()))
}

/// What stands in the settings, for people who wonder whether it works.
pub fn installed(agent: Agent, text: &str) -> Result<Installed, SettingsError> {
    let settings = &agent.adapter().settings;
    let document = Document::new(text);
    let found = entries::find(&document, agent)?;
    let mut problems = (settings.problems)(&entries::values(&document)?);
    for own in &found {
        problems.extend(own.weaknesses(settings.hooks.iter().any(|hook| hook.event == own.event && hook.has_matcher)));
    }
    let missing = settings.hooks.iter().map(|hook| hook.event);
    Ok(Installed {
        missing: missing.filter(|event| !found.iter().any(|own| own.event == *event)).collect(),
        entries: found.into_iter().map(|Own { event, program, .. }| Entry { event, program }).collect(),
        problems,
    })
}

fn group(hook: &Hook, handler: &Value) -> Value {
    if hook.has_matcher { json!({ "matcher": "*", "hooks": [handler] }) } else { json!({ "hooks": [handler] }) }
}

/// JSON as a person would write it: what fits a line is on one, two spaces a level.
fn pretty(value: &Value) -> String {
    let lines = |open: char, items: Vec<String>, close: char| {
        let items: Vec<String> = items.iter().map(|item| format!("  {}", item.replace('\n', "\n  "))).collect();
        format!("{open}\n{}\n{close}", items.join(",\n"))
    };
    let named = |(key, value): (&String, &Value)| format!("{}: {}", Value::from(key.as_str()), pretty(value));
    match value {
        Value::Object(members) if !members.is_empty() => {
            let items: Vec<String> = members.iter().map(named).collect();
            if members.values().all(is_short) { format!("{{ {} }}", items.join(", ")) } else { lines('{', items, '}') }
        }
        Value::Array(elements) if !elements.is_empty() => {
            let items: Vec<String> = elements.iter().map(pretty).collect();
            if elements.iter().all(is_short) { format!("[{}]", items.join(", ")) } else { lines('[', items, ']') }
        }
        other => other.to_string(),
    }
}

/// A plain value, or a list of them.
fn is_short(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(elements) => !elements.iter().any(|element| element.is_object() || element.is_array()),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
