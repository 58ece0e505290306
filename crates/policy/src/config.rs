//! `config.yml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use engine::expr::Scope;
use engine::observers::{External, Observer, ObserverKind};
use engine::rules::Tier;
use engine::suggest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::fields::{Fields, Text};
use crate::library::extent;
use crate::observers::{self, Placed, Unchecked};
use crate::source::Source;
use crate::yaml::{self, Key, Node, Yaml};

/// What the configurations of all tiers say together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// False: only what protects the guard itself is in force.
    pub enabled: bool,
    /// Declared variables with their first values, each as JSON text.
    variables: BTreeMap<String, String>,
    /// How often a rule of a tier may hold a stop, where it does not say so itself: a project decides for its own
    /// rules, not for those of the user.
    max_holds: BTreeMap<Tier, u32>,
    /// A hook's own time limit for judging.
    pub deadline: Duration,
    pub journal: JournalMode,
    pub retention: Duration,
    pub default_branch: Option<String>,
    /// Each tier's own.
    protected_branches: BTreeMap<Tier, Vec<String>>,
    /// The moves that an agent may make by itself.
    pub agent_may: Vec<String>,
    /// Environment variables that commands of rules and gates get beside the usual ones.
    pub command_env: Vec<String>,
    pub sandbox: Sandbox,
    /// Gets progress messages on its standard input.
    pub progress_command: Option<String>,
    /// Relative to the root.
    pub rules_dir: Option<String>,
    pub mode: Mode,
    /// What an agent is shown at once, in bytes.
    pub output_limit: usize,
    /// In the order in which they run: the user's, then the project's.
    pub observers: Vec<Observer>,
    /// The names of those variables that the user declared.
    #[serde(skip)]
    users_variables: BTreeSet<String>,
    /// Expressions of observers; none once the policy is loaded.
    #[serde(skip)]
    unchecked: Vec<Unchecked>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Enforce,
    /// Everything is judged and recorded, nothing is stopped.
    Observe,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Observe => "observe",
        }
    }
}

/// What keeps commands of rules and gates from writing elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    Off,
    /// They write in the repository and in caches, where the system can see to it.
    #[default]
    Repo,
    /// They do not run where the system cannot.
    Require,
}

/// A setting by which a project would weaken a guard or start a program. It counts once a person has accepted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    Disabled,
    /// `mode: observe`.
    Observe,
    CommandEnv(Vec<String>),
    SandboxOff,
    ProgressCommand(String),
    /// A behavior that is a program.
    External(Box<Observer>),
}

impl Setting {
    /// What it does, for the person who is to accept it.
    pub fn effect(&self) -> &'static str {
        match self {
            Self::Disabled => "switches every rule off but those that protect the guard itself",
            Self::Observe => "lets every call through and only watches",
            Self::CommandEnv(_) => "gives environment variables to the commands of rules and gates",
            Self::SandboxOff => "lets the commands of rules and gates write anywhere",
            Self::ProgressCommand(_) | Self::External(_) => "starts a program",
        }
    }
}

/// Such a setting, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unaccepted {
    pub setting: Setting,
    pub key: Range<usize>,
    /// The key with its value.
    pub text: Range<usize>,
}

/// An item of a `rules` list.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleItem {
    Name(Text),
    /// A rule written there, with where the next item starts.
    Inline(Node, usize),
}

/// What one configuration file says that is more than a setting.
#[derive(Debug, Default)]
pub struct ConfigFile {
    pub rules: Vec<RuleItem>,
    pub imports: Vec<Text>,
    /// `rule_definitions`: its entries, and where they end.
    pub definitions: (Vec<(Key, Node)>, usize),
    pub settings: Vec<Unaccepted>,
    /// The texts of `variables`, on which a rule's `when` may depend.
    pub variables: String,
    pub problems: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMode {
    /// Commands, paths and what rules used; the rest as digests.
    #[default]
    Lean,
    /// Whole events.
    Full,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            variables: BTreeMap::new(),
            max_holds: BTreeMap::new(),
            deadline: Duration::from_secs(2),
            journal: JournalMode::Lean,
            retention: Duration::from_secs(90 * DAY),
            default_branch: None,
            protected_branches: BTreeMap::new(),
            agent_may: AGENT_MAY.iter().map(|&name| name.to_owned()).collect(),
            command_env: Vec::new(),
            sandbox: Sandbox::default(),
            progress_command: None,
            rules_dir: None,
            mode: Mode::Enforce,
            output_limit: 8 * KIB,
            observers: Vec::new(),
            users_variables: BTreeSet::new(),
            unchecked: Vec::new(),
        }
    }
}

const DAY: u64 = 24 * 60 * 60;
/// Every agent lets the call through when its hook takes too long, so judging has to end well before that.
const LONGEST_DEADLINE: Duration = Duration::from_secs(20);
const SHORTEST_DEADLINE: Duration = Duration::from_millis(50);
const KIB: usize = 1024;
/// Of KiB. A reason has to be seen at all, and no agent reads a book.
const OUTPUT_LIMITS: std::ops::RangeInclusive<usize> = 1..=64;

const KEYS: &[&str] = &[
    "agent_may",
    "command_env",
    "default_branch",
    "deadline",
    "enabled",
    "imports",
    "journal",
    "max_holds",
    "mode",
    "observers",
    "output_limit",
    "progress_command",
    "protected_branches",
    "requires_version",
    "retention",
    "rule_definitions",
    "rules",
    "rules_dir",
    "sandbox",
    "variables",
];
/// The moves that an agent may make unless the configuration says otherwise.
const AGENT_MAY: &[&str] = &["next", "continue", "repeat", "status"];
const MOVES: &[&str] = &["next", "continue", "repeat", "status", "start", "prev", "restart", "abort"];

impl Config {
    pub fn max_holds(&self, tier: Tier) -> Option<u32> {
        self.max_holds.get(&tier).copied()
    }

    /// The branches that nobody rewrites. Which one is the default is not asked of git here, so both usual names are.
    /// Where the user has a policy of their own, a project adds to what that protects and takes nothing away.
    pub fn protected_branches(&self, has_user_tier: bool) -> Vec<String> {
        let usual = || ["main", "master"].map(str::to_owned).to_vec();
        let of_tier = |tier| self.protected_branches.get(&tier).cloned();
        let own = of_tier(Tier::Project).or_else(|| self.default_branch.clone().map(|branch| vec![branch]));
        let mut branches = match (has_user_tier, own) {
            (false, own) => own.unwrap_or_else(usual),
            (true, own) => [of_tier(Tier::User).unwrap_or_else(usual), own.unwrap_or_default()].concat(),
        };
        branches.sort();
        branches.dedup();
        branches
    }

    pub fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Whether it is declared here, or one of the observers here sets it.
    pub fn knows_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name) || self.observers.iter().any(|observer| observer.variables().contains(&name))
    }

    /// Makes known to expressions what is declared here, and what observers set and feed.
    pub fn declare_in(&self, scope: &mut Scope) {
        for name in self.variable_names() {
            scope.declare(name);
        }
        for observer in &self.observers {
            observer.declare_in(scope);
        }
    }

    /// Checks the expressions of observers, now that all that they may name is known. An observer that cannot be
    /// evaluated is left out.
    pub fn check_observers(&mut self, scope: &Scope) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for unchecked in std::mem::take(&mut self.unchecked) {
            let found = unchecked.problems(scope);
            if !found.is_empty() {
                self.observers.retain(|known| known.name != unchecked.observer || known.tier != unchecked.tier);
            }
            problems.extend(found);
        }
        problems
    }

    /// Lays a nearer tier's file over this configuration. Problems leave the rest of the file in force.
    pub fn overlay(&mut self, source: &Source, tier: Tier) -> ConfigFile {
        let mut file = ConfigFile::default();
        let node = match yaml::parse(source, 0..source.text.len()) {
            Ok(node) => node,
            Err(problem) => {
                file.problems.push(*problem);
                return file;
            }
        };
        let mut fields = Fields::of(node, source);
        fields.refuse_unknown(KEYS);
        if let Some(version) = fields.text("requires_version") {
            check_version(&version, &mut fields);
        }
        file.take_rules(&mut fields);
        file.settings = self.take_weakening_settings(&mut fields);
        self.take_observers(&mut fields, tier, &mut file);
        self.take_variables(&mut fields, tier, &mut file);
        self.take_plain_settings(&mut fields, tier);
        if tier != Tier::Project {
            for unaccepted in std::mem::take(&mut file.settings) {
                self.accept(unaccepted.setting);
            }
        }
        fields.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        file.problems = fields.problems;
        file
    }

    /// Takes over a setting that needs nobody's acceptance, or has it.
    pub fn accept(&mut self, setting: Setting) {
        match setting {
            Setting::Disabled => self.enabled = false,
            Setting::Observe => self.mode = Mode::Observe,
            Setting::CommandEnv(names) => self.command_env.extend(names),
            Setting::SandboxOff => self.sandbox = Sandbox::Off,
            Setting::ProgressCommand(command) => self.progress_command = Some(command),
            Setting::External(observer) => self.observers.push(*observer),
        }
    }

    /// What weakens a guard or starts a program is not taken over, but returned with its place.
    fn take_weakening_settings(&mut self, fields: &mut Fields) -> Vec<Unaccepted> {
        let mut found = Vec::new();
        let enabled = fields.flag("enabled").unwrap_or(true);
        found.extend((!enabled).then_some(("enabled", Setting::Disabled)));
        match fields.choice("mode", &[Mode::Enforce, Mode::Observe].map(|mode| (mode.name(), mode))) {
            Some(Mode::Observe) => found.push(("mode", Setting::Observe)),
            Some(Mode::Enforce) => self.mode = Mode::Enforce,
            None => {}
        }
        let names = fields.texts("command_env").unwrap_or_default();
        let names: Vec<String> = names.into_iter().map(|name| name.value).collect();
        found.extend((!names.is_empty()).then_some(("command_env", Setting::CommandEnv(names))));
        let command = fields.text("progress_command");
        found.extend(command.map(|command| ("progress_command", Setting::ProgressCommand(command.value))));
        let sandboxes = [("off", Sandbox::Off), ("repo", Sandbox::Repo), ("require", Sandbox::Require)];
        match fields.choice("sandbox", &sandboxes) {
            Some(Sandbox::Off) => found.push(("sandbox", Setting::SandboxOff)),
            // A nearer tier makes it stricter, never milder.
            Some(stricter) => self.sandbox = self.sandbox.max(stricter),
            None => {}
        }
        let place = |(key, setting)| {
            let span = fields.key_span(key)?;
            let text = extent(fields.source(), span.start, fields.end_of(key));
            Some(Unaccepted { setting, key: span, text })
        };
        found.into_iter().filter_map(place).collect()
    }

    /// Settings that a project may choose without asking anybody.
    fn take_plain_settings(&mut self, fields: &mut Fields, tier: Tier) {
        if let Some(most) = fields.count("max_holds") {
            self.max_holds.insert(tier, most);
        }
        if let Some((deadline, span)) = duration("deadline", fields) {
            if (SHORTEST_DEADLINE..=LONGEST_DEADLINE).contains(&deadline) {
                self.deadline = deadline;
            } else {
                let message = format!(
                    "`deadline` is between {}ms and {}s: agents let a call through when its hook takes longer",
                    SHORTEST_DEADLINE.as_millis(),
                    LONGEST_DEADLINE.as_secs()
                );
                fields.refuse(ErrorKind::InvalidValue, message, span);
            }
        }
        let journals = [("lean", JournalMode::Lean), ("full", JournalMode::Full)];
        self.journal = fields.choice("journal", &journals).unwrap_or(self.journal);
        self.output_limit = output_limit(fields).unwrap_or(self.output_limit);
        self.retention = duration("retention", fields).map_or(self.retention, |(duration, _)| duration);
        self.default_branch = self.default_branch.take().or(fields.text("default_branch").map(|text| text.value));
        if let Some(branches) = fields.texts("protected_branches") {
            self.protected_branches.insert(tier, branches.into_iter().map(|text| text.value).collect());
        }
        if let Some(moves) = fields.texts("agent_may") {
            let sound = moves.into_iter().filter(|name| is_move(name, fields)).map(|name| name.value);
            self.agent_may = sound.collect::<Vec<_>>();
        }
        if let Some(folder) = fields.text("rules_dir") {
            if folder.value.starts_with('/') || folder.value.split('/').any(|part| part == "..") {
                fields.refuse(ErrorKind::InvalidValue, "`rules_dir` stays within the project", folder.span);
            } else {
                self.rules_dir = Some(folder.value);
            }
        }
    }

    fn take_observers(&mut self, fields: &mut Fields, tier: Tier, file: &mut ConfigFile) {
        let key = fields.key_span("observers").unwrap_or_default();
        let text = extent(fields.source(), key.start, fields.end_of("observers"));
        let Some(node) = fields.take("observers") else { return };
        let mut reading = observers::read(node, fields.source(), tier);
        fields.problems.append(&mut reading.problems);
        for Placed { observer, span } in reading.observers {
            if self.observers.iter().any(|known| known.tier == tier && known.name == observer.name) {
                let message = format!("two observers are named `{}`", observer.name);
                let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(span));
                fields.problems.push(problem.help("give one of them another `name`"));
                continue;
            }
            if let Some(function) = self.condition_in_use(&observer) {
                let message = format!("two behaviors have the condition `{function}`");
                fields.refuse(ErrorKind::InvalidValue, message, span);
                continue;
            }
            if tier == Tier::Project && self.users_observers().any(|known| known.kind == observer.kind) {
                // The very same: it runs already.
                continue;
            }
            match self.conflict_with_user(&observer) {
                Some(why) => fields.problems.push(
                    Diagnostic::warning(ErrorKind::Untrusted, why, fields.source(), Some(span))
                        .help("let it set a variable of another name"),
                ),
                None if tier == Tier::Project && observer.is_external() => {
                    let setting = Setting::External(Box::new(observer));
                    file.settings.push(Unaccepted { setting, key: span, text: text.clone() });
                }
                None => self.observers.push(observer),
            }
        }
        let kept = &self.observers;
        let is_kept = |unchecked: &Unchecked| {
            kept.iter().any(|known| known.tier == unchecked.tier && known.name == unchecked.observer)
        };
        self.unchecked.extend(reading.unchecked.into_iter().filter(is_kept));
    }

    fn condition_in_use(&self, observer: &Observer) -> Option<String> {
        let functions = |observer: &Observer| match &observer.kind {
            ObserverKind::External(external) => {
                external.conditions.keys().map(|condition| External::function(&observer.name, condition)).collect()
            }
            _ => Vec::new(),
        };
        let known: Vec<String> = self.observers.iter().flat_map(functions).collect();
        functions(observer).into_iter().find(|function| known.contains(function))
    }

    fn users_observers(&self) -> impl Iterator<Item = &Observer> {
        self.observers.iter().filter(|known| known.tier == Tier::User)
    }

    /// What the user's observers set and the user declared is the user's: their rules may depend on it. Why an observer of
    /// a project that would set the same is left out.
    fn conflict_with_user(&self, observer: &Observer) -> Option<String> {
        let names = if observer.tier == Tier::Project { observer.variables() } else { Vec::new() };
        names.into_iter().find_map(|variable| {
            let setter = self.users_observers().find(|known| known.variables().contains(&variable));
            let whose = setter.map(|known| format!("the user's own observer `{}` sets", known.name)).or_else(|| {
                self.users_variables.contains(variable).then(|| "the user's own configuration declares".to_owned())
            })?;
            Some(format!("observer `{}` sets `{variable}`, which {whose}; it is left out", observer.name))
        })
    }

    fn take_variables(&mut self, fields: &mut Fields, tier: Tier, file: &mut ConfigFile) {
        let Some(node) = fields.take("variables") else { return };
        let Yaml::Map(entries) = node.value else {
            fields.refuse(ErrorKind::InvalidValue, "`variables` takes a mapping of names to first values", node.span);
            return;
        };
        for (key, value) in entries {
            let _ = writeln!(file.variables, "{}: {}", key.text, value.to_json());
            if let Err(why) = engine::expr::check_variable_name(&key.text) {
                fields.refuse(ErrorKind::InvalidValue, why, key.span);
                continue;
            }
            if tier == Tier::User {
                self.users_variables.insert(key.text.clone());
            } else if let Some(owner) =
                self.users_observers().find(|known| known.variables().contains(&key.text.as_str()))
            {
                let message = format!(
                    "`{}` is what the user's own observer `{}` sets; its first value is left out",
                    key.text, owner.name
                );
                let problem = Diagnostic::warning(ErrorKind::Untrusted, message, fields.source(), Some(key.span));
                fields.problems.push(problem.help("declare a variable of another name"));
                continue;
            }
            // What the user declared is the user's: their rules may depend on it.
            self.variables.entry(key.text).or_insert_with(|| value.to_json().to_string());
        }
    }
}

impl ConfigFile {
    fn take_rules(&mut self, fields: &mut Fields) {
        self.imports = fields.texts("imports").unwrap_or_default();
        match fields.take("rule_definitions").map(|node| (node.span, node.value)) {
            Some((_, Yaml::Map(entries))) => self.definitions = (entries, fields.end_of("rule_definitions")),
            Some((span, other)) => fields.refuse(
                ErrorKind::InvalidValue,
                format!("`rule_definitions` takes a mapping of names to rules, not {}", other.kind()),
                span,
            ),
            None => {}
        }
        let Some(node) = fields.take("rules") else { return };
        let Yaml::List(items) = node.value else {
            fields.refuse(ErrorKind::InvalidValue, "`rules` takes a list of names and rules", node.span);
            return;
        };
        let ends: Vec<usize> =
            items.iter().skip(1).map(|item| item.span.start).chain([fields.end_of("rules")]).collect();
        for (item, end) in items.into_iter().zip(ends) {
            match item.value {
                Yaml::Text(value) => self.rules.push(RuleItem::Name(Text { value, span: item.span })),
                Yaml::Map(_) => self.rules.push(RuleItem::Inline(item, end)),
                other => fields.refuse(
                    ErrorKind::InvalidValue,
                    format!("`rules` takes names of rules, and rules, not {}", other.kind()),
                    item.span,
                ),
            }
        }
    }
}

fn is_move(name: &Text, fields: &mut Fields) -> bool {
    if MOVES.contains(&name.value.as_str()) {
        return true;
    }
    let help = suggest::closest(&name.value, MOVES.iter().copied())
        .map_or_else(|| format!("the moves are {}", MOVES.join(", ")), suggest::did_you_mean);
    let message = format!("`{}` is no move that an agent could make", name.value);
    fields
        .problems
        .push(Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(name.span.clone())).help(help));
    false
}

fn check_version(wanted: &Text, fields: &mut Fields) {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        let text = text.strip_prefix(">=").unwrap_or(text).trim();
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    let this = env!("CARGO_PKG_VERSION");
    match (numbers(&wanted.value), numbers(this)) {
        (Some(least), Some(have)) if least > have => fields.refuse(
            ErrorKind::UnsupportedVersion,
            format!("this policy needs Linchpin {} or newer; this is {this}", wanted.value),
            wanted.span.clone(),
        ),
        (None, _) => fields.refuse(
            ErrorKind::InvalidValue,
            format!("`requires_version` is a version such as `0.2` or `1.0.3`, not `{}`", wanted.value),
            wanted.span.clone(),
        ),
        _ => {}
    }
}

/// `16 KiB`.
fn output_limit(fields: &mut Fields) -> Option<usize> {
    let node = fields.take("output_limit")?;
    let count = match &node.value {
        Yaml::Text(text) => text.strip_suffix("KiB").and_then(|count| count.trim_end().parse::<usize>().ok()),
        _ => None,
    };
    if let Some(count) = count.filter(|count| OUTPUT_LIMITS.contains(count)) {
        return Some(count * KIB);
    }
    let message =
        format!("`output_limit` is a size from `{} KiB` to `{} KiB`", OUTPUT_LIMITS.start(), OUTPUT_LIMITS.end());
    fields.refuse(ErrorKind::InvalidValue, message, node.span);
    None
}

/// `500ms`, `2s`, `5m`, `1h`, `90d`.
fn duration(key: &str, fields: &mut Fields) -> Option<(Duration, Range<usize>)> {
    let text = fields.text(key)?;
    let digits = text.value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).trim_end();
    let unit = text.value.get(digits.len()..).unwrap_or_default().trim();
    let milliseconds = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60 * 1000),
        "h" => Some(60 * 60 * 1000),
        "d" => Some(DAY * 1000),
        _ => None,
    };
    let length = digits.parse::<u64>().ok().zip(milliseconds).and_then(|(count, unit)| count.checked_mul(unit));
    let Some(length) = length else {
        let message = format!("`{key}` is a time such as `500ms`, `2s`, `5m`, `1h` or `90d`, not `{}`", text.value);
        fields.refuse(ErrorKind::InvalidValue, message, text.span);
        return None;
    };
    Some((Duration::from_millis(length), text.span))
}
