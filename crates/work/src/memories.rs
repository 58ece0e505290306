//! The memories of a project, and the search in their words.
//!
//! What people and agents search for is data: each of their words goes to SQLite's full-text search in quotes, so that none
//! of its operators gets through.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Row, ToSql, params};

use crate::text::{self, LONGEST_TAG};
use crate::{Memory, MemoryError, MemoryId, MemoryKind, Result, TextError, Work};

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

/// What fits into a prompt, in bytes.
const MOST_FOR_PROMPT: usize = 4 * 1024;
/// What a prompt writes around the text of a memory, at most.
const AROUND_ONE: usize = 40;
/// So many different words of a text are looked for.
const MOST_WORDS: usize = 100;
/// A match that is so much worse than the best is none: it has only words that everything has.
const WORST_OF_BEST: f64 = 0.25;

const COLUMNS: &str = "memories.id, memories.kind, memories.text, memories.tags, memories.created";
/// Parameters 1 and 2 are a kind and a tag, or null.
const IS_MEANT: &str =
    "(?1 IS NULL OR memories.kind = ?1) AND (?2 IS NULL OR instr(' ' || memories.tags || ' ', ' ' || ?2 || ' ') > 0)";

/// Which memories are meant; all where nothing is said.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryFilter<'a> {
    pub kind: Option<MemoryKind>,
    pub tag: Option<&'a str>,
}

/// The memories of an open database.
#[derive(Clone, Copy)]
pub struct Memories<'w> {
    work: &'w Work,
}

impl Work {
    pub fn memories(&self) -> Memories<'_> {
        Memories { work: self }
    }
}

impl Memories<'_> {
    pub fn add(self, kind: MemoryKind, text: &str, tags: &[String], now: i64) -> Result<Memory, MemoryError> {
        let text = text::text("the text", text)?;
        if text.trim().is_empty() {
            return Err(TextError::Empty { what: "the text" }.into());
        }
        let tags = tags.iter().map(|tag| read_tag(tag)).collect::<Result<BTreeSet<_>, _>>()?;
        let tags = tags.into_iter().collect::<Vec<_>>().join(" ");
        let step = self.work.step()?;
        let id: MemoryId = step.query_row(
            "INSERT INTO memories (kind, text, tags, created) VALUES (?1, ?2, ?3, ?4) RETURNING id",
            params![kind, text, tags, now],
            |row| row.get(0),
        )?;
        step.execute("INSERT INTO memory_words (rowid, text, tags) VALUES (?1, ?2, ?3)", params![id, text, tags])?;
        step.commit()?;
        self.get(id)
    }

    /// The one that a person means by a word.
    pub fn find(self, word: &str) -> Result<Memory, MemoryError> {
        match MemoryId::parse(word) {
            Some(id) => self.get(id),
            None => Err(MemoryError::NotFound(word.to_owned())),
        }
    }

    pub fn delete(self, id: MemoryId) -> Result<(), MemoryError> {
        let step = self.work.step()?;
        let count = step.execute("DELETE FROM memories WHERE id = ?1", [id])?;
        step.execute("DELETE FROM memory_words WHERE rowid = ?1", [id])?;
        step.commit()?;
        if count == 0 { Err(MemoryError::NotFound(id.to_string())) } else { Ok(()) }
    }

    /// The newest first.
    pub fn list(self, filter: MemoryFilter<'_>) -> Result<Vec<Memory>> {
        let select = format!("SELECT {COLUMNS} FROM memories WHERE {IS_MEANT} ORDER BY id DESC");
        self.select(&select, params![filter.kind, filter.tag])
    }

    /// So many of those that have all of the words, the best match first, and how many there are.
    pub fn search(
        self,
        words: &str,
        filter: MemoryFilter<'_>,
        limit: usize,
    ) -> Result<(Vec<Memory>, usize), MemoryError> {
        let query = quoted(words).join(" ");
        if query.is_empty() {
            return Err(MemoryError::NoWords(words.to_owned()));
        }
        let found = format!(
            "SELECT {COLUMNS} FROM memory_words JOIN memories ON memories.id = memory_words.rowid
             WHERE memory_words MATCH ?3 AND {IS_MEANT} ORDER BY memory_words.rank, memories.id DESC"
        );
        let mut found = self.select(&found, params![filter.kind, filter.tag, query])?;
        let total = found.len();
        found.truncate(limit);
        Ok((found, total))
    }

    /// Those that have the most to do with a text, the best match first, and no more than a prompt can hold.
    pub fn best_for(self, text: &str) -> Result<Vec<Memory>> {
        let query = quoted(text).join(" OR ");
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.work.connection.prepare(&format!(
            "SELECT {COLUMNS}, memory_words.rank FROM memory_words JOIN memories ON memories.id = memory_words.rowid
             WHERE memory_words MATCH ?1 ORDER BY memory_words.rank, memories.id DESC"
        ))?;
        let ranked = statement.query_map([query], |row| Ok((memory(row)?, row.get(5)?)))?;
        let (mut best, mut rest) = (None, MOST_FOR_PROMPT);
        let mut fitting = Vec::new();
        for found in ranked {
            // The better, the farther below zero.
            let (memory, rank): (Memory, f64) = found?;
            if rank > *best.get_or_insert(rank) * WORST_OF_BEST {
                break;
            }
            if let Some(left) = rest.checked_sub(memory.text.len() + AROUND_ONE) {
                rest = left;
                fitting.push(memory);
            }
        }
        Ok(fitting)
    }

    fn get(self, id: MemoryId) -> Result<Memory, MemoryError> {
        let select = format!("SELECT {COLUMNS} FROM memories WHERE id = ?1");
        let found = self.work.connection.query_row(&select, [id], memory).optional()?;
        found.ok_or_else(|| MemoryError::NotFound(id.to_string()))
    }

    fn select(self, select: &str, parameters: &[&dyn ToSql]) -> Result<Vec<Memory>> {
        let mut statement = self.work.connection.prepare(select)?;
        let found = statement.query_map(parameters, memory)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let tags: String = row.get(3)?;
    let tags = tags.split_whitespace().map(str::to_owned).collect();
    Ok(Memory { id: row.get(0)?, kind: row.get(1)?, text: row.get(2)?, tags, created: row.get(4)? })
}

/// Tags are kept with spaces between them.
fn read_tag(tag: &str) -> Result<&str, MemoryError> {
    let tag = text::name("a tag", tag, LONGEST_TAG)?;
    if tag.contains(char::is_whitespace) { Err(MemoryError::Tag(tag.to_owned())) } else { Ok(tag) }
}

/// The words of a text, each once, in quotes. What has no letter and no digit is no word to the search either.
fn quoted(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    text.split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| word.contains(char::is_alphanumeric) && seen.insert(word.to_lowercase()))
        .take(MOST_WORDS)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect()
}
