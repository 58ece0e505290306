//! What is said of an event.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::not_enforced::NotEnforced;

/// `allow` < `warn` < `ask` < `block`: of several rules the strictest speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Allow,
    Warn,
    Ask,
    Block,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Allow, Self::Warn, Self::Ask, Self::Block];

    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// One rule's contribution to a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id, or `linchpin` where the guard itself speaks (a failure, a broken policy).
    pub rule: String,
    pub level: Level,
    /// What the agent or the person reads; never empty.
    pub reason: String,
    /// The clauses that made it so, with what they were compared with.
    #[serde(default)]
    pub because: Vec<String>,
    /// Digest of the rule's text, so that the journal names the version that spoke.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// It keeps the guard itself in place, or nobody can say that it does not: a pause does not lift it.
    #[serde(skip)]
    pub protects_guard: bool,
    /// Its reason is a section under a heading of its own, and no sentence.
    #[serde(skip)]
    pub section: Option<SectionKind>,
    /// It is said for several rules at once, and the reason names them.
    #[serde(skip)]
    pub is_shared: bool,
}

impl Finding {
    const UNAPPROVED: &str = "approves nothing: ";

    /// Writes down why what an `allow` rule says is no approval.
    pub(crate) fn approves_nothing(&mut self, why: &str) {
        self.because.push(format!("{}{why}", Self::UNAPPROVED));
    }

    /// Why an `allow` rule that speaks approves nothing, where it does not.
    pub fn why_unapproved(&self) -> Option<&str> {
        self.because.iter().find_map(|because| because.strip_prefix(Self::UNAPPROVED))
    }
}

/// What file rules say, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionKind {
    /// A rule's command failed.
    FailedCommand,
    /// Something is asked for.
    Demand,
    /// Something is asked for, and only a person can say that it need not be.
    PersonsDemand,
}

/// The whole answer to one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub level: Level,
    /// An `allow` rule covers all of the call: it may run without the agent asking its person.
    #[serde(default)]
    pub approved: bool,
    /// Strictest first, then by rule id.
    pub findings: Vec<Finding>,
    /// For the person's eyes, not the agent's: what is broken, off or skipped.
    #[serde(default)]
    pub notices: Vec<String>,
    /// What the agent is to read besides, whatever the verdict is.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub context: Vec<String>,
    /// Why nothing is stopped, though the level says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lifted: Option<NotEnforced>,
    /// The number by which a person can let this refused call through. Known once it is recorded, so not part of that.
    #[serde(skip)]
    pub appeal: Option<i64>,
}

impl Verdict {
    /// Nothing to say.
    pub fn silent() -> Self {
        Self {
            level: Level::Allow,
            approved: false,
            findings: Vec::new(),
            notices: Vec::new(),
            context: Vec::new(),
            lifted: None,
            appeal: None,
        }
    }

    pub fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| b.level.cmp(&a.level).then_with(|| a.rule.cmp(&b.rule)));
        let level = findings.first().map_or(Level::Allow, |finding| finding.level);
        Self { level, findings, ..Self::silent() }
    }

    /// How strict it is: an approval is milder than saying nothing.
    pub fn rank(&self) -> (Level, bool) {
        (self.level, !self.approved)
    }

    /// The findings that made the verdict what it is or add a warning to it, in order.
    pub fn spoken(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.level > Level::Allow)
    }

    /// Whether it asks for something to be stopped, enforced or not.
    pub fn stops(&self) -> bool {
        self.level >= Level::Ask
    }

    /// What is told of it. A verdict that is lifted keeps the warnings, which stop nothing.
    pub fn told(&self) -> Cow<'_, Self> {
        if self.lifted.is_none() {
            return Cow::Borrowed(self);
        }
        let harmless = self.findings.iter().filter(|finding| finding.level <= Level::Warn).cloned().collect();
        let (notices, context) = (self.notices.clone(), self.context.clone());
        Cow::Owned(Self { notices, context, ..Self::of(harmless) })
    }
}
