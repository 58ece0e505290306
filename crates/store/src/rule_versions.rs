//! Every text that a rule has had, so that the digest in a finding leads to the text that was in force.
//!
//! The rule files are authoritative; the database only has their history. Callers pass the rules of a policy after
//! compiling it. If the database is deleted, earlier versions are lost, but no rule. Versions are rows of `state` under
//! no session, because every hook would have to parse the schema of a separate table, and no hook reads versions.

use rusqlite::{Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::{Result, Store};

/// The session number of rows that belong to no session.
const NO_SESSION: i64 = 0;

/// The current version of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleVersion<'a> {
    pub id: &'a str,
    /// Digest of the text, as in findings.
    pub digest: &'a str,
    pub tier: &'a str,
    /// The rule's file, as shown to people.
    pub source: &'a str,
    pub text: &'a str,
}

/// A version of a rule, as read back from the database. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRuleVersion {
    pub id: String,
    pub digest: String,
    /// The tier when the version was last seen.
    pub tier: String,
    /// The rule's file when the version was last seen.
    pub source: String,
    pub text: String,
    pub first_seen: i64,
    pub last_seen: i64,
}

/// The value of a row, as JSON. The row's name has the rule's id and the digest.
#[derive(Serialize, Deserialize)]
struct VersionValue {
    tier: String,
    source: String,
    text: String,
    first_seen: i64,
    last_seen: i64,
}

impl StoredRuleVersion {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let (name, value): (String, String) = (row.get(0)?, row.get(1)?);
        let stored: Option<VersionValue> = serde_json::from_str(&value).ok();
        let version = name.split_once(' ').zip(stored).map(|((id, digest), stored)| Self {
            id: id.to_owned(),
            digest: digest.to_owned(),
            tier: stored.tier,
            source: stored.source,
            text: stored.text,
            first_seen: stored.first_seen,
            last_seen: stored.last_seen,
        });
        Ok(version)
    }
}

/// Returns the name of a version's row. It is unambiguous, because a rule id contains no space.
fn row_name(id: &str, digest: &str) -> String {
    format!("{id} {digest}")
}

impl Store {
    /// Stores the rules of a newly compiled policy in one transaction.
    pub fn store_rule_versions(&mut self, rules: &[RuleVersion<'_>], now: i64) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut upsert = transaction.prepare(
                "INSERT INTO state VALUES (?1, 'rule', ?2, ?3) ON CONFLICT DO UPDATE SET value = \
                 json_set(excluded.value, '$.first_seen', json_extract(value, '$.first_seen'), \
                 '$.last_seen', max(json_extract(value, '$.last_seen'), ?4))",
            )?;
            for rule in rules {
                let stored = VersionValue {
                    tier: rule.tier.to_owned(),
                    source: rule.source.to_owned(),
                    text: rule.text.to_owned(),
                    first_seen: now,
                    last_seen: now,
                };
                let value = serde_json::to_string(&stored).unwrap_or_default();
                upsert.execute(params![NO_SESSION, row_name(rule.id, rule.digest), value, now])?;
            }
        }
        transaction.commit()?;
        self.checkpoint_long_wal();
        Ok(())
    }

    /// Returns all versions of a rule, oldest first.
    pub fn rule_versions(&self, id: &str) -> Result<Vec<StoredRuleVersion>> {
        let mut versions = self.all_rule_versions()?;
        versions.retain(|version| version.id == id);
        versions.sort_by(|a, b| (a.first_seen, a.last_seen, &a.digest).cmp(&(b.first_seen, b.last_seen, &b.digest)));
        Ok(versions)
    }

    fn all_rule_versions(&self) -> Result<Vec<StoredRuleVersion>> {
        let mut statement =
            self.connection.prepare("SELECT name, value FROM state WHERE session = ?1 AND kind = 'rule'")?;
        let versions = statement.query_map([NO_SESSION], StoredRuleVersion::from_row)?;
        Ok(versions.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Deletes old versions, except those that findings refer to, and the newest one of each rule, which may still be
    /// in force.
    pub(crate) fn prune_rule_versions(&self, before: i64) -> Result<()> {
        let versions = self.all_rule_versions()?;
        let mut findings = self.connection.prepare("SELECT 1 FROM findings WHERE rule = ?1 AND digest = ?2 LIMIT 1")?;
        let mut delete =
            self.connection.prepare("DELETE FROM state WHERE session = ?1 AND kind = 'rule' AND name = ?2")?;
        for version in versions.iter().filter(|version| version.last_seen < before) {
            let is_newer = |other: &&StoredRuleVersion| other.id == version.id && other.last_seen > version.last_seen;
            if versions.iter().any(|other| is_newer(&other)) && !findings.exists([&version.id, &version.digest])? {
                delete.execute(params![NO_SESSION, row_name(&version.id, &version.digest)])?;
            }
        }
        Ok(())
    }
}
