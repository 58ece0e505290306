//! How often rules spoke and what came of it, by phase: counted as it happens, so that to ask costs no more after many
//! events than after few.
//!
//! A rule has one row a phase, among the state of the phase; outside of workflows, of the session. The kind lies before
//! variables and counters, where whoever reads those does not meet it. What a phase is is not known here.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::{Result, Store, phase_key};

const KIND: &str = "by_rule";

/// The phase of a workflow, as people know it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PhaseName {
    pub phase: String,
    pub workflow: String,
    pub node: String,
}

/// What a rule did, or what was done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It spoke, and neither warned nor stopped anything: it asked or approved, or it was not enforced.
    Spoke,
    Warned,
    /// A call was refused, a stop held, a move not made.
    Blocked,
    Acknowledged,
    /// Somebody went on past all that was said; that acknowledges what spoke since the last time.
    WentOn,
    /// It was passed over.
    Forced,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDeed {
    pub rule: String,
    /// None: outside of workflows.
    pub phase: Option<PhaseName>,
    pub deed: Deed,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCount {
    pub fired: u64,
    pub warned: u64,
    pub blocked: u64,
    pub acknowledged: u64,
    pub forced: u64,
}

impl RuleCount {
    pub fn add(&mut self, other: Self) {
        self.fired += other.fired;
        self.warned += other.warned;
        self.blocked += other.blocked;
        self.acknowledged += other.acknowledged;
        self.forced += other.forced;
    }
}

/// A row's value.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    count: RuleCount,
    /// Of the times that it fired, those that somebody went on past.
    #[serde(default)]
    answered: u64,
    #[serde(default)]
    phase: Option<PhaseName>,
}

impl Kept {
    fn count(&mut self, deed: Deed) {
        let count = &mut self.count;
        match deed {
            Deed::Spoke => count.fired += 1,
            Deed::Warned => (count.fired, count.warned) = (count.fired + 1, count.warned + 1),
            Deed::Blocked => (count.fired, count.blocked) = (count.fired + 1, count.blocked + 1),
            Deed::Acknowledged => count.acknowledged += 1,
            Deed::WentOn if count.fired > self.answered => {
                count.acknowledged += 1;
                self.answered = count.fired;
            }
            Deed::WentOn => {}
            Deed::Forced => count.forced += 1,
        }
    }
}

impl Store {
    /// Inside a transaction for writing. `session`: whose rows those are that belong to no phase.
    pub(crate) fn count_deeds(&self, session: i64, deeds: &[RuleDeed], root: &str, time: i64) -> Result<()> {
        for RuleDeed { rule, phase, deed } in deeds {
            let session = match phase {
                Some(name) => self.intern_session(phase_key(&name.phase), root, time)?,
                None => session,
            };
            let kept: Option<String> = self
                .connection
                .prepare_cached("SELECT value FROM state WHERE session = ?1 AND kind = ?2 AND name = ?3")?
                .query_row(params![session, KIND, rule], |row| row.get(0))
                .optional()?;
            if kept.is_none() && *deed == Deed::WentOn {
                continue;
            }
            let mut kept: Kept = kept.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            kept.count(*deed);
            kept.phase.clone_from(phase);
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO state VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![session, KIND, rule, serde_json::to_string(&kept).unwrap_or_default()])?;
        }
        Ok(())
    }

    /// How often each rule spoke, by rule and by phase; under no phase, all that was outside of workflows.
    pub fn rule_counts(&self) -> Result<BTreeMap<String, BTreeMap<Option<PhaseName>, RuleCount>>> {
        // From the sessions, of which there are few, to their rows: a run of the primary key each.
        let mut statement = self
            .connection
            .prepare("SELECT r.name, r.value FROM sessions s CROSS JOIN state r ON r.session = s.id AND r.kind = ?1")?;
        let mut rows = statement.query([KIND])?;
        let mut counts: BTreeMap<String, BTreeMap<Option<PhaseName>, RuleCount>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            // What does not parse was not written by this code.
            let Ok(kept) = serde_json::from_str::<Kept>(row.get_ref(1)?.as_str().unwrap_or_default()) else { continue };
            counts.entry(row.get(0)?).or_default().entry(kept.phase).or_default().add(kept.count);
        }
        Ok(counts)
    }
}
