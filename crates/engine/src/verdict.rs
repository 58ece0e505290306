//! The verdict about an event, and the findings of rules that the verdict consists of.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::not_enforced::NotEnforced;

/// The level of a finding or verdict. Levels are ordered: `allow` < `warn` < `ask` < `block`. The strictest finding
/// decides the verdict.
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

/// The rule id in findings that come from Linchpin itself (a failure, an invalid policy), not from a rule.
pub const GUARD_RULE: &str = "linchpin";

/// One rule's contribution to a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The id of the rule that the finding comes from, or [`GUARD_RULE`].
    pub rule: String,
    pub level: Level,
    /// The text for the agent or the person; may be empty for a rule that runs a command.
    pub reason: String,
    /// The clauses of the rule that are true or unknown, with the values that the clauses were compared with. For an
    /// `allow` rule that does not approve the call, also the reason why.
    #[serde(default)]
    pub because: Vec<String>,
    /// The digest of the rule's text, by which the journal identifies the version of the rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// True if the rule protects Linchpin itself, or if this finding replaces findings of which at least one comes from
    /// such a rule. Such a rule is enforced even during a pause.
    #[serde(skip)]
    pub protects_guard: bool,
    /// Set if the reason is a section with a heading instead of a sentence.
    #[serde(skip)]
    pub section: Option<SectionKind>,
    /// True if the finding replaces the uncertain findings of rules about a command that cannot be parsed. The reason
    /// of the finding names the strictest of these rules.
    #[serde(skip)]
    pub is_combined: bool,
}

impl Finding {
    const NOT_APPROVED: &str = "approves nothing: ";

    /// True if the finding comes from Linchpin itself, not from a rule.
    pub fn is_of_guard(&self) -> bool {
        self.rule == GUARD_RULE
    }

    /// Records why this finding of an `allow` rule does not approve the call.
    pub(crate) fn mark_not_approved(&mut self, why: &str) {
        self.because.push(format!("{}{why}", Self::NOT_APPROVED));
    }

    /// The reason why this finding of an `allow` rule does not approve the call; `None` if the finding approves the
    /// call.
    pub fn why_not_approved(&self) -> Option<&str> {
        self.because.iter().find_map(|because| because.strip_prefix(Self::NOT_APPROVED))
    }
}

/// The kinds of sections in which file rules report, in the order in which the sections are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionKind {
    /// A rule's command failed.
    FailedCommand,
    /// A demand that the agent may answer, by a promise or `linchpin ack`.
    Demand,
    /// A demand that only a person may acknowledge.
    HumanAckDemand,
}

/// The combined result of all rules for one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub level: Level,
    /// True if `allow` rules cover the entire call: the agent may run it without asking the person.
    #[serde(default)]
    pub approved: bool,
    /// The findings, strictest first. Findings of the same level are in the order of their rule ids.
    pub findings: Vec<Finding>,
    /// Messages for the person, not for the agent: a part of Linchpin or of the policy is broken, switched off or
    /// skipped.
    #[serde(default)]
    pub notices: Vec<String>,
    /// Texts for the agent in addition to the findings, whatever the level is. In the journal and in `log --json`, the
    /// name of this field is `context`.
    #[serde(rename = "context", skip_serializing_if = "Vec::is_empty", default)]
    pub agent_texts: Vec<String>,
    /// The reason why the verdict is not enforced; `None` if the verdict is enforced. The name of this field is
    /// `lifted` in the journal and in `log --json`, where names cannot change.
    #[serde(rename = "lifted", skip_serializing_if = "Option::is_none", default)]
    pub not_enforced: Option<NotEnforced>,
    /// The journal's id of this refused call, which a person can use to allow the call. The id is set after the verdict
    /// is recorded, so the id is not part of the record.
    #[serde(skip)]
    pub refusal_id: Option<i64>,
}

impl Verdict {
    /// A verdict without findings.
    pub fn empty() -> Self {
        Self {
            level: Level::Allow,
            approved: false,
            findings: Vec::new(),
            notices: Vec::new(),
            agent_texts: Vec::new(),
            not_enforced: None,
            refusal_id: None,
        }
    }

    pub fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| b.level.cmp(&a.level).then_with(|| a.rule.cmp(&b.rule)));
        let level = findings.first().map_or(Level::Allow, |finding| finding.level);
        Self { level, findings, ..Self::empty() }
    }

    /// The sort key for strictness. An approval is milder than a verdict without findings.
    pub fn strictness(&self) -> (Level, bool) {
        (self.level, !self.approved)
    }

    /// Findings stricter than `allow`, in order.
    pub fn reported_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.level > Level::Allow)
    }

    pub fn is_enforced(&self) -> bool {
        self.not_enforced.is_none()
    }

    /// True if the level is `ask` or `block`, whether the verdict is enforced or not.
    pub fn asks_or_blocks(&self) -> bool {
        self.level >= Level::Ask
    }

    /// The verdict as the agent sees it. If the verdict is not enforced, the result has no findings that ask or block.
    pub fn as_enforced(&self) -> Cow<'_, Self> {
        if self.is_enforced() {
            return Cow::Borrowed(self);
        }
        let warnings = self.findings.iter().filter(|finding| finding.level <= Level::Warn).cloned().collect();
        let (notices, agent_texts) = (self.notices.clone(), self.agent_texts.clone());
        Cow::Owned(Self { notices, agent_texts, ..Self::of(warnings) })
    }
}
