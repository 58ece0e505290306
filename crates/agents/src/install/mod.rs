//! Linchpin's entries in the settings of agents, or its module among their plugins: put in, found again, taken out, and
//! nothing else touched.
//!
//! Functions here turn settings text into settings text. Only [`write`] and [`remove`] touch a disk.

mod document;
mod entries;
mod file;
mod module;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::Agent;
use document::Document;
use entries::Own;

pub use document::SettingsError;
pub use file::{remove, write};
pub(crate) use module::MARK as MODULE_MARK;

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
    /// The folder in a project that shows that somebody uses the agent there, where there is one of its own.
    pub sign: Option<&'static str>,
    /// From the project's root.
    pub project_file: &'static str,
    pub local_file: Option<&'static str>,
    /// The agent's folder in the home, what moves it elsewhere, and the file in it.
    pub user_folder: &'static str,
    pub moved_by: Option<Moved>,
    pub user_file: &'static str,
    pub accepting: Option<Accepting>,
    pub form: Form,
}

/// An agent that runs hooks only where a person accepted them.
pub(crate) struct Accepting {
    /// In the agent's folder.
    pub file: &'static str,
    /// It names the file with the hooks; else the project.
    pub by_hooks: bool,
    pub demand: &'static str,
    pub is_off: fn(&str) -> bool,
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
    /// The handler of one hook, as the agent wants it written.
    pub handler: fn(&Hook, Scope, program: &str) -> Value,
    /// What in the settings, besides our entries, would keep the agent from calling them.
    pub problems: fn(&Map<String, Value>) -> Vec<String>,
}

/// One event that Linchpin asks to be called for.
#[derive(Debug)]
pub(crate) struct Hook {
    pub event: &'static str,
    pub nesting: Nesting,
    /// Seconds after which the agent gives up waiting, far above Linchpin's own deadline.
    pub timeout: u32,
}

/// How a handler lies under its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// In a group that the agent narrows by a matcher; ours, this one, lets everything through.
    Matched(&'static str),
    /// In a group.
    Grouped,
    /// By itself.
    Flat,
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
    /// What of that would keep entries in other files from working too.
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
            let folder = settings.moved(&lookup).unwrap_or_else(|| home.join(settings.user_folder));
            Some(folder.join(settings.user_file))
        }
    }
}

/// Folders that show that somebody uses the agent: in the project, and in the home.
pub fn signs(agent: Agent, project: &Path, home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let settings = &agent.adapter().settings;
    let own = settings.moved(&lookup).unwrap_or_else(|| home.join(settings.user_folder));
    let shared = settings.sign.map(|folder| project.join(folder));
    shared.into_iter().chain([own]).collect()
}

/// The file in which an agent notes what a person decided about hooks.
pub struct Acceptance {
    pub file: PathBuf,
    settings: &'static Accepting,
}

/// What such a file says about some hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    Yes,
    /// It does not name them; what the agent demands then.
    NotSeen(&'static str),
    /// A switch turns all hooks off.
    Off,
}

impl Acceptance {
    /// `hooks` is the file that they are in.
    pub fn look(&self, text: &str, hooks: &Path, project: &Path) -> Accepted {
        let about = if self.settings.by_hooks { hooks } else { project };
        if (self.settings.is_off)(text) {
            Accepted::Off
        } else if text.contains(&*about.to_string_lossy()) {
            Accepted::Yes
        } else {
            Accepted::NotSeen(self.settings.demand)
        }
    }
}

/// For agents that run hooks only where a person accepted them.
pub fn acceptance(agent: Agent, home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Option<Acceptance> {
    let settings = &agent.adapter().settings;
    let accepting = settings.accepting.as_ref()?;
    let folder = settings.moved(&lookup).unwrap_or_else(|| home.join(settings.user_folder));
    Some(Acceptance { file: folder.join(accepting.file), settings: accepting })
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
    let wanted = |hook: &Hook| nested(hook, (entries.handler)(hook, scope, program));
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
    if matches!(agent.adapter().settings.form, Form::Module(_)) {
        return Ok((!module::is_ours(text)).then(|| text.to_owned()));
    }
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
    let entries = match &agent.adapter().settings.form {
        Form::Entries(entries) => entries,
        Form::Module(module) => return Ok(module::installed(module, text)),
    };
    let document = Document::new(text);
    let found = entries::find(&document, agent)?;
    let values = entries::values(&document)?;
    let switches = (entries.problems)(&values);
    let mut problems = switches.clone();
    if entries.is_versioned && values.get("version") != Some(&Value::from(1)) {
        problems.push("`\"version\": 1` is missing, so the file may not be read".to_owned());
    }
    for own in &found {
        let has_matcher = |hook: &Hook| hook.event == own.event && hook.nesting != Nesting::Grouped;
        problems.extend(own.weaknesses(entries.hooks.iter().any(has_matcher)));
    }
    let missing = entries.hooks.iter().map(|hook| hook.event);
    Ok(Installed {
        missing: missing.filter(|event| !found.iter().any(|own| own.event == *event)).collect(),
        entries: found.into_iter().map(|Own { event, program, .. }| Entry { event, program }).collect(),
        problems,
        switches,
    })
}

fn nested(hook: &Hook, handler: Value) -> Value {
    match hook.nesting {
        Nesting::Matched(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
        Nesting::Grouped => json!({ "hooks": [handler] }),
        Nesting::Flat => handler,
    }
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
