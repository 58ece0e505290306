//! `config.yml`.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::rules::Tier;
use engine::suggest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::fields::{Fields, Text};
use crate::source::Source;
use crate::yaml::{self, Yaml};

/// What the configurations of all tiers say together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Names of rules that are in force in the whole project, each with the farthest tier that names it.
    pub rules: BTreeMap<String, Tier>,
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
    /// Relative to the root.
    pub rules_dir: Option<String>,
    pub mode: Mode,
    /// What an agent is shown at once, in bytes.
    pub output_limit: usize,
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
            rules: BTreeMap::new(),
            variables: BTreeMap::new(),
            max_holds: BTreeMap::new(),
            deadline: Duration::from_secs(2),
            journal: JournalMode::Lean,
            retention: Duration::from_secs(90 * DAY),
            default_branch: None,
            rules_dir: None,
            mode: Mode::Enforce,
            output_limit: 8 * KIB,
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
    "default_branch",
    "deadline",
    "journal",
    "max_holds",
    "mode",
    "output_limit",
    "requires_version",
    "retention",
    "rules",
    "rules_dir",
    "variables",
];
/// Part of the language, not of this version: an error of their own, because a policy that counts on them is not kept.
const LATER_KEYS: &[&str] =
    &["agent_may", "command_env", "enabled", "observers", "progress_command", "protected_branches", "sandbox"];

impl Config {
    pub fn max_holds(&self, tier: Tier) -> Option<u32> {
        self.max_holds.get(&tier).copied()
    }

    pub fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).and_then(|json| serde_json::from_str(json).ok())
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Lays a nearer tier's file over this configuration. Problems leave the rest of the file in force.
    pub fn overlay(&mut self, source: &Source, tier: Tier) -> Vec<Diagnostic> {
        let node = match yaml::parse(source, 0..source.text.len()) {
            Ok(node) => node,
            Err(problem) => return vec![*problem],
        };
        let mut fields = Fields::of(node, source);
        for key in LATER_KEYS {
            if let Some(span) = fields.key_span(key) {
                fields.refuse(ErrorKind::Unsupported, format!("`{key}` is not part of this version of Linchpin"), span);
            }
        }
        fields.refuse_unknown(&[KEYS, LATER_KEYS].concat());
        if let Some(version) = fields.text("requires_version") {
            check_version(&version, &mut fields);
        }
        self.take_rules(&mut fields, tier);
        self.take_variables(&mut fields);
        if let Some(most) = fields.count("max_holds") {
            self.max_holds.insert(tier, most);
        }
        if let Some(deadline) = duration("deadline", &mut fields) {
            let (deadline, span) = deadline;
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
        let modes = [Mode::Enforce, Mode::Observe].map(|mode| (mode.name(), mode));
        self.mode = fields.choice("mode", &modes).unwrap_or(self.mode);
        self.output_limit = output_limit(&mut fields).unwrap_or(self.output_limit);
        self.retention = duration("retention", &mut fields).map_or(self.retention, |(duration, _)| duration);
        self.default_branch = self.default_branch.take().or(fields.text("default_branch").map(|text| text.value));
        if let Some(folder) = fields.text("rules_dir") {
            if folder.value.starts_with('/') || folder.value.split('/').any(|part| part == "..") {
                fields.refuse(ErrorKind::InvalidValue, "`rules_dir` stays within the project", folder.span);
            } else {
                self.rules_dir = Some(folder.value);
            }
        }
        fields.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        fields.problems
    }

    fn take_rules(&mut self, fields: &mut Fields, tier: Tier) {
        let Some(node) = fields.take("rules") else { return };
        let Yaml::List(items) = node.value else {
            fields.refuse(ErrorKind::InvalidValue, "`rules` takes a list of names", node.span);
            return;
        };
        let known: Vec<&str> = crate::bundled::bundled_rules().iter().map(|rule| rule.id).collect();
        for item in items {
            match item.value {
                Yaml::Text(name) if known.contains(&name.as_str()) => {
                    self.rules.entry(name).or_insert(tier);
                }
                Yaml::Text(name) => {
                    let help = suggest::closest(&name, known.iter().copied())
                        .map_or_else(|| format!("the bundled rules are {}", known.join(", ")), suggest::did_you_mean);
                    fields.problems.push(
                        Diagnostic::error(
                            ErrorKind::UnknownRule,
                            format!("no rule is named `{name}`"),
                            fields.source(),
                            Some(item.span),
                        )
                        .help(help),
                    );
                }
                Yaml::Map(_) => fields.refuse(
                    ErrorKind::Unsupported,
                    "rules written inside a list are not part of this version of Linchpin",
                    item.span,
                ),
                other => fields.refuse(
                    ErrorKind::InvalidValue,
                    format!("`rules` takes names of rules, not {}", other.kind()),
                    item.span,
                ),
            }
        }
    }

    fn take_variables(&mut self, fields: &mut Fields) {
        let Some(node) = fields.take("variables") else { return };
        let Yaml::Map(entries) = node.value else {
            fields.refuse(ErrorKind::InvalidValue, "`variables` takes a mapping of names to first values", node.span);
            return;
        };
        for (key, value) in entries {
            if let Err(why) = engine::expr::check_variable_name(&key.text) {
                fields.refuse(ErrorKind::InvalidValue, why, key.span);
                continue;
            }
            // What the user declared is the user's: their rules may depend on it.
            self.variables.entry(key.text).or_insert_with(|| value.to_json().to_string());
        }
    }
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
fn duration(key: &str, fields: &mut Fields) -> Option<(Duration, std::ops::Range<usize>)> {
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
