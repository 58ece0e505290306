//! Compiled rules: checked, typed, and cheap to skip.
//!
//! Other crates read rules from files. A [`Rule`] is plain data that can be cached in compiled form; [`RuleSet`] is
//! that form.

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
use crate::file_rules::{FileMatch, FileRule, UnmetFileRule};
use crate::pace::PaceRule;
use crate::verdict::Level;

/// The `max_holds` of rules that do not set it.
const DEFAULT_MAX_HOLDS: u32 = 3;

/// Field names must not change in the serialized form, so renamed fields of rules have a `serde(rename)`: the JSON of a
/// workflow with its rules is the text that a person has trusted, and the stored phase of a hat.
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
    /// Digest of the rule's text.
    pub digest: String,
    pub on: EventKinds,
    pub detect: Detector,
    /// A condition, checked when the rule was loaded.
    pub when: Option<String>,
    pub action: Level,
    /// The level of the rule's own run-time errors; `None` if they count as a match.
    pub on_error: Option<Level>,
    pub tags: Vec<String>,
    /// Most holds: of one stop, or for file rules until something about the demand changes; `None` for the default.
    pub max_holds: Option<u32>,
    pub ack: AckBy,
    pub locked: bool,
    /// The text for the agent.
    pub reason: String,
}

impl Rule {
    /// A rule that Linchpin derives from another key of a policy file. It blocks calls and has no digest yet.
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

    /// What the rule demands if this is its match; `None` if it is not a file rule.
    pub fn demand_for<'a>(&'a self, found: &'a FileMatch) -> Option<UnmetFileRule<'a>> {
        let (id, title, ack, action) = (self.id.as_str(), self.display_title(), self.ack, self.action);
        Some(UnmetFileRule {
            id,
            title,
            ack,
            action,
            max_holds: self.max_holds_or_default(),
            file: self.as_file_rule()?,
            found,
        })
    }

    /// Maximum number of times that the rule holds one stop.
    pub fn max_holds_or_default(&self) -> u32 {
        self.max_holds.unwrap_or(DEFAULT_MAX_HOLDS)
    }

    /// True if the rule runs a command itself.
    pub fn runs_command(&self) -> bool {
        self.as_file_rule().is_some_and(|file| file.command.is_some())
    }

    /// True if the rule protects the guard itself. Such rules stay enforced during a pause.
    pub fn protects_guard(&self) -> bool {
        self.tier == Tier::Bundled && self.locked
    }

    /// True if the rule can be acknowledged for a session: it only warns, or only holds stops. Rules that refuse calls
    /// cannot be acknowledged.
    pub fn can_be_acknowledged(&self) -> bool {
        self.action == Level::Warn || (self.action > Level::Warn && self.on.iter().all(EventKind::is_stop))
    }
}

/// The origin of a rule. A later tier overrides rules with the same id in earlier tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Defined in the file that uses it.
    Local,
    Project,
    User,
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

/// The part of a rule that detects something, in addition to `on` and `when`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Detector {
    /// A tool call before it runs. Boxed to keep [`Rule`] small.
    Tool(Box<ToolRule>),
    /// Changed files.
    Files(Box<FileRule>),
    /// Repetition, duration or tokens of the phase.
    Pace(Box<PaceRule>),
    /// No detection: only `on` and `when` decide.
    Event,
}

/// Three-valued truth of a clause. Facts that cannot be known before a command runs make it unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    False,
    Unknown,
    True,
}

impl Truth {
    /// True if both are true; false if one is false.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// True if one is true; false if both are false.
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
