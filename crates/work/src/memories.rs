//! The memories of a project, and full-text search in them.
//!
//! Each word of a search is quoted for SQLite's full-text search, so that no word is interpreted as an operator.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Row, ToSql, params};

use crate::text_checks::{MAX_TAG, check_name, check_text};
use crate::{Memory, MemoryError, MemoryId, MemoryKind, Result, TextError, WorkDatabase};

pub(crate) const TABLES: &str = "
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        tags TEXT NOT NULL,
        created INTEGER NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE memory_words USING fts5 (text, tags, tokenize = 'porter unicode61 remove_diacritics 2');
";

/// The maximum size of all memories in a prompt, in bytes.
const MAX_PROMPT_BYTES: usize = 4 * 1024;
/// The maximum number of bytes that a prompt adds to the text of a memory.
const MAX_OVERHEAD_BYTES: usize = 40;
/// The maximum number of distinct words of a text to search for.
const MAX_WORDS: usize = 100;
/// Matches whose rank is below this fraction of the best one are ignored: they share only common words with the text.
const MIN_RELATIVE_RANK: f64 = 0.25;

const COLUMNS: &str = "memories.id, memories.kind, memories.text, memories.tags, memories.created";
/// The SQL condition for a [`MemoryFilter`]. Parameters 1 and 2 are kind and tag, or null.
const MATCHES_FILTER: &str =
    "(?1 IS NULL OR memories.kind = ?1) AND (?2 IS NULL OR instr(' ' || memories.tags || ' ', ' ' || ?2 || ' ') > 0)";

/// Selects memories; the default selects all.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryFilter<'a> {
    pub kind: Option<MemoryKind>,
    pub tag: Option<&'a str>,
}

#[derive(Clone, Copy)]
pub struct Memories<'w> {
    work: &'w WorkDatabase,
}

impl WorkDatabase {
    pub fn memories(&self) -> Memories<'_> {
        Memories { work: self }
    }
}

impl Memories<'_> {
    pub fn add(self, kind: MemoryKind, text: &str, tags: &[String], now: i64) -> Result<Memory, MemoryError> {
        let text = check_text("the text", text)?;
        if text.trim().is_empty() {
            return Err(TextError::Empty { what: "the text" }.into());
        }
        let tags = tags.iter().map(|tag| check_tag(tag)).collect::<Result<BTreeSet<_>, _>>()?;
        let tags = tags.into_iter().collect::<Vec<_>>().join(" ");
        let transaction = self.work.write_transaction()?;
        let id: MemoryId = transaction.query_row(
            "INSERT INTO memories (kind, text, tags, created) VALUES (?1, ?2, ?3, ?4) RETURNING id",
            params![kind, text, tags, now],
            |row| row.get(0),
        )?;
        transaction
            .execute("INSERT INTO memory_words (rowid, text, tags) VALUES (?1, ?2, ?3)", params![id, text, tags])?;
        transaction.commit()?;
        self.get(id)
    }

    /// Returns the memory with the id that a person typed.
    pub fn find(self, word: &str) -> Result<Memory, MemoryError> {
        match MemoryId::parse(word) {
            Some(id) => self.get(id),
            None => Err(MemoryError::NotFound(word.to_owned())),
        }
    }

    pub fn delete(self, id: MemoryId) -> Result<(), MemoryError> {
        let transaction = self.work.write_transaction()?;
        let count = transaction.execute("DELETE FROM memories WHERE id = ?1", [id])?;
        transaction.execute("DELETE FROM memory_words WHERE rowid = ?1", [id])?;
        transaction.commit()?;
        if count == 0 { Err(MemoryError::NotFound(id.to_string())) } else { Ok(()) }
    }

    /// Returns the memories that the filter selects, newest first.
    pub fn list(self, filter: MemoryFilter<'_>) -> Result<Vec<Memory>> {
        let select = format!("SELECT {COLUMNS} FROM memories WHERE {MATCHES_FILTER} ORDER BY id DESC");
        self.select(&select, params![filter.kind, filter.tag])
    }

    /// Returns up to `limit` memories that contain all of the words, best match first, and the number of all matches.
    pub fn search(
        self,
        words: &str,
        filter: MemoryFilter<'_>,
        limit: usize,
    ) -> Result<(Vec<Memory>, usize), MemoryError> {
        let query = quoted_words(words).join(" ");
        if query.is_empty() {
            return Err(MemoryError::NoWords(words.to_owned()));
        }
        let select = format!(
            "SELECT {COLUMNS} FROM memory_words JOIN memories ON memories.id = memory_words.rowid
             WHERE memory_words MATCH ?3 AND {MATCHES_FILTER} ORDER BY memory_words.rank, memories.id DESC"
        );
        let mut found = self.select(&select, params![filter.kind, filter.tag, query])?;
        let total = found.len();
        found.truncate(limit);
        Ok((found, total))
    }

    /// Returns the memories most relevant to a text, best match first, as many as fit into a prompt.
    pub fn most_relevant(self, text: &str) -> Result<Vec<Memory>> {
        let query = quoted_words(text).join(" OR ");
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.work.connection.prepare(&format!(
            "SELECT {COLUMNS}, memory_words.rank FROM memory_words JOIN memories ON memories.id = memory_words.rowid
             WHERE memory_words MATCH ?1 ORDER BY memory_words.rank, memories.id DESC"
        ))?;
        let ranked = statement.query_map([query], |row| Ok((memory_from_row(row)?, row.get(5)?)))?;
        let (mut best_rank, mut free_bytes) = (None, MAX_PROMPT_BYTES);
        let mut fitting = Vec::new();
        for row in ranked {
            // Ranks are negative; lower is better.
            let (memory, rank): (Memory, f64) = row?;
            if rank > *best_rank.get_or_insert(rank) * MIN_RELATIVE_RANK {
                break;
            }
            if let Some(left) = free_bytes.checked_sub(memory.text.len() + MAX_OVERHEAD_BYTES) {
                free_bytes = left;
                fitting.push(memory);
            }
        }
        Ok(fitting)
    }

    fn get(self, id: MemoryId) -> Result<Memory, MemoryError> {
        let select = format!("SELECT {COLUMNS} FROM memories WHERE id = ?1");
        let found = self.work.connection.query_row(&select, [id], memory_from_row).optional()?;
        found.ok_or_else(|| MemoryError::NotFound(id.to_string()))
    }

    fn select(self, sql: &str, parameters: &[&dyn ToSql]) -> Result<Vec<Memory>> {
        let mut statement = self.work.connection.prepare(sql)?;
        let found = statement.query_map(parameters, memory_from_row)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn memory_from_row(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let tags: String = row.get(3)?;
    let tags = tags.split_whitespace().map(str::to_owned).collect();
    Ok(Memory { id: row.get(0)?, kind: row.get(1)?, text: row.get(2)?, tags, created: row.get(4)? })
}

/// Checks a tag. It must not contain white space, because tags are stored separated by spaces.
fn check_tag(tag: &str) -> Result<&str, MemoryError> {
    let tag = check_name("a tag", tag, MAX_TAG)?;
    if tag.contains(char::is_whitespace) { Err(MemoryError::Tag(tag.to_owned())) } else { Ok(tag) }
}

/// Returns the distinct words of a text, each quoted. Words without letters and digits are left out, because the
/// full-text search ignores them.
fn quoted_words(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    text.split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| word.contains(char::is_alphanumeric) && seen.insert(word.to_lowercase()))
        .take(MAX_WORDS)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect()
}
