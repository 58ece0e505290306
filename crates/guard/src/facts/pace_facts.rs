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
const MEMORY_PREFIX: &str = "_pace:";
/// Prefix of the phase variable that stores the groups that ever reached their threshold. The rule's digest follows. A
/// group has the attempts that are counted together, for example all runs of one command.
const REACHED_PREFIX: &str = "_full:";
/// The maximum number of groups that are checked again at a move.
const MAX_REACHED_GROUPS: usize = 16;
/// Prefix of the phase variable with the [`ContinuePoint`] of a rule. The rule's digest follows.
const CONTINUE_POINT_PREFIX: &str = "_passed:";
/// The session variable in which earlier versions stored the time of the last `continue`, in milliseconds since 1970.
/// All counts of the session restarted at that time.
const CONTINUED: &str = "_continued";
/// The session variable in which earlier versions stored the number of tokens that the session had used at the last
/// `continue`.
const TOKENS_BEFORE: &str = "_continued_tokens";
/// The maximum count of one group.
const MAX_GROUP_COUNT: usize = 1_000;
/// The maximum number of attempts that are read for all groups of a rule together.
const MAX_ATTEMPTS_READ: usize = 10_000;
/// The number of characters of a digest that are used in names of groups.
const SHORT_DIGEST_LENGTH: usize = 16;

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
    pub fn is_set_aside(&self, digest: &str, limit: &PaceLimit) -> bool {
        match limit {
            PaceLimit::RepeatedCommand { .. } | PaceLimit::RepeatedFileEdit { .. } => false,
            PaceLimit::PhaseTimeout { .. } | PaceLimit::TokenBudget { .. } => self.totals_are_set_aside,
            PaceLimit::RequireCommits { .. } => self.commits_are_set_aside || self.continue_point(digest).is_some(),
        }
    }

    /// True if a rule has interrupted the phase, and there was no `continue` since.
    pub fn has_fired(&self, digest: &str) -> bool {
        Memory::of(self.memory, digest).has_fired()
    }

    fn continue_point(&self, digest: &str) -> Option<ContinuePoint> {
        let stored = self.memory.get(&format!("{CONTINUE_POINT_PREFIX}{digest}"))?;
        serde_json::from_value(stored.clone()).ok()
    }

    /// The time of the last `continue` that applies to the rule. Attempts before it do not count.
    fn last_continue(&self, digest: &str) -> Option<i64> {
        self.continued.max(self.continue_point(digest).map(|point| point.time))
    }
}

/// The point from which the limit of a rule counts after a `continue`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ContinuePoint {
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
    added: Mutex<Vec<AddedAttempts>>,
}

/// The attempts that an event adds to the counts of a rule.
struct AddedAttempts {
    digest: String,
    counted: Vec<CountedAttempt>,
    /// True if the event's tool call has not run yet. The attempts in `counted` are then stored only if the call is
    /// allowed.
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
    pub fn new(
        event: Arc<Event>,
        journal_path: PathBuf,
        options: store::StoreOptions,
        tokens: Arc<TokenCount>,
    ) -> Self {
        Self { event, journal_path, options, journal: OnceLock::new(), tokens, added: Mutex::default() }
    }

    /// The tokens that were used since the beginning of the phase, or of the session if `phase` is `None`.
    pub fn tokens_used(&self, phase: Option<&str>) -> Result<TokensUsed, PaceError> {
        self.tokens.tokens_used(phase).ok_or_else(unreadable_journal)
    }

    /// The state of a rule at this event; `None` if the event cannot change the rule's result.
    pub fn state_at_event(
        &self,
        rule: PaceRuleRef<'_>,
        activity: Option<&Activity>,
        scope: &PaceScope<'_>,
    ) -> Result<Option<PaceState>, PaceError> {
        let PaceRuleRef { digest, pace, .. } = rule;
        let Memory { was_interrupted, refusals, blocked_at } = Memory::of(scope.memory, digest);
        if let Some(state) = blocked_at {
            return Ok(Some(PaceState { was_interrupted, refusals, is_blocking: true, ..state }));
        }
        let now = self.event.time;
        let phase = Phase { name: scope.name.clone(), started: scope.started, now, utc_offset: 0 };
        let mut since = phase.started;
        let tally = match &pace.limit {
            PaceLimit::RepeatedCommand { window, .. } | PaceLimit::RepeatedFileEdit { window, .. } => {
                since = phase.window_start(*window, scope.last_continue(digest));
                let Some(activity) = activity else { return Ok(None) };
                let attempts = activity
                    .counted(&pace.limit, now)
                    .map_err(|error| PaceError::RegexMatchFailed(error.to_string()))?;
                if attempts.is_empty() {
                    return Ok(None);
                }
                Tally::of_attempts(self.count_attempts(digest, &pace.limit, attempts, since, scope)?)
            }
            _ if scope.totals_are_set_aside => return Ok(None),
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            // Token counts do not change before a call, and the agent is waiting.
            PaceLimit::TokenBudget { .. } if !token_count::has_new_tokens(self.event.kind) => return Ok(None),
            PaceLimit::TokenBudget { .. } => match self.counted_tokens(scope)? {
                TokensUsed::Incomplete => return Ok(None),
                // The agent does not see a warning at a stop, but it does after its next call.
                _ if self.event.kind.is_stop() && pace.live == LiveMode::Warn => return Ok(None),
                spent => Tally::Tokens(spent.known()),
            },
            PaceLimit::RequireCommits { .. } => return Ok(None),
        };

        let continued_from = scope.continue_point(digest).map_or(0, |point| point.total);
        let mut state = PaceState {
            phase,
            tally,
            window_start: since,
            was_interrupted,
            refusals,
            is_blocking: false,
            continued_from,
        };
        // The local time zone is only looked up if the message needs it.
        if pace.judge(&state).is_some() {
            state.phase.utc_offset = utc_offset(now);
        }
        Ok(Some(state))
    }

    /// The state of a rule at a move; `None` if the rule is set aside. `commits` gets the number of phases that the
    /// rule considers, and returns the number of commits in them and the names of these phases.
    pub fn state_at_move(
        &self,
        rule: &Rule,
        scope: &PaceScope<'_>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<Option<PaceState>, PaceError> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        if scope.is_set_aside(&rule.digest, &pace.limit) {
            return Ok(None);
        }
        let attempts = |since| {
            let journal = self.journal()?;
            let mut attempts = Vec::new();
            for group in reached_groups(scope.memory, &rule.digest) {
                attempts.extend(self.earlier_attempts(&journal, &group, &group, since, scope)?);
            }
            Ok(attempts)
        };
        self.state_of_all_attempts(&rule.digest, &pace.limit, scope, attempts, commits).map(Some)
    }

    /// The state of a rule for reports. It covers all groups, and rules that are set aside, so it reads more than
    /// [`Self::state_at_move`].
    pub fn state_for_report(
        &self,
        rule: &Rule,
        scope: &PaceScope<'_>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<Option<PaceState>, PaceError> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        let attempts = |since| {
            let groups = self.journal()?.attempts_by_prefix(
                self.session_key(scope),
                &group_prefix(&rule.digest),
                since,
                MAX_ATTEMPTS_READ,
            )?;
            let mut attempts: Vec<Attempt> =
                groups.into_iter().filter_map(|(group, time, value)| parse_attempt(&group, time, value)).collect();
            attempts.sort_by_key(|attempt| attempt.time);
            Ok(attempts)
        };
        self.state_of_all_attempts(&rule.digest, &pace.limit, scope, attempts, commits).map(Some)
    }

    /// The state of a rule over all attempts. `attempts` returns those since a time.
    fn state_of_all_attempts(
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
                since = phase.window_start(*window, scope.last_continue(digest));
                Tally::of_attempts(attempts(since)?)
            }
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            PaceLimit::TokenBudget { .. } => Tally::Tokens(self.counted_tokens(scope)?.known()),
            PaceLimit::RequireCommits { lookback_phases } => {
                let (count, phases) = commits(*lookback_phases);
                Tally::Commits { count, phases }
            }
        };
        let continued_from = scope.continue_point(digest).map_or(0, |point| point.total);
        Ok(PaceState {
            phase,
            tally,
            window_start: since,
            was_interrupted: false,
            refusals: 0,
            is_blocking: false,
            continued_from,
        })
    }

    /// Restarts the limit of a rule that has fired, because of a `continue`.
    pub fn restart_limit(&self, rule: &Rule, scope: &PaceScope<'_>, changes: &mut StateChanges) {
        let Some(pace) = rule.as_pace_rule() else { return };
        let now = self.event.time;
        let total = match &pace.limit {
            PaceLimit::PhaseTimeout { .. } => u64::try_from(now.saturating_sub(scope.started) / 1000).unwrap_or(0),
            PaceLimit::TokenBudget { max_tokens, count } => {
                let spent = self.counted_tokens(scope).ok().and_then(TokensUsed::known).map(|tokens| tokens.sum(count));
                // The rule has fired, so at least this many tokens were used, even if the transcripts no longer exist.
                let before = scope.continue_point(&rule.digest).map_or(0, |point| point.total);
                spent.unwrap_or_else(|| before.saturating_add(*max_tokens))
            }
            PaceLimit::RepeatedCommand { .. }
            | PaceLimit::RepeatedFileEdit { .. }
            | PaceLimit::RequireCommits { .. } => 0,
        };
        let variables =
            if scope.phase.is_some() { &mut changes.workflow_variables } else { &mut changes.session_variables };
        let digest = &rule.digest;
        variables.insert(format!("{CONTINUE_POINT_PREFIX}{digest}"), Some(json!(ContinuePoint { time: now, total })));
        variables.insert(format!("{MEMORY_PREFIX}{digest}"), None);
        variables.insert(format!("{REACHED_PREFIX}{digest}"), None);
    }

    /// The tokens that count towards limits.
    fn counted_tokens(&self, scope: &PaceScope<'_>) -> Result<TokensUsed, PaceError> {
        let mut spent = self.tokens_used(scope.phase.as_deref())?;
        if let TokensUsed::Known(tokens) = &mut spent {
            *tokens -= scope.tokens_before;
        }
        Ok(spent)
    }

    fn session_key<'k>(&'k self, scope: &'k PaceScope<'_>) -> SessionKey<'k> {
        match &scope.phase {
            Some(phase) => store::phase_key(phase),
            None => SessionKey { agent: &self.event.agent, session: &self.event.session },
        }
    }

    fn journal(&self) -> Result<MutexGuard<'_, Store>, PaceError> {
        let journal =
            self.journal.get_or_init(|| Store::open_read_only(&self.journal_path, self.options).ok().map(Mutex::new));
        journal.as_ref().and_then(|journal| journal.lock().ok()).ok_or_else(unreadable_journal)
    }

    /// Earlier attempts of a group, oldest first.
    fn earlier_attempts(
        &self,
        journal: &Store,
        group: &str,
        key: &str,
        since: i64,
        scope: &PaceScope<'_>,
    ) -> Result<Vec<Attempt>, StoreError> {
        let counted = journal.attempts(self.session_key(scope), group, since, MAX_GROUP_COUNT)?;
        Ok(counted.into_iter().filter_map(|(time, value)| parse_attempt(key, time, value)).collect())
    }

    /// Adds this event's attempts, and returns the earlier attempts of the same groups. Includes this event's attempts if
    /// its call has already run.
    fn count_attempts(
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
            let earlier = self.earlier_attempts(&journal, &group, key, since, scope)?;
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
            let has_id = self.event.tool.as_ref().is_some_and(|call| call.id.is_some());
            !(counts_failures || has_id && self.has_allowed_call(&journal, session)?)
        } else {
            counts_failures || !self.has_allowed_call(&journal, session)?
        };
        if is_new {
            self.add_attempts(digest, &attempts, since, is_about_to_run, reached, scope);
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

    fn add_attempts(
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
        let mut groups = reached_groups(scope.memory, digest);
        let new: Vec<String> = reached.into_iter().filter(|group| !groups.contains(group)).collect();
        let is_changed = !new.is_empty() && scope.phase.is_some();
        groups.extend(new);
        let excess = groups.len().saturating_sub(MAX_REACHED_GROUPS);
        groups.drain(..excess);
        let added = AddedAttempts {
            digest: digest.to_owned(),
            counted: counted.collect(),
            is_about_to_run,
            reached: is_changed.then_some(groups),
        };
        if let Ok(mut all) = self.added.lock()
            && !all.iter().any(|other| other.digest == added.digest)
        {
            all.push(added);
        }
    }

    /// Adds the new attempts to the state changes. A refused call does not count.
    pub fn store_added_attempts(&self, is_permitted: bool, changes: &mut StateChanges) {
        let added = self.added.lock().map(|mut added| std::mem::take(&mut *added)).unwrap_or_default();
        for added in added.into_iter().filter(|added| is_permitted || !added.is_about_to_run) {
            changes.attempts.extend(added.counted);
            if let Some(reached) = added.reached {
                changes.workflow_variables.insert(format!("{REACHED_PREFIX}{}", added.digest), Some(json!(reached)));
            }
        }
    }
}

/// True if a variable belongs to a phase. Such variables are unset when the phase ends.
pub fn is_phase_variable(variable: &str) -> bool {
    [MEMORY_PREFIX, REACHED_PREFIX, CONTINUE_POINT_PREFIX].iter().any(|prefix| variable.starts_with(prefix))
}

fn unreadable_journal() -> PaceError {
    PaceError::MetricAccessFailed("the journal cannot be opened".to_owned())
}

fn reached_groups(memory: &Map<String, Value>, digest: &str) -> Vec<String> {
    let stored = memory.get(&format!("{REACHED_PREFIX}{digest}")).and_then(Value::as_array);
    stored.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A recorded attempt; `None` if its format is unknown.
fn parse_attempt(key: &str, time: i64, value: Value) -> Option<Attempt> {
    let attempt: Attempt = serde_json::from_value(value).ok()?;
    Some(Attempt { time, key: key.to_owned(), ..attempt })
}

/// The name of the group that attempts with this key belong to.
fn group_name(digest: &str, key: &str) -> String {
    let key = if key.is_empty() { String::new() } else { short_digest(&policy::digest(key)) };
    format!("{}{key}", group_prefix(digest))
}

/// The prefix of the names of all groups of a rule. It contains the rule's digest, so an edited rule starts at zero.
fn group_prefix(digest: &str) -> String {
    format!("{}/", short_digest(digest))
}

fn short_digest(digest: &str) -> String {
    digest.chars().take(SHORT_DIGEST_LENGTH).collect()
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
        let Some(stored) = variables.get(&format!("{MEMORY_PREFIX}{digest}")) else { return Self::default() };
        Self {
            was_interrupted: stored.get("told").and_then(Value::as_bool).unwrap_or(false),
            refusals: stored
                .get("refusals")
                .and_then(Value::as_u64)
                .and_then(|count| count.try_into().ok())
                .unwrap_or(0),
            blocked_at: stored.get("closed").and_then(|state| serde_json::from_value(state.clone()).ok()),
        }
    }

    /// True if the rule has interrupted the agent, or has refused a call or a move. Reaching the limit alone does not
    /// count.
    fn has_fired(&self) -> bool {
        self.was_interrupted || self.refusals > 0
    }
}

/// Stores the memory of a rule in the variables of the workflow or of the session.
pub fn store_memory(memory: &PaceUpdate, is_of_workflow: bool, changes: &mut StateChanges) {
    let PaceUpdate { digest, was_interrupted, refusals, blocked_at } = memory;
    let is_empty = !was_interrupted && *refusals == 0 && blocked_at.is_none();
    let stored = (!is_empty).then(|| json!({"told": was_interrupted, "refusals": refusals, "closed": blocked_at}));
    let variables = if is_of_workflow { &mut changes.workflow_variables } else { &mut changes.session_variables };
    variables.insert(format!("{MEMORY_PREFIX}{digest}"), stored);
}

/// Marks a rule that refused a move as fired, as if it had interrupted the phase.
pub fn mark_as_fired(rule: &str, variables: &Map<String, Value>, changes: &mut StateChanges) {
    let Memory { refusals, blocked_at, .. } = Memory::of(variables, rule);
    store_memory(&PaceUpdate { digest: rule.to_owned(), was_interrupted: true, refusals, blocked_at }, true, changes);
}

/// The digests of rules that interrupted a session, without a `continue` since.
pub fn digests_of_fired_rules(variables: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let digests = variables.keys().filter_map(|name| name.strip_prefix(MEMORY_PREFIX));
    digests.filter(|digest| Memory::of(variables, digest).has_fired())
}
