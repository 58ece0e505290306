//! How often each rule fired, and what the outcome was, per phase. Counted as it happens, so that a query does not get
//! slower as the journal grows.
//!
//! A rule has one row per phase in the state of the phase or, outside of workflows, of the session. The kind of these
//! rows sorts before the kinds of variables and counters, so that a query for variables and counters does not read the
//! counts. This crate does not interpret phases.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::{Result, Store, phase_key};

const KIND: &str = "by_rule";

/// The id of a phase, and the names of its workflow and node, by which people know it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PhaseName {
    #[serde(rename = "phase")]
    pub id: String,
    pub workflow: String,
    pub node: String,
}

/// What a rule did to an event, or how somebody responded to the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedOutcome {
    /// The rule matched, but neither warned nor blocked: it asked, it approved, or it was not enforced.
    Fired,
    Warned,
    /// The rule refused a call or a move, or held a stop.
    Blocked,
    Acknowledged,
    /// A person or an agent ran `linchpin continue`. This counts as an acknowledgement if the rule fired since the last
    /// `continue`.
    Continued,
    /// The rule was overridden with `--force`.
    Forced,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRuleOutcome {
    pub rule: String,
    /// None outside of workflows.
    pub phase: Option<PhaseName>,
    pub outcome: CountedOutcome,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCounts {
    pub fired: u64,
    pub warned: u64,
    pub blocked: u64,
    pub acknowledged: u64,
    pub forced: u64,
}

impl RuleCounts {
    pub fn add(&mut self, other: Self) {
        self.fired += other.fired;
        self.warned += other.warned;
        self.blocked += other.blocked;
        self.acknowledged += other.acknowledged;
        self.forced += other.forced;
    }
}

/// The value of a row, as JSON.
#[derive(Default, Serialize, Deserialize)]
struct StoredCounts {
    #[serde(flatten)]
    counts: RuleCounts,
    /// The value of `fired` when `continue` last acknowledged the rule.
    #[serde(rename = "answered", default)]
    fired_at_last_continue: u64,
    #[serde(default)]
    phase: Option<PhaseName>,
}

impl StoredCounts {
    fn add(&mut self, outcome: CountedOutcome) {
        let counts = &mut self.counts;
        match outcome {
            CountedOutcome::Fired => counts.fired += 1,
            CountedOutcome::Warned => (counts.fired, counts.warned) = (counts.fired + 1, counts.warned + 1),
            CountedOutcome::Blocked => (counts.fired, counts.blocked) = (counts.fired + 1, counts.blocked + 1),
            CountedOutcome::Acknowledged => counts.acknowledged += 1,
            CountedOutcome::Continued if counts.fired > self.fired_at_last_continue => {
                counts.acknowledged += 1;
                self.fired_at_last_continue = counts.fired;
            }
            CountedOutcome::Continued => {}
            CountedOutcome::Forced => counts.forced += 1,
        }
    }
}

impl Store {
    /// Called inside a write transaction. `session`: the session that outcomes without a phase belong to.
    pub(crate) fn count_rule_outcomes(
        &self,
        session: i64,
        rule_outcomes: &[RecordedRuleOutcome],
        root: &str,
        time: i64,
    ) -> Result<()> {
        for RecordedRuleOutcome { rule, phase, outcome } in rule_outcomes {
            let session = match phase {
                Some(phase) => self.intern_session(phase_key(&phase.id), root, time)?,
                None => session,
            };
            let stored: Option<String> = self
                .connection
                .prepare_cached("SELECT value FROM state WHERE session = ?1 AND kind = ?2 AND name = ?3")?
                .query_row(params![session, KIND, rule], |row| row.get(0))
                .optional()?;
            if stored.is_none() && *outcome == CountedOutcome::Continued {
                continue;
            }
            let mut stored: StoredCounts = stored.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            stored.add(*outcome);
            stored.phase.clone_from(phase);
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![session, KIND, rule, serde_json::to_string(&stored).unwrap_or_default()])?;
        }
        Ok(())
    }

    /// Returns the counts by rule and phase. Counts outside of workflows have no phase.
    pub fn rule_counts(&self) -> Result<BTreeMap<String, BTreeMap<Option<PhaseName>, RuleCounts>>> {
        // Joins from `sessions`, which has few rows: the rows of each session are one range of the primary key.
        let mut statement = self
            .connection
            .prepare("SELECT r.name, r.value FROM sessions s CROSS JOIN state r ON r.session = s.id AND r.kind = ?1")?;
        let mut rows = statement.query([KIND])?;
        let mut counts: BTreeMap<String, BTreeMap<Option<PhaseName>, RuleCounts>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            // Skips rows that do not parse: this code did not write them.
            let Ok(stored) = serde_json::from_str::<StoredCounts>(row.get_ref(1)?.as_str().unwrap_or_default()) else {
                continue;
            };
            counts.entry(row.get(0)?).or_default().entry(stored.phase).or_default().add(stored.counts);
        }
        Ok(counts)
    }
}
