//! The registry of rule versions: every text that a rule has had, so that a finding's digest leads to the words that
//! were in force when it was made.
//!
//! Files are the truth; this is their history. Whoever compiled a policy anew tells which rules it has. Deleting the
//! database loses earlier versions, never a rule.

use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};

use crate::{Result, Store};

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

impl KeptVersion {
    const COLUMNS: &'static str = "id, digest, tier, source, text, first_seen, last_seen";

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            digest: row.get("digest")?,
            tier: row.get("tier")?,
            source: row.get("source")?,
            text: row.get("text")?,
            first_seen: row.get("first_seen")?,
            last_seen: row.get("last_seen")?,
        })
    }
}

impl Store {
    /// Notes the rules of a policy that was compiled anew: all of them or, where something fails, none.
    pub fn sync_rules(&mut self, rules: &[RuleVersion<'_>], now: i64) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut put = transaction.prepare(
                "INSERT INTO rule_versions (id, digest, tier, source, text, first_seen, last_seen) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (id, digest) DO UPDATE SET \
                 tier = excluded.tier, source = excluded.source, last_seen = max(last_seen, excluded.last_seen)",
            )?;
            for rule in rules {
                put.execute(params![rule.id, rule.digest, rule.tier, rule.source, rule.text, now])?;
            }
        }
        transaction.commit()?;
        self.checkpoint_if_long();
        Ok(())
    }

    /// Every version of a rule, oldest first.
    pub fn rule_versions(&self, id: &str) -> Result<Vec<KeptVersion>> {
        let columns = KeptVersion::COLUMNS;
        let mut statement = self.connection.prepare(&format!(
            "SELECT {columns} FROM rule_versions WHERE id = ?1 ORDER BY first_seen, last_seen, digest"
        ))?;
        let versions = statement.query_map([id], KeptVersion::from_row)?;
        Ok(versions.collect::<rusqlite::Result<_>>()?)
    }

    /// The version with this digest. Of several rules with the very same text, the first by id.
    pub fn rule_version(&self, digest: &str) -> Result<Option<KeptVersion>> {
        let columns = KeptVersion::COLUMNS;
        let mut statement = self
            .connection
            .prepare(&format!("SELECT {columns} FROM rule_versions WHERE digest = ?1 ORDER BY id LIMIT 1"))?;
        Ok(statement.query_row([digest], KeptVersion::from_row).optional()?)
    }

    /// The newest version of a rule stays however old it is: it may still be in force, untouched.
    pub(crate) fn prune_rule_versions(&self, before: i64) -> Result<()> {
        self.connection.execute(
            "DELETE FROM rule_versions WHERE last_seen < ?1 \
             AND (id, digest) NOT IN (SELECT rule, digest FROM findings WHERE digest IS NOT NULL) \
             AND EXISTS (SELECT 1 FROM rule_versions newer \
             WHERE newer.id = rule_versions.id AND newer.last_seen > rule_versions.last_seen)",
            [before],
        )?;
        Ok(())
    }
}
