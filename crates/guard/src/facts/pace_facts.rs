//! The state of pace rules in a live judgement: earlier counts, what this event adds, and what rules remember.
//!
//! A limit on repetitions is only checked if the event itself counts, because nothing else can exceed it. So for most
//! events a pace rule costs only matching its pattern.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use engine::decide::PaceUpdate;
use engine::pace::{Activity, Attempt, LiveMode, PaceLimit, PaceRuleRef, PaceState, Phase, Tally, Tokens};
use engine::rules::Rule;
use engine::{Event, EventKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{CountedAttempt, SessionKey, SessionState, StateChanges, Store, StoreError};

use super::token_count;
use super::token_count::{TokenCount, TokensUsed};

/// Prefix of the phase variable with what a rule remembers; the rule's digest follows.
const MEMORY: &str = "_pace:";
/// Prefix of the phase variable with the lots that ever reached their threshold; the rule's digest follows. A lot is a
/// group of attempts that count together, for example all runs of one command.
const FULL: &str = "_full:";
/// Only this many lots are checked again at a move.
const MAX_FULL: usize = 16;
/// Prefix of the phase variable with the point from which a rule's limit counts after `continue`; the rule's digest
/// follows.
const PASSED: &str = "_passed:";
/// The session variable in which earlier versions kept the time of the last `continue`, in milliseconds since 1970. All
/// counts of the session restarted there.
const CONTINUED: &str = "_continued";
/// The number of tokens that the session had used by then.
const TOKENS_BEFORE: &str = "_continued_tokens";
/// Counts of one lot stop at this number.
const MAX_COUNTED: usize = 1_000;
/// The maximum number of attempts that are read for all lots of a rule together.
const MAX_LISTED: usize = 10_000;
/// The number of characters of a digest that are used in names of lots.
const SHORT: usize = 16;

/// What a pace rule counts over: a visit to a node, or a session.
#[derive(Debug, Clone)]
pub struct PaceScope<'a> {
    /// The phase's key in the journal; `None` for the session.
    pub phase: Option<String>,
    /// The node; `None` for the session.
    pub name: Option<String>,
    /// The start of the elapsed time, in milliseconds since 1970.
    pub started: i64,
    /// From an earlier version: the time from which windows count.
    pub continued: Option<i64>,
    /// From an earlier version: tokens that do not count.
    pub tokens_before: Tokens,
    /// From an earlier version: time and tokens are not judged until the next move.
    pub is_past_totals: bool,
    /// From an earlier version: commits are not judged either.
    pub is_past_commits: bool,
    /// The variables in which rules keep what they remember.
    pub memory: &'a Map<String, Value>,
}

impl<'a> PaceScope<'a> {
    pub fn of_session(state: &'a SessionState, now: i64) -> Self {
        let continued = state.variables.get(CONTINUED).and_then(Value::as_i64);
        let before = state.variables.get(TOKENS_BEFORE).cloned();
        Self {
            phase: None,
            name: None,
            started: state.first_seen.unwrap_or(now).max(continued.unwrap_or(i64::MIN)),
            continued,
            tokens_before: before.and_then(|before| serde_json::from_value(before).ok()).unwrap_or_default(),
            is_past_totals: false,
            is_past_commits: false,
            memory: &state.variables,
        }
    }

    /// True if a rule is not judged until the next move, because the person or agent went on past it.
    pub fn sets_aside(&self, digest: &str, limit: &PaceLimit) -> bool {
        match limit {
            PaceLimit::RepeatedCommand { .. } | PaceLimit::RepeatedFileEdit { .. } => false,
            PaceLimit::PhaseTimeout { .. } | PaceLimit::TokenBudget { .. } => self.is_past_totals,
            PaceLimit::RequireCommits { .. } => self.is_past_commits || self.passed(digest).is_some(),
        }
    }

    /// True if a rule has interrupted the phase and nobody continued past it since.
    pub fn has_fired(&self, digest: &str) -> bool {
        Memory::of(self.memory, digest).has_fired()
    }

    fn passed(&self, digest: &str) -> Option<Passed> {
        let kept = self.memory.get(&format!("{PASSED}{digest}"))?;
        serde_json::from_value(kept.clone()).ok()
    }

    /// The earliest start of a rule's window.
    fn restarted_at(&self, digest: &str) -> Option<i64> {
        self.continued.max(self.passed(digest).map(|passed| passed.time))
    }
}

/// The point from which the limit of a rule counts, after somebody continued past it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Passed {
    /// Milliseconds since 1970.
    time: i64,
    /// The seconds or tokens used by then.
    total: u64,
}

pub struct PaceFacts {
    event: Arc<Event>,
    store: PathBuf,
    options: store::StoreOptions,
    /// Opened when the first rule asks.
    journal: OnceLock<Option<Mutex<Store>>>,
    tokens: Arc<TokenCount>,
    /// The attempts that this event adds, one entry per rule.
    added: Mutex<Vec<Added>>,
}

/// The attempts that an event adds to the counts of a rule.
struct Added {
    digest: String,
    counted: Vec<CountedAttempt>,
    /// True for a call that has not run yet. It counts only if it is let through.
    is_about_to_run: bool,
    /// All lots that ever reached their threshold, if this event added one. Only these are checked at a move.
    full: Option<Vec<String>>,
}

/// The reason why a rule cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum PaceError {
    #[error("what was counted cannot be read: {0}")]
    MetricAccessFailed(String),
    /// The rule's regex failed.
    #[error("{0}")]
    RegexMatchFailed(String),
}

impl From<StoreError> for PaceError {
    fn from(error: StoreError) -> Self {
        Self::MetricAccessFailed(error.to_string())
    }
}

impl PaceFacts {
    pub fn new(event: Arc<Event>, store: PathBuf, options: store::StoreOptions, tokens: Arc<TokenCount>) -> Self {
        Self { event, store, options, journal: OnceLock::new(), tokens, added: Mutex::default() }
    }

    /// The tokens of a phase, or else of the session, from its beginning.
    pub fn spent(&self, phase: Option<&str>) -> Result<TokensUsed, PaceError> {
        self.tokens.spent(phase).ok_or_else(unreadable_journal)
    }

    /// The state of a rule at this event; `None` if the event cannot change the rule's result.
    pub fn state_at(
        &self,
        rule: PaceRuleRef<'_>,
        happening: Option<&Activity>,
        scope: &PaceScope<'_>,
    ) -> Result<Option<PaceState>, PaceError> {
        let PaceRuleRef { digest, pace, .. } = rule;
        let Memory { is_told, refusals, closed } = Memory::of(scope.memory, digest);
        if let Some(closed) = closed {
            return Ok(Some(PaceState { was_interrupted: is_told, refusals, is_blocking: true, ..closed }));
        }
        let now = self.event.time;
        let phase = Phase { name: scope.name.clone(), started: scope.started, now, utc_offset: 0 };
        let mut since = phase.started;
        let tally = match &pace.limit {
            PaceLimit::RepeatedCommand { window, .. } | PaceLimit::RepeatedFileEdit { window, .. } => {
                since = phase.window_start(*window, scope.restarted_at(digest));
                let Some(happening) = happening else { return Ok(None) };
                let attempts = happening
                    .counted(&pace.limit, now)
                    .map_err(|error| PaceError::RegexMatchFailed(error.to_string()))?;
                if attempts.is_empty() {
                    return Ok(None);
                }
                Tally::of_attempts(self.counted(digest, &pace.limit, attempts, since, scope)?)
            }
            _ if scope.is_past_totals => return Ok(None),
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            // Token counts do not change before a call, and the agent is waiting.
            PaceLimit::TokenBudget { .. } if !token_count::has_new_tokens(self.event.kind) => return Ok(None),
            PaceLimit::TokenBudget { .. } => match self.spent_in(scope)? {
                TokensUsed::Behind => return Ok(None),
                // At a stop, the agent does not see a warning; after the next call it does.
                _ if self.event.kind.is_stop() && pace.live == LiveMode::Warn => return Ok(None),
                spent => Tally::Tokens(spent.known()),
            },
            PaceLimit::RequireCommits { .. } => return Ok(None),
        };

        let passed = scope.passed(digest).map_or(0, |passed| passed.total);
        let mut state = PaceState {
            phase,
            tally,
            window_start: since,
            was_interrupted: is_told,
            refusals,
            is_blocking: false,
            continued_from: passed,
        };
        // The local time zone is only looked up if the message needs it.
        if pace.judge(&state).is_some() {
            state.phase.utc_offset = utc_offset(now);
        }
        Ok(Some(state))
    }

    /// The state of a rule at a move; `None` if the rule is set aside. `commits` counts the commits of as many phases
    /// as the rule looks back on, and names these phases.
    pub fn at_move(
        &self,
        rule: &Rule,
        scope: &PaceScope<'_>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<Option<PaceState>, PaceError> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        if scope.sets_aside(&rule.digest, &pace.limit) {
            return Ok(None);
        }
        let attempts = |since| {
            let journal = self.journal()?;
            let mut attempts = Vec::new();
            for lot in full(scope.memory, &rule.digest) {
                attempts.extend(self.earlier(&journal, &lot, &lot, since, scope)?);
            }
            Ok(attempts)
        };
        self.state_of_all(&rule.digest, &pace.limit, scope, attempts, commits).map(Some)
    }

    /// The state of a rule for reports. It covers all lots, and rules that are set aside, so it reads more than
    /// [`Self::at_move`].
    pub fn for_report(
        &self,
        rule: &Rule,
        scope: &PaceScope<'_>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<Option<PaceState>, PaceError> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        let attempts = |since| {
            let lots = self.journal()?.attempts_by_prefix(self.whose(scope), &lots(&rule.digest), since, MAX_LISTED)?;
            let mut attempts: Vec<Attempt> =
                lots.into_iter().filter_map(|(lot, time, value)| attempt(&lot, time, value)).collect();
            attempts.sort_by_key(|attempt| attempt.time);
            Ok(attempts)
        };
        self.state_of_all(&rule.digest, &pace.limit, scope, attempts, commits).map(Some)
    }

    /// The state of a rule over all attempts. `attempts` returns those since a time.
    fn state_of_all(
        &self,
        digest: &str,
        limit: &PaceLimit,
        scope: &PaceScope<'_>,
        attempts: impl FnOnce(i64) -> Result<Vec<Attempt>, PaceError>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<PaceState, PaceError> {
        let now = self.event.time;
        let phase = Phase { name: scope.name.clone(), started: scope.started, now, utc_offset: utc_offset(now) };
        let mut since = phase.started;
        let tally = match limit {
            PaceLimit::RepeatedCommand { window, .. } | PaceLimit::RepeatedFileEdit { window, .. } => {
                since = phase.window_start(*window, scope.restarted_at(digest));
                Tally::of_attempts(attempts(since)?)
            }
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            PaceLimit::TokenBudget { .. } => Tally::Tokens(self.spent_in(scope)?.known()),
            PaceLimit::RequireCommits { lookback_phases } => {
                let (count, phases) = commits(*lookback_phases);
                Tally::Commits { count, phases }
            }
        };
        let passed = scope.passed(digest).map_or(0, |passed| passed.total);
        Ok(PaceState {
            phase,
            tally,
            window_start: since,
            was_interrupted: false,
            refusals: 0,
            is_blocking: false,
            continued_from: passed,
        })
    }

    /// Restarts the limit of a rule that has fired, because somebody deliberately continued past it.
    pub fn restart_limit(&self, rule: &Rule, scope: &PaceScope<'_>, changes: &mut StateChanges) {
        let Some(pace) = rule.as_pace_rule() else { return };
        let now = self.event.time;
        let total = match &pace.limit {
            PaceLimit::PhaseTimeout { .. } => u64::try_from(now.saturating_sub(scope.started) / 1000).unwrap_or(0),
            PaceLimit::TokenBudget { max_tokens, count } => {
                let spent = self.spent_in(scope).ok().and_then(TokensUsed::known).map(|tokens| tokens.sum(count));
                // The rule has fired, so at least this many tokens are used up, even if transcripts are gone.
                let before = scope.passed(&rule.digest).map_or(0, |passed| passed.total);
                spent.unwrap_or_else(|| before.saturating_add(*max_tokens))
            }
            PaceLimit::RepeatedCommand { .. }
            | PaceLimit::RepeatedFileEdit { .. }
            | PaceLimit::RequireCommits { .. } => 0,
        };
        let variables = if scope.phase.is_some() { &mut changes.workflow } else { &mut changes.variables };
        let digest = &rule.digest;
        variables.insert(format!("{PASSED}{digest}"), Some(json!(Passed { time: now, total })));
        variables.insert(format!("{MEMORY}{digest}"), None);
        variables.insert(format!("{FULL}{digest}"), None);
    }

    /// The tokens that count towards limits.
    fn spent_in(&self, scope: &PaceScope<'_>) -> Result<TokensUsed, PaceError> {
        let mut spent = self.spent(scope.phase.as_deref())?;
        if let TokensUsed::Known(tokens) = &mut spent {
            *tokens -= scope.tokens_before;
        }
        Ok(spent)
    }

    fn whose<'k>(&'k self, scope: &'k PaceScope<'_>) -> SessionKey<'k> {
        match &scope.phase {
            Some(phase) => store::phase_key(phase),
            None => SessionKey { agent: &self.event.agent, session: &self.event.session },
        }
    }

    fn journal(&self) -> Result<MutexGuard<'_, Store>, PaceError> {
        let journal =
            self.journal.get_or_init(|| Store::open_existing_read(&self.store, self.options).ok().map(Mutex::new));
        journal.as_ref().and_then(|journal| journal.lock().ok()).ok_or_else(unreadable_journal)
    }

    /// Earlier attempts of a lot, oldest first.
    fn earlier(
        &self,
        journal: &Store,
        lot: &str,
        key: &str,
        since: i64,
        scope: &PaceScope<'_>,
    ) -> Result<Vec<Attempt>, StoreError> {
        let counted = journal.attempts(self.whose(scope), lot, since, MAX_COUNTED)?;
        Ok(counted.into_iter().filter_map(|(time, value)| attempt(key, time, value)).collect())
    }

    /// Earlier attempts of the same lots, and this event's own if it is already over.
    fn counted(
        &self,
        digest: &str,
        limit: &PaceLimit,
        attempts: Vec<Attempt>,
        since: i64,
        scope: &PaceScope<'_>,
    ) -> Result<Vec<Attempt>, PaceError> {
        let journal = self.journal()?;
        let session = SessionKey { agent: &self.event.agent, session: &self.event.session };
        let threshold = limit.repetition().map_or(0, |(threshold, _)| threshold);
        let mut found = Vec::new();
        let mut full = Vec::new();
        // Several files of a patch may belong to one lot.
        let keys: BTreeSet<&str> = attempts.iter().map(|attempt| attempt.key.as_str()).collect();
        for key in keys {
            let lot = lot(digest, key);
            let earlier = self.earlier(&journal, &lot, key, since, scope)?;
            let added = attempts.iter().filter(|attempt| attempt.key == key).count();
            if earlier.len() + added >= usize::try_from(threshold).unwrap_or(usize::MAX) {
                full.push(lot);
            }
            found.extend(earlier);
        }
        let is_about_to_run = self.event.kind == EventKind::BeforeTool;
        let counts_failures = matches!(limit, PaceLimit::RepeatedCommand { failures_only: true, .. });
        let is_new = if is_about_to_run {
            // Two hooks may report the same call.
            let is_named = self.event.tool.as_ref().is_some_and(|call| call.id.is_some());
            !(counts_failures || is_named && self.has_allowed_call(&journal, session)?)
        } else {
            counts_failures || !self.has_allowed_call(&journal, session)?
        };
        if is_new {
            self.add(digest, &attempts, since, is_about_to_run, full, scope);
            if !is_about_to_run {
                found.extend(attempts);
            }
        }
        found.sort_by_key(|attempt| attempt.time);
        Ok(found)
    }

    /// True if this call was counted before it ran.
    fn has_allowed_call(&self, journal: &Store, session: SessionKey<'_>) -> Result<bool, StoreError> {
        let Some(call) = &self.event.tool else { return Ok(false) };
        let command = match &call.shell {
            Some(engine::event::ShellText::Command(text)) => Some(text.as_str()),
            _ => None,
        };
        if call.id.is_none() && command.is_none() {
            return Ok(false);
        }
        journal.has_allowed_call(session, call.id.as_deref(), command)
    }

    fn add(
        &self,
        digest: &str,
        attempts: &[Attempt],
        since: i64,
        is_about_to_run: bool,
        full: Vec<String>,
        scope: &PaceScope<'_>,
    ) {
        let counted = attempts.iter().map(|attempt| CountedAttempt {
            phase: scope.phase.clone(),
            group: lot(digest, &attempt.key),
            time: attempt.time,
            value: serde_json::to_value(attempt).unwrap_or_default(),
            since,
        });
        let mut known = self::full(scope.memory, digest);
        let news: Vec<String> = full.into_iter().filter(|lot| !known.contains(lot)).collect();
        let is_news = !news.is_empty() && scope.phase.is_some();
        known.extend(news);
        let excess = known.len().saturating_sub(MAX_FULL);
        known.drain(..excess);
        let added = Added {
            digest: digest.to_owned(),
            counted: counted.collect(),
            is_about_to_run,
            full: is_news.then_some(known),
        };
        if let Ok(mut all) = self.added.lock()
            && !all.iter().any(|known| known.digest == added.digest)
        {
            all.push(added);
        }
    }

    /// Writes the added attempts to the state changes. A refused call does not count.
    pub fn remember_added(&self, is_let_through: bool, changes: &mut StateChanges) {
        let added = self.added.lock().map(|mut added| std::mem::take(&mut *added)).unwrap_or_default();
        for added in added.into_iter().filter(|added| is_let_through || !added.is_about_to_run) {
            changes.attempts.extend(added.counted);
            if let Some(full) = added.full {
                changes.workflow.insert(format!("{FULL}{}", added.digest), Some(json!(full)));
            }
        }
    }
}

/// True if a variable belongs to a phase and is unset with it.
pub fn is_of_phase(variable: &str) -> bool {
    [MEMORY, FULL, PASSED].iter().any(|kept| variable.starts_with(kept))
}

fn unreadable_journal() -> PaceError {
    PaceError::MetricAccessFailed("the journal cannot be opened".to_owned())
}

fn full(memory: &Map<String, Value>, digest: &str) -> Vec<String> {
    let kept = memory.get(&format!("{FULL}{digest}")).and_then(Value::as_array);
    kept.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A recorded attempt; `None` if its format is unknown.
fn attempt(key: &str, time: i64, value: Value) -> Option<Attempt> {
    let attempt: Attempt = serde_json::from_value(value).ok()?;
    Some(Attempt { time, key: key.to_owned(), ..attempt })
}

/// The name of the lot that attempts with this key belong to.
fn lot(digest: &str, key: &str) -> String {
    let key = if key.is_empty() { String::new() } else { short(&policy::digest(key)) };
    format!("{}{key}", lots(digest))
}

/// The prefix of the names of all lots of a rule. It contains the rule's digest, so an edited rule starts at zero.
fn lots(digest: &str) -> String {
    format!("{}/", short(digest))
}

fn short(digest: &str) -> String {
    digest.chars().take(SHORT).collect()
}

/// The offset of local time from UTC in seconds.
fn utc_offset(time: i64) -> i32 {
    Timestamp::from_millisecond(time).map_or(0, |time| TimeZone::system().to_offset(time).seconds())
}

/// What a rule remembers about a phase or session.
#[derive(Default)]
struct Memory {
    is_told: bool,
    refusals: u32,
    closed: Option<PaceState>,
}

impl Memory {
    fn of(variables: &Map<String, Value>, digest: &str) -> Self {
        let Some(kept) = variables.get(&format!("{MEMORY}{digest}")) else { return Self::default() };
        Self {
            is_told: kept.get("told").and_then(Value::as_bool).unwrap_or(false),
            refusals: kept.get("refusals").and_then(Value::as_u64).and_then(|count| count.try_into().ok()).unwrap_or(0),
            closed: kept.get("closed").and_then(|closed| serde_json::from_value(closed.clone()).ok()),
        }
    }

    /// True if the rule has told the agent, or has refused a call or a move. Reaching the limit alone does not count.
    fn has_fired(&self) -> bool {
        self.is_told || self.refusals > 0
    }
}

/// Stores what a rule remembers, in the workflow's or the session's variables.
pub fn remember(memory: &PaceUpdate, is_of_workflow: bool, changes: &mut StateChanges) {
    let PaceUpdate { digest, was_interrupted, refusals, blocked_at } = memory;
    let is_empty = !was_interrupted && *refusals == 0 && blocked_at.is_none();
    let kept = (!is_empty).then(|| json!({"told": was_interrupted, "refusals": refusals, "closed": blocked_at}));
    let variables = if is_of_workflow { &mut changes.workflow } else { &mut changes.variables };
    variables.insert(format!("{MEMORY}{digest}"), kept);
}

/// Marks a rule that refused a move as fired, as if it had interrupted the phase.
pub fn remember_refused_move(rule: &str, variables: &Map<String, Value>, changes: &mut StateChanges) {
    let Memory { refusals, closed, .. } = Memory::of(variables, rule);
    remember(
        &PaceUpdate { digest: rule.to_owned(), was_interrupted: true, refusals, blocked_at: closed },
        true,
        changes,
    );
}

/// The digests of rules that interrupted a session and were not answered yet.
pub fn interrupting(variables: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let digests = variables.keys().filter_map(|name| name.strip_prefix(MEMORY));
    digests.filter(|digest| Memory::of(variables, digest).has_fired())
}
