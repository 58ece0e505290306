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
mod module;
mod switch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::Agent;
use difference::Wanted;
use entries::Own;
use handler::nested;

pub(crate) use acceptance::{About, Accepting, Noted, Real};
pub use acceptance::{Acceptance, Accepted, acceptance};
pub use difference::Difference;
pub(crate) use document::Document;
pub use document::SettingsError;
pub use entries::is_linchpin;
pub use file::{remove, remove_empty_folders, write};
pub(crate) use handler::{Call, Handler, Hook, Nesting, Timeout, may_fail_closed};
pub(crate) use module::MARK as MODULE_MARK;
pub(crate) use switch::{SwitchFile, json_values};
pub use switch::{Switches, switches};

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

/// Where one agent keeps its hooks, and how.
pub(crate) struct Settings {
    /// What in a project, or in the home, shows that somebody uses the agent, besides its folder in the home.
    pub project_signs: &'static [&'static str],
    pub home_signs: &'static [&'static str],
    /// From the project's root.
    pub project_file: &'static str,
    pub local_file: Option<&'static str>,
    /// The agent's folder in the home, what moves it elsewhere, and the file in it.
    pub user_folder: &'static str,
    pub moved_by: Option<Moved>,
    pub user_file: &'static str,
    pub accepting: Option<Accepting>,
    /// Other files by which hooks are switched off.
    pub switch_files: &'static [SwitchFile],
    pub form: Form,
}

/// A variable that moves an agent's folder.
pub(crate) struct Moved {
    pub variable: &'static str,
    /// Where below the folder that it names; empty where it names the agent's own.
    pub below: &'static str,
}

pub(crate) enum Form {
    /// Entries in a JSON file, among those of others.
    Entries(Entries),
    /// A file that is ours alone.
    Module(Module),
}

pub(crate) struct Module {
    /// Its text, with the program that it calls.
    pub text: fn(Scope, program: &str) -> String,
    /// What it calls Linchpin for.
    pub events: &'static [&'static str],
}

pub(crate) struct Entries {
    pub hooks: &'static [Hook],
    /// The file has to say that it is of version 1.
    pub is_versioned: bool,
    pub handler: Handler,
    /// What in the settings keeps the agent from calling hooks, those in other files too.
    pub switches: fn(&Map<String, Value>) -> Vec<String>,
    /// What in the settings keeps the agent from calling the hooks of this file alone.
    pub faults: fn(&Map<String, Value>) -> Vec<String>,
}

/// What stands in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Installed {
    /// Each of our entries: its event and the program that it calls.
    pub entries: Vec<Entry>,
    /// Events that Linchpin would be called for after an `install`, and now is not.
    pub missing: Vec<&'static str>,
    /// What in our entries is not as `install` would write it.
    pub differences: Vec<Difference>,
    /// Events with more than one entry of ours.
    pub repeated: Vec<String>,
    /// What else keeps the entries from working. `install` leaves it alone.
    pub problems: Vec<String>,
    /// What would keep entries in other files from working too.
    pub switches: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub event: String,
    pub program: String,
}

impl Settings {
    /// The agent's folder, where a variable moved it.
    fn moved(&self, lookup: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let moved = self.moved_by.as_ref()?;
        let folder = PathBuf::from(lookup(moved.variable).filter(|folder| !folder.is_empty())?);
        Some(if moved.below.is_empty() { folder } else { folder.join(moved.below) })
    }

    /// The agent's folder, wherever it is.
    fn own_folder(&self, home: &Path, lookup: &impl Fn(&str) -> Option<String>) -> PathBuf {
        self.moved(lookup).unwrap_or_else(|| home.join(self.user_folder))
    }
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
        Scope::User => Some(settings.own_folder(home, &lookup).join(settings.user_file)),
    }
}

/// The folder that an agent's settings of this scope are somewhere in, and that is never ours to make or to take away.
pub fn settings_top(
    agent: Agent,
    scope: Scope,
    project: &Path,
    home: &Path,
    lookup: impl Fn(&str) -> Option<String>,
) -> PathBuf {
    let moved = agent.adapter().settings.moved_by.as_ref();
    let named = moved.and_then(|moved| lookup(moved.variable)).filter(|folder| !folder.is_empty());
    match (scope, named) {
        (Scope::Project | Scope::Local, _) => project.to_owned(),
        (Scope::User, Some(folder)) => PathBuf::from(folder),
        (Scope::User, None) => home.to_owned(),
    }
}

/// What shows that somebody uses the agent: in the project, and in the home.
pub fn signs(agent: Agent, project: &Path, home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let settings = &agent.adapter().settings;
    let in_project = settings.project_signs.iter().map(|sign| project.join(sign));
    let in_home = settings.home_signs.iter().map(|sign| home.join(sign));
    in_project.chain(in_home).chain([settings.own_folder(home, &lookup)]).collect()
}

/// Where agents' own folders are that a variable moved out of the home, and how they are known otherwise.
pub fn user_folders(lookup: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let moved = |agent: Agent| {
        let settings = &agent.adapter().settings;
        let folder = settings.moved(&lookup)?.to_str()?.to_owned();
        Some((folder, format!("~/{}", settings.user_folder)))
    };
    Agent::ALL.into_iter().filter_map(moved).collect()
}

/// The settings with our entries in them: `program hook AGENT` for every event that Linchpin can use.
///
/// `text` is what is there now, `None` or blank where there is nothing. Older entries of ours are brought up to date.
pub fn install(agent: Agent, scope: Scope, text: Option<&str>, program: &str) -> Result<String, SettingsError> {
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
        Scope::ALL.iter().any(|scope| install(agent, *scope, Some(&rest), program).is_ok_and(|after| after == text))
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

/// What stands in the settings, for people who wonder whether it works, compared with what [`install`] would write. `deadline`
/// is how long Linchpin may take for an answer.
pub fn installed(agent: Agent, scope: Scope, text: &str, deadline: Duration) -> Result<Installed, SettingsError> {
    let entries = match &agent.adapter().settings.form {
        Form::Entries(entries) => entries,
        Form::Module(module) => return Ok(module::installed(module, scope, text)),
    };
    if text.trim().is_empty() {
        return Ok(Installed::default());
    }
    let document = Document::new(text);
    let found = entries::find(&document, agent)?;
    let values = entries::values(&document)?;
    // A file without entries of ours may be as it likes.
    let mut problems = if found.is_empty() { Vec::new() } else { faults(entries, &document, &values)? };
    for (event, command) in entries::wrapped(&document, agent)? {
        problems.push(format!("`{event}` runs Linchpin within `{command}`, so what it answers may not arrive"));
    }
    let is_there = |event: &str| found.iter().any(|own| own.event == event);
    let missing = entries.hooks.iter().map(|hook| hook.event).filter(|event| !is_there(event)).collect();
    Ok(Installed {
        missing,
        differences: Wanted { agent, scope, entries, deadline }.differences(&found),
        repeated: repeated(&found),
        problems,
        switches: (entries.switches)(&values),
        entries: found.into_iter().map(|Own { event, program, .. }| Entry { event, program }).collect(),
    })
}

/// What keeps the hooks of this file from being called, whatever stands in others.
fn faults(entries: &Entries, document: &Document, values: &Map<String, Value>) -> Result<Vec<String>, SettingsError> {
    let mut faults = (entries.faults)(values);
    if entries.is_versioned && values.get("version") != Some(&Value::from(1)) {
        faults.push("`\"version\": 1` is missing, so the file may not be read".to_owned());
    }
    for event in entries::without_list(document)? {
        faults.push(format!("`hooks.{event}` is no list, so the file may not be read"));
    }
    Ok(faults)
}

/// Events of more than one entry.
fn repeated(found: &[Own]) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for own in found {
        let count = found.iter().filter(|other| other.event == own.event).count();
        if count > 1 && !events.contains(&own.event) {
            events.push(own.event.clone());
        }
    }
    events
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
