//! The state of pace rules in a live judgement: earlier counts, the counts that this event adds, and the memory of each
//! rule.
//!
//! A limit on repetitions is only checked if the event itself counts, because no other event can exceed it. So for most
//! events, a pace rule only costs matching its pattern.

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

/// Prefix of the phase variable that stores a rule's memory. The rule's digest follows.
const MEMORY: &str = "_pace:";
/// Prefix of the phase variable that stores the groups that ever reached their threshold. The rule's digest follows. A
/// group has the attempts that are counted together, for example all runs of one command.
const REACHED: &str = "_full:";
/// The maximum number of groups that are checked again at a move.
const MAX_REACHED: usize = 16;
/// Prefix of the phase variable with the point from which a rule's limit counts after `continue`; the rule's digest
/// follows.
const PASSED: &str = "_passed:";
/// The session variable in which earlier versions stored the time of the last `continue`, in milliseconds since 1970.
/// All counts of the session restarted at that time.
const CONTINUED: &str = "_continued";
/// The session variable in which earlier versions stored the number of tokens that the session had used at the last
/// `continue`.
const TOKENS_BEFORE: &str = "_continued_tokens";
/// The maximum count of one group.
const MAX_COUNTED: usize = 1_000;
/// The maximum number of attempts that are read for all groups of a rule together.
const MAX_LISTED: usize = 10_000;
/// The number of characters of a digest that are used in names of groups.
const SHORT: usize = 16;

/// The period over which a pace rule counts: a visit to a node, or a session.
#[derive(Debug, Clone)]
pub struct PaceScope<'a> {
    /// The phase's key in the journal; `None` for the session.
    pub phase: Option<String>,
    /// The node; `None` for the session.
    pub name: Option<String>,
    /// The time from which elapsed time counts, in milliseconds since 1970.
    pub started: i64,
    /// Set only by earlier versions: the time from which windows count.
    pub continued: Option<i64>,
    /// Set only by earlier versions: the tokens that do not count.
    pub tokens_before: Tokens,
    /// Set only by earlier versions: true if limits of time and tokens are not judged until the next move.
    pub totals_are_set_aside: bool,
    /// Set only by earlier versions: true if limits of commits are not judged either.
    pub commits_are_set_aside: bool,
    /// The variables that store the memory of rules.
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
            totals_are_set_aside: false,
            commits_are_set_aside: false,
            memory: &state.variables,
        }
    }

    /// True if a rule is not judged until the next move, because of a `continue`.
    pub fn sets_aside(&self, digest: &str, limit: &PaceLimit) -> bool {
        match limit {
            PaceLimit::RepeatedCommand { .. } | PaceLimit::RepeatedFileEdit { .. } => false,
            PaceLimit::PhaseTimeout { .. } | PaceLimit::TokenBudget { .. } => self.totals_are_set_aside,
            PaceLimit::RequireCommits { .. } => self.commits_are_set_aside || self.passed(digest).is_some(),
        }
    }

    /// True if a rule has interrupted the phase, and there was no `continue` since.
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

/// The point from which the limit of a rule counts after a `continue`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Passed {
    /// Milliseconds since 1970.
    time: i64,
    /// The seconds or tokens that were used up to this point.
    total: u64,
}

pub struct PaceFacts {
    event: Arc<Event>,
    journal_path: PathBuf,
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
    /// True for a call that has not run yet. Its attempts only count if it is allowed.
    is_about_to_run: bool,
    /// All groups that ever reached their threshold, if this event added one to them. Only these groups are checked at a
    /// move.
    reached: Option<Vec<String>>,
}

/// The reason why a rule cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum PaceError {
    #[error("the counters cannot be read: {0}")]
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
        Self { event, journal_path: store, options, journal: OnceLock::new(), tokens, added: Mutex::default() }
    }

    /// The tokens that were used since the beginning of the phase, or of the session if `phase` is `None`.
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
        let Memory { was_interrupted: is_told, refusals, blocked_at: closed } = Memory::of(scope.memory, digest);
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
            _ if scope.totals_are_set_aside => return Ok(None),
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            // Token counts do not change before a call, and the agent is waiting.
            PaceLimit::TokenBudget { .. } if !token_count::has_new_tokens(self.event.kind) => return Ok(None),
            PaceLimit::TokenBudget { .. } => match self.spent_in(scope)? {
                TokensUsed::Behind => return Ok(None),
                // The agent does not see a warning at a stop, but it does after its next call.
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

    /// The state of a rule at a move; `None` if the rule is set aside. `commits` gets the number of phases that the
    /// rule considers, and returns the number of commits in them and the names of these phases.
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
            for group in reached_groups(scope.memory, &rule.digest) {
                attempts.extend(self.earlier(&journal, &group, &group, since, scope)?);
            }
            Ok(attempts)
        };
        self.state_of_all(&rule.digest, &pace.limit, scope, attempts, commits).map(Some)
    }

    /// The state of a rule for reports. It covers all groups, and rules that are set aside, so it reads more than
    /// [`Self::at_move`].
    pub fn for_report(
        &self,
        rule: &Rule,
        scope: &PaceScope<'_>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<Option<PaceState>, PaceError> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        let attempts = |since| {
            let groups = self.journal()?.attempts_by_prefix(
                self.whose(scope),
                &group_prefix(&rule.digest),
                since,
                MAX_LISTED,
            )?;
            let mut attempts: Vec<Attempt> =
                groups.into_iter().filter_map(|(group, time, value)| attempt(&group, time, value)).collect();
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

    /// Restarts the limit of a rule that has fired, because of a `continue`.
    pub fn restart_limit(&self, rule: &Rule, scope: &PaceScope<'_>, changes: &mut StateChanges) {
        let Some(pace) = rule.as_pace_rule() else { return };
        let now = self.event.time;
        let total = match &pace.limit {
            PaceLimit::PhaseTimeout { .. } => u64::try_from(now.saturating_sub(scope.started) / 1000).unwrap_or(0),
            PaceLimit::TokenBudget { max_tokens, count } => {
                let spent = self.spent_in(scope).ok().and_then(TokensUsed::known).map(|tokens| tokens.sum(count));
                // The rule has fired, so at least this many tokens were used, even if the transcripts no longer exist.
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
        variables.insert(format!("{REACHED}{digest}"), None);
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
        let journal = self
            .journal
            .get_or_init(|| Store::open_existing_read(&self.journal_path, self.options).ok().map(Mutex::new));
        journal.as_ref().and_then(|journal| journal.lock().ok()).ok_or_else(unreadable_journal)
    }

    /// Earlier attempts of a group, oldest first.
    fn earlier(
        &self,
        journal: &Store,
        group: &str,
        key: &str,
        since: i64,
        scope: &PaceScope<'_>,
    ) -> Result<Vec<Attempt>, StoreError> {
        let counted = journal.attempts(self.whose(scope), group, since, MAX_COUNTED)?;
        Ok(counted.into_iter().filter_map(|(time, value)| attempt(key, time, value)).collect())
    }

    /// Earlier attempts of the same groups. Includes the attempts of this event if its call has already run.
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
        let mut reached = Vec::new();
        // Several files of a patch may belong to one group.
        let keys: BTreeSet<&str> = attempts.iter().map(|attempt| attempt.key.as_str()).collect();
        for key in keys {
            let group = group_name(digest, key);
            let earlier = self.earlier(&journal, &group, key, since, scope)?;
            let added = attempts.iter().filter(|attempt| attempt.key == key).count();
            if earlier.len() + added >= usize::try_from(threshold).unwrap_or(usize::MAX) {
                reached.push(group);
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
            self.add(digest, &attempts, since, is_about_to_run, reached, scope);
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
        reached: Vec<String>,
        scope: &PaceScope<'_>,
    ) {
        let counted = attempts.iter().map(|attempt| CountedAttempt {
            phase: scope.phase.clone(),
            group: group_name(digest, &attempt.key),
            time: attempt.time,
            value: serde_json::to_value(attempt).unwrap_or_default(),
            since,
        });
        let mut known = reached_groups(scope.memory, digest);
        let news: Vec<String> = reached.into_iter().filter(|group| !known.contains(group)).collect();
        let is_news = !news.is_empty() && scope.phase.is_some();
        known.extend(news);
        let excess = known.len().saturating_sub(MAX_REACHED);
        known.drain(..excess);
        let added = Added {
            digest: digest.to_owned(),
            counted: counted.collect(),
            is_about_to_run,
            reached: is_news.then_some(known),
        };
        if let Ok(mut all) = self.added.lock()
            && !all.iter().any(|known| known.digest == added.digest)
        {
            all.push(added);
        }
    }

    /// Adds the new attempts to the state changes. A refused call does not count.
    pub fn remember_added(&self, is_let_through: bool, changes: &mut StateChanges) {
        let added = self.added.lock().map(|mut added| std::mem::take(&mut *added)).unwrap_or_default();
        for added in added.into_iter().filter(|added| is_let_through || !added.is_about_to_run) {
            changes.attempts.extend(added.counted);
            if let Some(reached) = added.reached {
                changes.workflow.insert(format!("{REACHED}{}", added.digest), Some(json!(reached)));
            }
        }
    }
}

/// True if a variable belongs to a phase. Such variables are unset when the phase ends.
pub fn is_of_phase(variable: &str) -> bool {
    [MEMORY, REACHED, PASSED].iter().any(|kept| variable.starts_with(kept))
}

fn unreadable_journal() -> PaceError {
    PaceError::MetricAccessFailed("the journal cannot be opened".to_owned())
}

fn reached_groups(memory: &Map<String, Value>, digest: &str) -> Vec<String> {
    let kept = memory.get(&format!("{REACHED}{digest}")).and_then(Value::as_array);
    kept.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A recorded attempt; `None` if its format is unknown.
fn attempt(key: &str, time: i64, value: Value) -> Option<Attempt> {
    let attempt: Attempt = serde_json::from_value(value).ok()?;
    Some(Attempt { time, key: key.to_owned(), ..attempt })
}

/// The name of the group that attempts with this key belong to.
fn group_name(digest: &str, key: &str) -> String {
    let key = if key.is_empty() { String::new() } else { short(&policy::digest(key)) };
    format!("{}{key}", group_prefix(digest))
}

/// The prefix of the names of all groups of a rule. It contains the rule's digest, so an edited rule starts at zero.
fn group_prefix(digest: &str) -> String {
    format!("{}/", short(digest))
}

fn short(digest: &str) -> String {
    digest.chars().take(SHORT).collect()
}

/// The offset of local time from UTC in seconds.
fn utc_offset(time: i64) -> i32 {
    Timestamp::from_millisecond(time).map_or(0, |time| TimeZone::system().to_offset(time).seconds())
}

/// The memory of a rule about a phase or session.
#[derive(Default)]
struct Memory {
    was_interrupted: bool,
    refusals: u32,
    blocked_at: Option<PaceState>,
}

impl Memory {
    fn of(variables: &Map<String, Value>, digest: &str) -> Self {
        let Some(kept) = variables.get(&format!("{MEMORY}{digest}")) else { return Self::default() };
        Self {
            was_interrupted: kept.get("told").and_then(Value::as_bool).unwrap_or(false),
            refusals: kept.get("refusals").and_then(Value::as_u64).and_then(|count| count.try_into().ok()).unwrap_or(0),
            blocked_at: kept.get("closed").and_then(|closed| serde_json::from_value(closed.clone()).ok()),
        }
    }

    /// True if the rule has interrupted the agent, or has refused a call or a move. Reaching the limit alone does not
    /// count.
    fn has_fired(&self) -> bool {
        self.was_interrupted || self.refusals > 0
    }
}

/// Stores the memory of a rule in the variables of the workflow or of the session.
pub fn remember(memory: &PaceUpdate, is_of_workflow: bool, changes: &mut StateChanges) {
    let PaceUpdate { digest, was_interrupted, refusals, blocked_at } = memory;
    let is_empty = !was_interrupted && *refusals == 0 && blocked_at.is_none();
    let kept = (!is_empty).then(|| json!({"told": was_interrupted, "refusals": refusals, "closed": blocked_at}));
    let variables = if is_of_workflow { &mut changes.workflow } else { &mut changes.variables };
    variables.insert(format!("{MEMORY}{digest}"), kept);
}

/// Marks a rule that refused a move as fired, as if it had interrupted the phase.
pub fn remember_refused_move(rule: &str, variables: &Map<String, Value>, changes: &mut StateChanges) {
    let Memory { refusals, blocked_at: closed, .. } = Memory::of(variables, rule);
    remember(
        &PaceUpdate { digest: rule.to_owned(), was_interrupted: true, refusals, blocked_at: closed },
        true,
        changes,
    );
}

/// The digests of rules that interrupted a session, without a `continue` since.
pub fn interrupting(variables: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let digests = variables.keys().filter_map(|name| name.strip_prefix(MEMORY));
    digests.filter(|digest| Memory::of(variables, digest).has_fired())
}
