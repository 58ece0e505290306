use std::fmt;

use serde::{Deserialize, Serialize};

use super::format::{count, duration};

use crate::bounded_regex::RegexSource;

/// A pace rule: its limit, and what the rule does when the limit is violated during a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceRule {
    pub limit: PaceLimit,
    pub live: LiveMode,
}

/// The limit of a pace rule. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaceLimit {
    RepeatedCommand { pattern: Option<RegexSource>, threshold: u32, window: u64, failures_only: bool },
    RepeatedFileEdit { pattern: Option<RegexSource>, threshold: u32, window: u64 },
    PhaseTimeout { max_duration: u64 },
    TokenBudget { max_tokens: u64, count: Vec<TokenKind> },
    RequireCommits { lookback_phases: u32 },
}

impl fmt::Display for PaceLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matching = self.pattern().map_or_else(String::new, |pattern| format!(" matching `{pattern}`"));
        match self {
            Self::RepeatedCommand { threshold, window, .. } | Self::RepeatedFileEdit { threshold, window, .. } => {
                let noun = self.repeated_noun().unwrap_or_default();
                write!(formatter, "at {threshold} {noun}{matching} in {}", duration(*window))
            }
            Self::PhaseTimeout { max_duration } => write!(formatter, "above {}", duration(*max_duration)),
            Self::TokenBudget { max_tokens, .. } => write!(formatter, "above {} tokens", count(*max_tokens)),
            Self::RequireCommits { lookback_phases: 1 } => formatter.write_str("without a commit in this phase"),
            Self::RequireCommits { lookback_phases } => {
                write!(formatter, "without a commit in the last {lookback_phases} phases")
            }
        }
    }
}

impl PaceLimit {
    /// The key of the limit in a rule's file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RepeatedCommand { .. } => "repeated_command",
            Self::RepeatedFileEdit { .. } => "repeated_file_edit",
            Self::PhaseTimeout { .. } => "phase_timeout",
            Self::TokenBudget { .. } => "token_budget",
            Self::RequireCommits { .. } => "require_commits",
        }
    }

    /// The threshold, and the window in seconds. `None` if the limit is not a limit on repetition.
    pub fn repetition(&self) -> Option<(u32, u64)> {
        match self {
            Self::RepeatedCommand { threshold, window, .. } | Self::RepeatedFileEdit { threshold, window, .. } => {
                Some((*threshold, *window))
            }
            Self::PhaseTimeout { .. } | Self::TokenBudget { .. } | Self::RequireCommits { .. } => None,
        }
    }

    /// A plural noun for what the limit counts. `None` if the limit is not a limit on repetition.
    pub(super) fn repeated_noun(&self) -> Option<&'static str> {
        match self {
            Self::RepeatedCommand { failures_only: true, .. } => Some("failing commands"),
            Self::RepeatedCommand { .. } => Some("commands"),
            Self::RepeatedFileEdit { .. } => Some("edits"),
            Self::PhaseTimeout { .. } | Self::TokenBudget { .. } | Self::RequireCommits { .. } => None,
        }
    }

    pub fn pattern(&self) -> Option<&str> {
        match self {
            Self::RepeatedCommand { pattern, .. } | Self::RepeatedFileEdit { pattern, .. } => {
                pattern.as_ref().map(|pattern| pattern.regex.as_str())
            }
            Self::PhaseTimeout { .. } | Self::TokenBudget { .. } | Self::RequireCommits { .. } => None,
        }
    }
}

/// The effect of a violated limit during a phase. While the limit is violated, a transition out of the phase is refused
/// in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LiveMode {
    Off,
    /// The agent reads the interrupt once as a warning.
    #[default]
    Warn,
    /// Calls are refused until `linchpin continue`.
    Block,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    Input,
    Output,
    CacheRead,
    CacheWrite,
}

impl TokenKind {
    pub const ALL: [Self; 4] = [Self::Input, Self::Output, Self::CacheRead, Self::CacheWrite];
    /// The kinds of tokens that a rule counts if the rule does not set `count`.
    pub const DEFAULT: [Self; 2] = [Self::Input, Self::Output];
}

/// Numbers of tokens that models read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Tokens {
    pub fn of(&self, kind: TokenKind) -> u64 {
        match kind {
            TokenKind::Input => self.input,
            TokenKind::Output => self.output,
            TokenKind::CacheRead => self.cache_read,
            TokenKind::CacheWrite => self.cache_write,
        }
    }

    pub fn sum(&self, kinds: &[TokenKind]) -> u64 {
        kinds.iter().map(|kind| self.of(*kind)).fold(0, u64::saturating_add)
    }
}

impl std::ops::SubAssign for Tokens {
    fn sub_assign(&mut self, other: Self) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// A pace rule with the id and digest under which its facts are stored.
#[derive(Debug, Clone, Copy)]
pub struct PaceRuleRef<'a> {
    pub id: &'a str,
    /// The digest of the rule's text.
    pub digest: &'a str,
    pub pace: &'a PaceRule,
}
