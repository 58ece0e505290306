//! A session's tool calls that mention a file.

use engine::event::FileAccess;

use crate::{Result, SessionKey, Store};

/// What a tool call passed to its tool, and the directory in which it ran. The call was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallInput {
    pub command: Option<String>,
    pub paths: Vec<FileAccess>,
    pub cwd: String,
}

impl Store {
    /// Returns the session's last `limit` calls whose command or paths contain `text`, newest first.
    pub fn calls_mentioning(&self, key: SessionKey<'_>, text: &str, limit: usize) -> Result<Vec<CallInput>> {
        self.select_calls("instr(command, ?2) OR instr(paths, ?2)", key, text, limit)
    }

    /// Returns the session's last `limit` calls whose command does not contain `text`, but may produce it: through
    /// variables, quotes, globs, or another language.
    pub fn calls_possibly_mentioning(&self, key: SessionKey<'_>, text: &str, limit: usize) -> Result<Vec<CallInput>> {
        self.select_calls("NOT instr(command, ?2) AND command GLOB '*[$`{}*?''\"\\+%[]*'", key, text, limit)
    }

    fn select_calls(&self, condition: &str, key: SessionKey<'_>, text: &str, limit: usize) -> Result<Vec<CallInput>> {
        let Some(session) = self.session_state(key)?.id else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT command, paths, cwd FROM events WHERE session = ?1 AND kind = 'before_tool' \
             AND (level <> 'block' OR lifted IS NOT NULL) AND ({condition}) ORDER BY id DESC LIMIT ?3",
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query((session, text, limit))?;
        let mut calls = Vec::new();
        while let Some(row) = rows.next()? {
            let paths: Option<String> = row.get(1)?;
            // Ignores a value that does not parse: this code did not write it.
            let paths = paths.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            calls.push(CallInput { command: row.get(0)?, paths, cwd: row.get(2)? });
        }
        Ok(calls)
    }
}
