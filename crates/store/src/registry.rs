//! The registry of rule versions: every text that a rule has had, so that a finding's digest leads to the words that
//! were in force when it was made.
//!
//! Files are the truth; this is their history. Whoever compiled a policy anew tells which rules it has. Deleting the
//! database loses earlier versions, never a rule. Versions lie in `state` as rows of no session: a table of their own
//! would be parsed by every hook, and none of them reads one.

use rusqlite::{Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::{Result, Store};

/// The session of rows that belong to none.
const NO_SESSION: i64 = 0;

/// A rule as its file has it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleVersion<'a> {
    pub id: &'a str,
    /// Digest of the text; what findings name.
    pub digest: &'a str,
    pub tier: &'a str,
    /// The file, as people know it.
    pub source: &'a str,
    pub text: &'a str,
}

/// A version that was kept. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptVersion {
    pub id: String,
    pub digest: String,
    /// Where it was when it was last seen.
    pub tier: String,
    pub source: String,
    pub text: String,
    pub first_seen: i64,
    pub last_seen: i64,
}

/// As a row has it, under the rule's id and the digest.
#[derive(Serialize, Deserialize)]
struct Stored {
    tier: String,
    source: String,
    text: String,
    first_seen: i64,
    last_seen: i64,
}

impl KeptVersion {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let (name, value): (String, String) = (row.get(0)?, row.get(1)?);
        let stored: Option<Stored> = serde_json::from_str(&value).ok();
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

/// No rule's id holds a space.
fn row_name(id: &str, digest: &str) -> String {
    format!("{id} {digest}")
}

impl Store {
    /// Notes the rules of a policy that was compiled anew: all of them or, where something fails, none.
    pub fn sync_rules(&mut self, rules: &[RuleVersion<'_>], now: i64) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut put = transaction.prepare(
                "INSERT INTO state VALUES (?1, 'rule', ?2, ?3) ON CONFLICT DO UPDATE SET value = \
                 json_set(excluded.value, '$.first_seen', json_extract(value, '$.first_seen'), \
                 '$.last_seen', max(json_extract(value, '$.last_seen'), ?4))",
            )?;
            for rule in rules {
                let stored = Stored {
                    tier: rule.tier.to_owned(),
                    source: rule.source.to_owned(),
                    text: rule.text.to_owned(),
                    first_seen: now,
                    last_seen: now,
                };
                let value = serde_json::to_string(&stored).unwrap_or_default();
                put.execute(params![NO_SESSION, row_name(rule.id, rule.digest), value, now])?;
            }
        }
        transaction.commit()?;
        self.checkpoint_if_long();
        Ok(())
    }

    /// Every version of a rule, oldest first.
    pub fn rule_versions(&self, id: &str) -> Result<Vec<KeptVersion>> {
        let mut versions = self.all_rule_versions()?;
        versions.retain(|version| version.id == id);
        versions.sort_by(|a, b| (a.first_seen, a.last_seen, &a.digest).cmp(&(b.first_seen, b.last_seen, &b.digest)));
        Ok(versions)
    }

    fn all_rule_versions(&self) -> Result<Vec<KeptVersion>> {
        let mut statement =
            self.connection.prepare("SELECT name, value FROM state WHERE session = ?1 AND kind = 'rule'")?;
        let versions = statement.query_map([NO_SESSION], KeptVersion::from_row)?;
        Ok(versions.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// A version stays while a finding names it. The newest of a rule stays however old it is: it may still be in force,
    /// untouched.
    pub(crate) fn prune_rule_versions(&self, before: i64) -> Result<()> {
        let versions = self.all_rule_versions()?;
        let mut named = self.connection.prepare("SELECT 1 FROM findings WHERE rule = ?1 AND digest = ?2 LIMIT 1")?;
        let mut delete =
            self.connection.prepare("DELETE FROM state WHERE session = ?1 AND kind = 'rule' AND name = ?2")?;
        for version in versions.iter().filter(|version| version.last_seen < before) {
            let is_newer = |other: &&KeptVersion| other.id == version.id && other.last_seen > version.last_seen;
            if versions.iter().any(|other| is_newer(&other)) && !named.exists([&version.id, &version.digest])? {
                delete.execute(params![NO_SESSION, row_name(&version.id, &version.digest)])?;
            }
        }
        Ok(())
    }
}
