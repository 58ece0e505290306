//! Rules in compiled form. The rules are already checked, and a rule that cannot match an event is skipped at low cost.
//!
//! Other crates read rules from files. A [`Rule`] is plain data. A [`RuleSet`] is the compiled form of many rules,
//! which can be cached.

mod branch_clause;
mod clause;
mod command_matcher;
mod command_regex;
mod exemptions;
mod hold_state;
mod path_clause;
mod path_key;
mod rule_set;
mod subject;
mod tool_name;
mod tool_rule;
mod wildcard;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use branch_clause::BranchClause;
pub use clause::Clause;
pub use command_matcher::{CommandMatcher, FlagPattern, VariablePattern};
pub use command_regex::CommandRegex;
pub(crate) use command_regex::CommandScope;
pub use exemptions::Exemptions;
pub use hold_state::HoldState;
pub use path_clause::{PathClause, PathPattern};
pub use path_key::PathKey;
pub use rule_set::{RuleSet, RuleSetError};
pub use subject::Subject;
pub use tool_name::{McpPattern, ToolName};
pub use tool_rule::{ToolMatch, ToolRule};
pub use wildcard::Wildcard;

pub use crate::ack_by::AckBy;
use crate::event::{EventKind, EventKinds};
use crate::file_rules::{FileMatch, FileRule, PossibleDemand};
use crate::pace::PaceRule;
use crate::verdict::Level;
use shell::SimpleCommand;

/// The value of `max_holds` for rules that do not set this key.
const DEFAULT_MAX_HOLDS: u32 = 3;

/// A rule that was read from a policy file and checked.
///
/// The names in the serialized form of a rule must not change, because the text of a workflow that a person trusts and
/// the stored phase of a hat are JSON that contains rules. Renamed fields therefore have a `serde(rename)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Must be the first field, because [`RuleSet`] reads ids without decoding rules.
    pub id: String,
    /// The title for people; `None` if the id is the title.
    pub title: Option<String>,
    pub description: Option<String>,
    pub tier: Tier,
    /// The file that the rule was read from, as shown to people.
    pub source: String,
    /// The digest of the rule's text.
    pub digest: String,
    pub on: EventKinds,
    pub detect: Detector,
    /// An expression that must be true for the rule to match. The expression was checked when the rule was loaded.
    pub when: Option<String>,
    pub action: Level,
    /// The level of the finding if the rule cannot be evaluated; `None` for the level of `action`.
    pub on_error: Option<Level>,
    pub tags: Vec<String>,
    /// The maximum number of times that the rule holds one stop, asks for the same files, or refuses calls in one
    /// phase; `None` for the default.
    pub max_holds: Option<u32>,
    pub ack: AckBy,
    pub locked: bool,
    /// The text for the agent.
    pub reason: String,
}

impl Rule {
    /// Creates a rule that is derived from a setting, such as a hat's `writes`, and is not written as a rule. The rule
    /// blocks tool calls. Its digest is empty; the caller sets it.
    pub fn synthetic(id: String, source: &str, detect: Detector, reason: String) -> Self {
        Self {
            id,
            title: None,
            description: None,
            tier: Tier::Local,
            source: source.to_owned(),
            digest: String::new(),
            on: EventKinds::default().with(EventKind::BeforeTool),
            detect,
            when: None,
            action: Level::Block,
            on_error: None,
            tags: Vec::new(),
            max_holds: None,
            ack: AckBy::Agent,
            locked: false,
            reason,
        }
    }

    /// The title, or the id if the rule has no title.
    pub fn display_title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.id)
    }

    pub fn as_file_rule(&self) -> Option<&FileRule> {
        match &self.detect {
            Detector::Files(file) => Some(file),
            Detector::Tool(_) | Detector::Pace(_) | Detector::Event => None,
        }
    }

    pub fn as_pace_rule(&self) -> Option<&PaceRule> {
        match &self.detect {
            Detector::Pace(pace) => Some(pace),
            Detector::Tool(_) | Detector::Files(_) | Detector::Event => None,
        }
    }

    /// The demand that the rule makes with this match unless the demand is already answered; `None` if the rule is not
    /// a file rule.
    pub fn possible_demand<'a>(&'a self, file_match: &'a FileMatch) -> Option<PossibleDemand<'a>> {
        let (id, title, ack, action) = (self.id.as_str(), self.display_title(), self.ack, self.action);
        Some(PossibleDemand {
            id,
            title,
            ack,
            action,
            max_holds: self.max_holds_or_default(),
            file_rule: self.as_file_rule()?,
            file_match,
        })
    }

    /// The maximum number of times that the rule holds one stop, asks for the same files, or refuses calls in one
    /// phase.
    pub fn max_holds_or_default(&self) -> u32 {
        self.max_holds.unwrap_or(DEFAULT_MAX_HOLDS)
    }

    /// True if the rule's action is to run a command.
    pub fn runs_command(&self) -> bool {
        self.as_file_rule().is_some_and(|file| file.command.is_some())
    }

    /// True if the rule protects Linchpin itself. Such rules stay enforced during a pause.
    pub fn protects_guard(&self) -> bool {
        self.tier == Tier::Bundled && self.locked
    }

    /// True if the rule can be acknowledged for a session: the rule only warns, or only holds stops. Rules that refuse
    /// calls cannot be acknowledged.
    pub fn can_be_acknowledged(&self) -> bool {
        self.action == Level::Warn || (self.action > Level::Warn && self.on.iter().all(EventKind::is_stop))
    }
}

/// The origin of a rule. Tiers are applied in the reverse order of these variants: a rule replaces the rules with the
/// same id of all variants that are listed after its own, except locked rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The rule is written in the file that uses it, such as `config.yml` or a workflow.
    Local,
    /// The rule is one of the project's rules.
    Project,
    /// The rule is one of the user's own rules.
    User,
    /// The rule comes with Linchpin.
    Bundled,
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
            Self::Bundled => "bundled",
        }
    }
}

/// The part of a rule that selects tool calls, changed files or repetition, in addition to `on` and `when`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Detector {
    /// Matches a tool call.
    Tool(Box<ToolRule>),
    /// Matches changed files.
    Files(Box<FileRule>),
    /// Matches repetition, missing commits, or the duration or tokens of a phase.
    Pace(Box<PaceRule>),
    /// The rule has no such part: `on` and `when` alone decide.
    Event,
}

/// The truth of a clause. The truth is `Unknown` if it depends on a value that is only known when the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    False,
    Unknown,
    True,
}

impl Truth {
    /// The result is true if both truths are true, and false if at least one is false.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// The result is true if at least one truth is true, and false if both are false.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::False => "false",
            Self::Unknown => "unknown",
            Self::True => "true",
        }
    }
}

/// The truth of a command that meets all conditions of a clause: `Unknown` if Linchpin only assumes that the command
/// runs, otherwise `True`.
fn strongest_truth(command: &SimpleCommand) -> Truth {
    if command.provenance.is_assumed { Truth::Unknown } else { Truth::True }
}

impl std::ops::Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}
