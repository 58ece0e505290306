//! A memory: something that an agent or a person learnt, kept for later agents.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Serialize, Serializer};

use crate::{TextError, WorkError};

/// Displayed as `m1`, `m2`, … Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryId(i64);

impl MemoryId {
    /// Parses an id as people type it: `m7`, `M7` or `7`.
    pub fn parse(word: &str) -> Option<Self> {
        let digits = word.strip_prefix(['m', 'M']).unwrap_or(word);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

impl Serialize for MemoryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromSql for MemoryId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

impl ToSql for MemoryId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// A convention of the project.
    Pattern,
    /// A decision and its reason.
    Decision,
    /// A problem and its solution.
    Fix,
    /// Other useful knowledge.
    Context,
}

impl MemoryKind {
    pub const ALL: [Self; 4] = [Self::Pattern, Self::Decision, Self::Fix, Self::Context];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Decision => "decision",
            Self::Fix => "fix",
            Self::Context => "context",
        }
    }
}

impl FromSql for MemoryKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for MemoryKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.name().to_sql()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub id: MemoryId,
    #[serde(rename = "type")]
    pub kind: MemoryKind,
    pub text: String,
    pub tags: Vec<String>,
    /// Milliseconds since 1970.
    pub created: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("`{0}` cannot be a tag")]
    Tag(String),
    #[error("there is no memory `{0}`")]
    NotFound(String),
    #[error("`{0}` has no words to search for")]
    NoWords(String),
}

impl From<rusqlite::Error> for MemoryError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Work(error.into())
    }
}
