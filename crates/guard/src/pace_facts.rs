//! Pace rules in a live judgement: what was counted before, what this event adds to it, and what rules remember.
//!
//! A limit on what is repeated is only looked at where the event itself counts for it: nothing else makes it more. So an
//! ordinary event costs a pace rule nothing but its pattern.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use engine::decide::PaceMemory;
use engine::pace::{Attempt, Happening, Limit, Phase, Standing, Tally};
use engine::rules::Rule;
use engine::{Event, EventKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use store::{Changes, Counted, SessionKey, SessionState, Store, StoreError};

/// The variable in which a session keeps what a rule remembers; the rule's digest follows.
const MEMORY: &str = "_pace:";
/// The variable that says when somebody last went on deliberately, in milliseconds since 1970.
const CONTINUED: &str = "_continued";
/// More than this of one lot is told as this many.
const MOST_COUNTED: usize = 1_000;
/// Characters of a digest that tell one from all others.
const SHORT: usize = 16;

pub struct PaceFacts {
    event: Arc<Event>,
    store: PathBuf,
    options: store::Options,
    /// Opened where the first rule asks.
    journal: OnceLock<Option<Mutex<Store>>>,
    /// What this event adds, for each rule once.
    added: Mutex<Vec<Added>>,
}

/// What an event adds to what a rule counts.
struct Added {
    digest: String,
    counted: Vec<Counted>,
    /// It counts only if the call is let through.
    is_about_to_run: bool,
}

/// Why nothing can be said of a rule.
pub enum Unsaid {
    /// The journal cannot be read.
    Store,
    /// The rule itself is at fault.
    Rule(String),
}

impl From<StoreError> for Unsaid {
    fn from(_: StoreError) -> Self {
        Self::Store
    }
}

impl PaceFacts {
    pub fn new(event: Arc<Event>, store: PathBuf, options: store::Options) -> Self {
        Self { event, store, options, journal: OnceLock::new(), added: Mutex::default() }
    }

    /// How the session stands with a rule; nothing where this event makes no difference to it.
    pub fn standing(
        &self,
        rule: &Rule,
        happening: Option<&Happening>,
        state: &SessionState,
    ) -> Result<Option<Standing>, Unsaid> {
        let Some(pace) = rule.as_pace_rule() else { return Ok(None) };
        let Memory { is_told, refusals, closed } = Memory::of(&state.variables, &rule.digest);
        if let Some(closed) = closed {
            return Ok(Some(Standing { is_told, refusals, is_closed: true, ..closed }));
        }
        let now = self.event.time;
        let phase = Phase { name: None, started: state.first_seen.unwrap_or(now), now, utc_offset: 0 };
        let continued = state.variables.get(CONTINUED).and_then(Value::as_i64);
        let mut since = phase.started;
        let tally = match &pace.limit {
            Limit::RepeatedCommand { window, .. } | Limit::RepeatedFileEdit { window, .. } => {
                since = phase.window_start(*window, continued);
                let Some(happening) = happening else { return Ok(None) };
                let attempts = happening.counted(&pace.limit, now).map_err(|error| Unsaid::Rule(error.to_string()))?;
                if attempts.is_empty() {
                    return Ok(None);
                }
                Tally::of_attempts(self.counted(rule, &pace.limit, attempts, since)?)
            }
            Limit::PhaseTimeout { .. } => Tally::Time,
            // What is not known is not zero.
            Limit::TokenBudget { .. } => Tally::Tokens(None),
            Limit::RequireCommits { .. } => Tally::Commits { count: None, phases: Vec::new() },
        };
        let mut standing = Standing { phase, tally, since, is_told, refusals, is_closed: false };
        // Where the clock on the wall stands is only worth asking where it is told.
        if pace.judge(&standing).is_some() {
            standing.phase.utc_offset = utc_offset(now);
        }
        Ok(Some(standing))
    }

    /// What counts together with what this event does, this event included where it is over.
    fn counted(&self, rule: &Rule, limit: &Limit, attempts: Vec<Attempt>, since: i64) -> Result<Vec<Attempt>, Unsaid> {
        let journal =
            self.journal.get_or_init(|| Store::open_existing_read(&self.store, self.options).ok().map(Mutex::new));
        let journal = journal.as_ref().and_then(|journal| journal.lock().ok()).ok_or(Unsaid::Store)?;
        let session = SessionKey { agent: &self.event.agent, session: &self.event.session };
        let mut found = Vec::new();
        for attempt in &attempts {
            let earlier = journal.counted(session, &lot(rule, &attempt.key), since, MOST_COUNTED)?;
            found.extend(earlier.into_iter().filter_map(|(time, value)| {
                let earlier: Attempt = serde_json::from_value(value).ok()?;
                Some(Attempt { time, key: attempt.key.clone(), ..earlier })
            }));
        }
        let is_about_to_run = self.event.kind == EventKind::BeforeTool;
        let counts_failures = matches!(limit, Limit::RepeatedCommand { failures_only: true, .. });
        let is_new =
            if is_about_to_run { !counts_failures } else { counts_failures || !self.has_begun(&journal, session)? };
        if is_new {
            self.add(rule, &attempts, since, is_about_to_run);
            if !is_about_to_run {
                found.extend(attempts);
            }
        }
        found.sort_by_key(|attempt| attempt.time);
        Ok(found)
    }

    /// Whether this call was counted before it ran.
    fn has_begun(&self, journal: &Store, session: SessionKey<'_>) -> Result<bool, StoreError> {
        let Some(call) = &self.event.tool else { return Ok(false) };
        let command = match &call.shell {
            Some(engine::event::ShellText::Command(text)) => Some(text.as_str()),
            _ => None,
        };
        if call.id.is_none() && command.is_none() {
            return Ok(false);
        }
        journal.has_begun(session, call.id.as_deref(), command)
    }

    fn add(&self, rule: &Rule, attempts: &[Attempt], since: i64, is_about_to_run: bool) {
        let counted = attempts.iter().map(|attempt| Counted {
            phase: None,
            lot: lot(rule, &attempt.key),
            time: attempt.time,
            value: serde_json::to_value(attempt).unwrap_or_default(),
            since,
        });
        let added = Added { digest: rule.digest.clone(), counted: counted.collect(), is_about_to_run };
        if let Ok(mut all) = self.added.lock()
            && !all.iter().any(|known| known.digest == added.digest)
        {
            all.push(added);
        }
    }

    /// Writes down what this event adds. A call that is refused was not made.
    pub fn remember_added(&self, is_let_through: bool, changes: &mut Changes) {
        let added = self.added.lock().map(|mut added| std::mem::take(&mut *added)).unwrap_or_default();
        let counts = added.into_iter().filter(|added| is_let_through || !added.is_about_to_run);
        changes.counted.extend(counts.flat_map(|added| added.counted));
    }
}

/// What counts together for a rule. An edited rule counts anew.
fn lot(rule: &Rule, key: &str) -> String {
    let short = |digest: &str| digest.chars().take(SHORT).collect::<String>();
    let key = if key.is_empty() { String::new() } else { short(&policy::digest(key)) };
    format!("{}/{key}", short(&rule.digest))
}

/// Seconds that the clock on the wall is ahead of UTC.
fn utc_offset(time: i64) -> i32 {
    Timestamp::from_millisecond(time).map_or(0, |time| TimeZone::system().to_offset(time).seconds())
}

/// What a rule remembers in a session.
#[derive(Default)]
struct Memory {
    is_told: bool,
    refusals: u32,
    closed: Option<Standing>,
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
}

/// Writes down what a rule remembers from now on.
pub fn remember(memory: &PaceMemory, changes: &mut Changes) {
    let PaceMemory { digest, is_told, refusals, closed } = memory;
    let name = format!("{MEMORY}{digest}");
    if !is_told && *refusals == 0 && closed.is_none() {
        changes.unset(name);
    } else {
        changes.set(name, json!({"told": is_told, "refusals": refusals, "closed": closed}));
    }
}
