//! Rules as judging sees them: checked, typed, and cheap to pass over.
//!
//! Reading them from files is another crate's work. A [`Rule`] is plain data, so that it can lie compiled in a cache;
//! [`RuleSet`] is that form.

mod branch_clause;
mod clause;
mod command_matcher;
mod command_regex;
mod exemptions;
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
pub(crate) use command_regex::Against;
pub use command_regex::CommandRegex;
pub use exemptions::Exemptions;
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

/// For a rule of which nobody said how often it may hold a stop.
const DEFAULT_MAX_HOLDS: u32 = 3;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// First: compiled rules are told apart by it before they are decoded.
    pub id: String,
    /// The title that people read; the id where there is none.
    pub title: Option<String>,
    pub description: Option<String>,
    pub tier: Tier,
    /// The file it was read from, as people know it.
    pub source: String,
    /// Digest of the text it was made from.
    pub digest: String,
    pub on: EventKinds,
    pub detect: Detector,
    /// An expression; its text was checked when the rule was loaded.
    pub when: Option<String>,
    pub action: Level,
    /// What the rule's own run-time errors count as; `None`: as if it had matched.
    pub on_error: Option<Level>,
    pub tags: Vec<String>,
    /// How often it may hold a stop; `None`: as the configuration says.
    pub max_holds: Option<u32>,
    pub ack: AckBy,
    pub locked: bool,
    /// What the agent reads.
    pub reason: String,
}

impl Rule {
    /// One that stands for a key or a list of its file, not for a text of its own: it blocks calls. It has no digest yet.
    pub fn made(id: String, source: &str, detect: Detector, reason: String) -> Self {
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

    /// What people call it.
    pub fn shown_title(&self) -> &str {
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

    /// What it asks for, where it is a file rule.
    pub fn demand<'a>(&'a self, found: &'a FileMatch) -> Option<UnmetFileRule<'a>> {
        let (id, title, ack, action) = (self.id.as_str(), self.shown_title(), self.ack, self.action);
        Some(UnmetFileRule { id, title, ack, action, most_holds: self.most_holds(), file: self.as_file_rule()?, found })
    }

    /// How often it may hold one stop.
    pub fn most_holds(&self) -> u32 {
        self.max_holds.unwrap_or(DEFAULT_MAX_HOLDS)
    }

    /// Whether it starts a program of its own.
    pub fn runs_a_command(&self) -> bool {
        self.as_file_rule().is_some_and(|file| file.command.is_some())
    }

    /// Whether it keeps the guard itself in place: it then stays in force while the guard is paused.
    pub fn protects_guard(&self) -> bool {
        self.tier == Tier::Bundled && self.locked
    }

    /// Whether an acknowledgement settles it for a session: it only warns, or only keeps an agent from stopping. What
    /// refuses a call never tires.
    pub fn can_be_acknowledged(&self) -> bool {
        self.action == Level::Warn || (self.action > Level::Warn && self.on.iter().all(EventKind::is_stop))
    }
}

/// Where a rule comes from; a nearer one replaces a farther one of the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Written in the file that names it.
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

/// How a rule notices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Detector {
    /// By the tool call that is about to run. Boxed: an event rule should not carry its size.
    Tool(Box<ToolRule>),
    /// By the files that changed. Boxed as well.
    Files(Box<FileRule>),
    /// By what happened in the phase so far.
    Pace(Box<PaceRule>),
    /// By `on` and `when` alone.
    Event,
}

/// Truth of a clause. What cannot be known before a command runs is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    False,
    Unknown,
    True,
}

impl Truth {
    /// True where both are; false where one is.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// True where one is; false where both are.
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
