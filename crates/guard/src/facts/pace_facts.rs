//! The state of pace rules in a live judgement: stored counts, the counts that the judged event adds, and the memory of
//! what each rule has done.
//!
//! A limit of repetitions is checked only at events that count towards this limit, because no other event can cause it
//! to be exceeded. So at most events, all that is done for a rule with such a limit is to match its pattern.

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
use store::{CountedAttempt, SessionKey, StateChanges, Store, StoreError, StoredState};

use super::token_count;
use super::token_count::{TokenCount, TokensUsed};

/// Prefix of the variable that stores the [`Memory`] of a rule. The rule's digest follows.
const MEMORY_PREFIX: &str = "_pace:";
/// Prefix of the phase variable that stores which groups of a rule reached the rule's threshold in the phase. The
/// rule's digest follows. A group consists of the attempts that are counted together, for example all calls of one
/// command.
const REACHED_PREFIX: &str = "_full:";
/// The maximum number of groups that are stored for a rule because they reached its threshold. The latest are kept. At
/// a move of the workflow, only the stored groups are checked.
const MAX_REACHED_GROUPS: usize = 16;
/// Prefix of the variable that stores the [`ContinuePoint`] of a rule. The rule's digest follows.
const CONTINUE_POINT_PREFIX: &str = "_passed:";
/// The session variable in which earlier versions of Linchpin stored the time of the last `linchpin continue`, in
/// milliseconds since 1970. All counts of the session, except that of tokens, start at that time.
const CONTINUED: &str = "_continued";
/// The session variable in which earlier versions of Linchpin stored the number of tokens that the session had used
/// when `linchpin continue` was last run.
const TOKENS_BEFORE: &str = "_continued_tokens";
/// The maximum number of attempts that are read for one group.
const MAX_GROUP_COUNT: usize = 1_000;
/// The maximum number of attempts that are read for a report, for all groups of a rule together.
const MAX_ATTEMPTS_READ: usize = 10_000;
/// The length to which the two digests in the name of a group are cut, in characters.
const SHORT_DIGEST_LENGTH: usize = 16;

/// The period over which a pace rule counts: a phase or a session.
#[derive(Debug, Clone)]
pub struct PaceScope<'a> {
    /// The phase's key in the journal; `None` for a session.
    pub phase_key: Option<String>,
    /// The phase's node; `None` for a session.
    pub node: Option<String>,
    /// The start of the phase or session, in milliseconds since 1970. Elapsed time is measured from this start.
    pub started: i64,
    /// Set only by earlier versions of Linchpin: the time of the last `linchpin continue`. Attempts before it do not
    /// count.
    pub continued: Option<i64>,
    /// Set only by earlier versions of Linchpin: the tokens that were used before the last `linchpin continue`. These
    /// tokens do not count.
    pub tokens_before: Tokens,
    /// True if limits of time and tokens are not judged until the next move. Only `linchpin continue` of earlier
    /// versions did this.
    pub total_limits_are_off: bool,
    /// True if limits of commits are not judged until the next move. Only `linchpin continue` of earlier versions did
    /// this.
    pub commit_limits_are_off: bool,
    /// The variables of the workflow or of the session, which include the memory of what each rule has done.
    pub variables: &'a Map<String, Value>,
}

impl<'a> PaceScope<'a> {
    pub fn of_session(state: &'a StoredState, now: i64) -> Self {
        let continued = state.variables.get(CONTINUED).and_then(Value::as_i64);
        let before = state.variables.get(TOKENS_BEFORE).cloned();
        Self {
            phase_key: None,
            node: None,
            started: state.first_seen.unwrap_or(now).max(continued.unwrap_or(i64::MIN)),
            continued,
            tokens_before: before.and_then(|before| serde_json::from_value(before).ok()).unwrap_or_default(),
            total_limits_are_off: false,
            commit_limits_are_off: false,
            variables: &state.variables,
        }
    }

    /// True if a limit is not judged until the workflow's next move, because `linchpin continue` was run.
    pub fn is_limit_off(&self, digest: &str, limit: &PaceLimit) -> bool {
        match limit {
            PaceLimit::RepeatedCommand { .. } | PaceLimit::RepeatedFileEdit { .. } => false,
            PaceLimit::PhaseTimeout { .. } | PaceLimit::TokenBudget { .. } => self.total_limits_are_off,
            PaceLimit::RequireCommits { .. } => self.commit_limits_are_off || self.continue_point(digest).is_some(),
        }
    }

    /// True if a rule has fired since the last `linchpin continue`: it interrupted the agent, or it refused a call or a
    /// move.
    pub fn has_fired(&self, digest: &str) -> bool {
        Memory::of(self.variables, digest).has_fired()
    }

    fn continue_point(&self, digest: &str) -> Option<ContinuePoint> {
        let stored = self.variables.get(&format!("{CONTINUE_POINT_PREFIX}{digest}"))?;
        serde_json::from_value(stored.clone()).ok()
    }

    /// The time of the last `linchpin continue` that restarted the rule's limit. Attempts before that time do not
    /// count.
    fn last_continue(&self, digest: &str) -> Option<i64> {
        self.continued.max(self.continue_point(digest).map(|point| point.time))
    }
}

/// The last `linchpin continue` that restarted the limit of a rule.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ContinuePoint {
    /// Milliseconds since 1970.
    time: i64,
    /// The seconds or tokens that were used before this `linchpin continue`. They do not count towards the limit.
    total: u64,
}

/// The facts for pace rules at one event or command.
pub struct PaceFacts {
    event: Arc<Event>,
    journal_path: PathBuf,
    options: store::StoreOptions,
    /// Opened when stored counts are first needed; `None` if the journal cannot be opened.
    journal: OnceLock<Option<Mutex<Store>>>,
    tokens: Arc<TokenCount>,
    /// The attempts that this event adds, with one item for each rule.
    added: Mutex<Vec<AddedAttempts>>,
}

/// The attempts that an event adds to the counts of a rule.
struct AddedAttempts {
    digest: String,
    counted: Vec<CountedAttempt>,
    /// True if the event's tool call has not run yet. Then the attempts in `counted` are stored only if the call is
    /// allowed.
    is_about_to_run: bool,
    /// The new list of the rule's groups that reached its threshold in the phase; `None` if this event adds no group to
    /// the stored list, or if the rule counts over a session.
    reached: Option<Vec<String>>,
}

/// The reason why a rule cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum PaceError {
    #[error("the counters cannot be read: {0}")]
    MetricAccessFailed(String),
    /// An error when the rule's regex was matched.
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

    /// The tokens that were used in the phase, or in the session if `phase` is `None`.
    pub fn tokens_used(&self, phase: Option<&str>) -> Result<TokensUsed, PaceError> {
        self.tokens.tokens_used(phase).ok_or_else(unreadable_journal)
    }

    /// The state of a rule at this event; `None` if the rule is not judged at this event, for example because the event
    /// does not count towards the rule's limit.
    pub fn state_at_event(
        &self,
        rule: PaceRuleRef<'_>,
        activity: Option<&Activity>,
        scope: &PaceScope<'_>,
    ) -> Result<Option<PaceState>, PaceError> {
        let PaceRuleRef { digest, pace, .. } = rule;
        let Memory { was_interrupted, refusals, blocked_at } = Memory::of(scope.variables, digest);
        if let Some(state) = blocked_at {
            return Ok(Some(PaceState { was_interrupted, refusals, is_blocking: true, ..state }));
        }
        let now = self.event.time;
        let phase = Phase { name: scope.node.clone(), started: scope.started, now, utc_offset: 0 };
        let mut since = phase.started;
        let tally = match &pace.limit {
            PaceLimit::RepeatedCommand { window, .. } | PaceLimit::RepeatedFileEdit { window, .. } => {
                since = phase.window_start(*window, scope.last_continue(digest));
                let Some(activity) = activity else { return Ok(None) };
                let attempts = activity
                    .attempts(&pace.limit, now)
                    .map_err(|error| PaceError::RegexMatchFailed(error.to_string()))?;
                if attempts.is_empty() {
                    return Ok(None);
                }
                Tally::of_attempts(self.count_attempts(digest, &pace.limit, attempts, since, scope)?)
            }
            _ if scope.total_limits_are_off => return Ok(None),
            PaceLimit::PhaseTimeout { .. } => Tally::Time,
            // Transcripts are read only at events before which agents have written new messages to them.
            PaceLimit::TokenBudget { .. } if !token_count::has_new_tokens(self.event.kind) => return Ok(None),
            PaceLimit::TokenBudget { .. } => match self.counted_tokens(scope)? {
                TokensUsed::Incomplete => return Ok(None),
                // At a stop, the agent would not see the warning, so the warning is given at the agent's next call.
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
        // The local time zone is looked up only if the rule gives a message, which contains local times.
        if pace.judge(&state).is_some() {
            state.phase.utc_offset = utc_offset(now);
        }
        Ok(Some(state))
    }

    /// The state of a rule at a move of the workflow; `None` if the rule's limit is off, or if the rule is not a pace
    /// rule. `commits` takes the number of phases that the rule considers. It returns the number of commits in these
    /// phases (`None` if unknown), and the nodes of these phases.
    pub fn state_at_move(
        &self,
        rule: &Rule,
        scope: &PaceScope<'_>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<Option<PaceState>, PaceError> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        if scope.is_limit_off(&rule.digest, &pace.limit) {
            return Ok(None);
        }
        let attempts = |since| {
            let journal = self.journal()?;
            let mut attempts = Vec::new();
            for group in reached_groups(scope.variables, &rule.digest) {
                attempts.extend(self.earlier_attempts(&journal, &group, &group, since, scope)?);
            }
            Ok(attempts)
        };
        self.state_of_all_attempts(&rule.digest, &pace.limit, scope, attempts, commits).map(Some)
    }

    /// The state of a rule for reports; `None` if the rule is not a pace rule. Unlike [`Self::state_at_move`], this
    /// includes all groups of the rule, and returns the state also if the rule's limit is off.
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

    /// The state of a rule at a move or in a report. `attempts` gets a time, and returns the rule's attempts since that
    /// time.
    fn state_of_all_attempts(
        &self,
        digest: &str,
        limit: &PaceLimit,
        scope: &PaceScope<'_>,
        attempts: impl FnOnce(i64) -> Result<Vec<Attempt>, PaceError>,
        commits: impl FnOnce(u32) -> (Option<u32>, Vec<String>),
    ) -> Result<PaceState, PaceError> {
        let now = self.event.time;
        let phase = Phase { name: scope.node.clone(), started: scope.started, now, utc_offset: utc_offset(now) };
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

    /// For `linchpin continue`: adds to the changes that a rule's limit is restarted.
    pub fn restart_limit(&self, rule: &Rule, scope: &PaceScope<'_>, changes: &mut StateChanges) {
        let Some(pace) = rule.as_pace_rule() else { return };
        let now = self.event.time;
        let total = match &pace.limit {
            PaceLimit::PhaseTimeout { .. } => u64::try_from(now.saturating_sub(scope.started) / 1000).unwrap_or(0),
            PaceLimit::TokenBudget { max_tokens, count } => {
                let spent = self.counted_tokens(scope).ok().and_then(TokensUsed::known).map(|tokens| tokens.sum(count));
                // The number of used tokens may be unknown, because the transcripts no longer exist. Since the rule has
                // fired, at least `max_tokens` were used after the previous `linchpin continue`.
                let before = scope.continue_point(&rule.digest).map_or(0, |point| point.total);
                spent.unwrap_or_else(|| before.saturating_add(*max_tokens))
            }
            PaceLimit::RepeatedCommand { .. }
            | PaceLimit::RepeatedFileEdit { .. }
            | PaceLimit::RequireCommits { .. } => 0,
        };
        let variables =
            if scope.phase_key.is_some() { &mut changes.workflow_variables } else { &mut changes.session_variables };
        let digest = &rule.digest;
        variables.insert(format!("{CONTINUE_POINT_PREFIX}{digest}"), Some(json!(ContinuePoint { time: now, total })));
        variables.insert(format!("{MEMORY_PREFIX}{digest}"), None);
        variables.insert(format!("{REACHED_PREFIX}{digest}"), None);
    }

    /// The used tokens, without those from before a `linchpin continue` of an earlier version of Linchpin.
    fn counted_tokens(&self, scope: &PaceScope<'_>) -> Result<TokensUsed, PaceError> {
        let mut spent = self.tokens_used(scope.phase_key.as_deref())?;
        if let TokensUsed::Known(tokens) = &mut spent {
            *tokens -= scope.tokens_before;
        }
        Ok(spent)
    }

    /// The key under which the journal stores the attempts of this phase or session.
    fn session_key<'k>(&'k self, scope: &'k PaceScope<'_>) -> SessionKey<'k> {
        match &scope.phase_key {
            Some(phase) => store::phase_key(phase),
            None => SessionKey { agent: &self.event.agent, session: &self.event.session },
        }
    }

    /// The journal, opened read-only.
    fn journal(&self) -> Result<MutexGuard<'_, Store>, PaceError> {
        let journal =
            self.journal.get_or_init(|| Store::open_read_only(&self.journal_path, self.options).ok().map(Mutex::new));
        journal.as_ref().and_then(|journal| journal.lock().ok()).ok_or_else(unreadable_journal)
    }

    /// Reads the attempts of a group from the journal, from the time `since` on, oldest first. The journal does not
    /// store the key of an attempt, so every returned attempt gets `key`: all attempts of a group have the same key.
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

    /// Returns all attempts of the groups to which this event's attempts belong: the stored ones and, if this event's
    /// call has already run and was not counted before, those of this event. New attempts are kept for
    /// [`Self::add_attempts_to`].
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
        let mut counted = Vec::new();
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
            counted.extend(earlier);
        }
        let is_about_to_run = self.event.kind == EventKind::BeforeTool;
        let counts_failures = matches!(limit, PaceLimit::RepeatedCommand { failures_only: true, .. });
        let is_new = if is_about_to_run {
            // Two hooks may report the same call, but a call must be counted only once.
            let has_id = self.event.tool.as_ref().is_some_and(|call| call.id.is_some());
            !(counts_failures || has_id && self.has_allowed_call(&journal, session)?)
        } else {
            counts_failures || !self.has_allowed_call(&journal, session)?
        };
        if is_new {
            self.note_attempts(digest, &attempts, since, is_about_to_run, reached, scope);
            if !is_about_to_run {
                counted.extend(attempts);
            }
        }
        counted.sort_by_key(|attempt| attempt.time);
        Ok(counted)
    }

    /// True if the journal has an earlier event in which this call was allowed. Then the call was counted at that
    /// event, before the call ran.
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

    /// Keeps attempts of a rule for [`Self::add_attempts_to`]. `reached` has the rule's groups that are at its
    /// threshold with this event.
    fn note_attempts(
        &self,
        digest: &str,
        attempts: &[Attempt],
        since: i64,
        is_about_to_run: bool,
        reached: Vec<String>,
        scope: &PaceScope<'_>,
    ) {
        let counted = attempts.iter().map(|attempt| CountedAttempt {
            phase: scope.phase_key.clone(),
            group: group_name(digest, &attempt.key),
            time: attempt.time,
            value: serde_json::to_value(attempt).unwrap_or_default(),
            since,
        });
        let mut groups = reached_groups(scope.variables, digest);
        let new: Vec<String> = reached.into_iter().filter(|group| !groups.contains(group)).collect();
        let is_changed = !new.is_empty() && scope.phase_key.is_some();
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

    /// Adds this event's attempts to the changes, except the attempts of a call that has not run yet and is not
    /// permitted.
    pub fn add_attempts_to(&self, is_permitted: bool, changes: &mut StateChanges) {
        let added = self.added.lock().map(|mut added| std::mem::take(&mut *added)).unwrap_or_default();
        for added in added.into_iter().filter(|added| is_permitted || !added.is_about_to_run) {
            changes.attempts.extend(added.counted);
            if let Some(reached) = added.reached {
                changes.workflow_variables.insert(format!("{REACHED_PREFIX}{}", added.digest), Some(json!(reached)));
            }
        }
    }
}

/// True if a workflow variable belongs to a phase. Such variables are unset when the phase ends.
pub fn is_phase_variable(variable: &str) -> bool {
    [MEMORY_PREFIX, REACHED_PREFIX, CONTINUE_POINT_PREFIX].iter().any(|prefix| variable.starts_with(prefix))
}

fn unreadable_journal() -> PaceError {
    PaceError::MetricAccessFailed("the journal cannot be opened".to_owned())
}

/// The stored groups of a rule that reached its threshold in the phase.
fn reached_groups(variables: &Map<String, Value>, digest: &str) -> Vec<String> {
    let stored = variables.get(&format!("{REACHED_PREFIX}{digest}")).and_then(Value::as_array);
    stored.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A recorded attempt; `None` if its format is unknown.
fn parse_attempt(key: &str, time: i64, value: Value) -> Option<Attempt> {
    let attempt: Attempt = serde_json::from_value(value).ok()?;
    Some(Attempt { time, key: key.to_owned(), ..attempt })
}

/// The name of the group to which attempts with this key belong.
fn group_name(digest: &str, key: &str) -> String {
    let key = if key.is_empty() { String::new() } else { short_digest(&policy::digest(key)) };
    format!("{}{key}", group_prefix(digest))
}

/// The prefix of the names of all groups of a rule. The prefix contains the start of the rule's digest, so after an
/// edit of the rule, its counts start at zero.
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

/// What a rule has done in a phase or session since the last `linchpin continue`.
#[derive(Default)]
struct Memory {
    /// True if the rule has interrupted the agent.
    was_interrupted: bool,
    /// How often the rule has refused a call or a move.
    refusals: u32,
    /// The state of the rule when it began to refuse every call; `None` if it does not.
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

    /// True if the rule has interrupted the agent, or has refused a call or a move. That the rule's limit was reached
    /// is not enough.
    fn has_fired(&self) -> bool {
        self.was_interrupted || self.refusals > 0
    }
}

/// Adds what a rule has done to the changes: to those of the workflow's variables if `is_of_workflow`, else to those of
/// the session's variables.
pub fn add_memory_to(update: &PaceUpdate, is_of_workflow: bool, changes: &mut StateChanges) {
    let PaceUpdate { digest, was_interrupted, refusals, blocked_at } = update;
    let is_empty = !was_interrupted && *refusals == 0 && blocked_at.is_none();
    let stored = (!is_empty).then(|| json!({"told": was_interrupted, "refusals": refusals, "closed": blocked_at}));
    let variables = if is_of_workflow { &mut changes.workflow_variables } else { &mut changes.session_variables };
    variables.insert(format!("{MEMORY_PREFIX}{digest}"), stored);
}

/// For a rule that refused a move: adds to the changes that the rule has fired. This is stored in the same way as an
/// interrupt of the agent.
pub fn mark_as_fired(digest: &str, variables: &Map<String, Value>, changes: &mut StateChanges) {
    let Memory { refusals, blocked_at, .. } = Memory::of(variables, digest);
    add_memory_to(
        &PaceUpdate { digest: digest.to_owned(), was_interrupted: true, refusals, blocked_at },
        true,
        changes,
    );
}

/// The digests of the rules that have fired since the last `linchpin continue`.
pub fn digests_of_fired_rules(variables: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let digests = variables.keys().filter_map(|name| name.strip_prefix(MEMORY_PREFIX));
    digests.filter(|digest| Memory::of(variables, digest).has_fired())
}
