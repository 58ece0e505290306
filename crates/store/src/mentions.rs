//! Where a session's events speak of a file.

use engine::event::FileAccess;

use crate::{Result, SessionKey, Store};

/// An event that was not refused and that may speak of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    pub command: Option<String>,
    pub paths: Vec<FileAccess>,
    pub cwd: String,
}

impl Store {
    /// Tool calls that were about to be made and that have this text in their command or in one of their paths, newest
    /// first.
    pub fn mentions(&self, key: SessionKey<'_>, text: &str, limit: usize) -> Result<Vec<Mention>> {
        self.mentioning("instr(command, ?2) OR instr(paths, ?2)", key, text, limit)
    }

    /// The same, for those that do not have the text, but may have spelled it otherwise: with variables, quotes, patterns,
    /// or in another language.
    pub fn veiled_mentions(&self, key: SessionKey<'_>, text: &str, limit: usize) -> Result<Vec<Mention>> {
        self.mentioning("NOT instr(command, ?2) AND command GLOB '*[$`{}*?''\"\\+%[]*'", key, text, limit)
    }

    fn mentioning(&self, how: &str, key: SessionKey<'_>, text: &str, limit: usize) -> Result<Vec<Mention>> {
        let Some(session) = self.session(key)?.id else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT command, paths, cwd FROM events WHERE session = ?1 AND kind = 'before_tool' \
             AND (level <> 'block' OR lifted IS NOT NULL) AND ({how}) ORDER BY id DESC LIMIT ?3",
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query((session, text, limit))?;
        let mut mentions = Vec::new();
        while let Some(row) = rows.next()? {
            let paths: Option<String> = row.get(1)?;
            // What does not parse was not written by this code.
            let paths = paths.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            mentions.push(Mention { command: row.get(0)?, paths, cwd: row.get(2)? });
        }
        Ok(mentions)
    }
}
