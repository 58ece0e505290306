//! Queries on the journal.

use std::fmt::Write as _;

use engine::verdict::Level;
use rusqlite::ToSql;

use crate::journal_entry::{JournalEntry, finding_from_row};
use crate::{EntryId, Result, Store};

/// Selects journal entries that meet all conditions that are set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalFilter {
    pub agent: Option<String>,
    pub session: Option<String>,
    pub kind: Option<String>,
    /// The minimum level.
    pub level: Option<Level>,
    /// The entry has a finding of this rule.
    pub rule: Option<String>,
    /// Milliseconds since 1970, inclusive.
    pub since: Option<i64>,
    /// Milliseconds since 1970, inclusive.
    pub until: Option<i64>,
    /// Only entries with a greater id, for `log --follow`.
    pub after: Option<EntryId>,
    /// The maximum number of entries; 0 means all. Selects the newest ones, or the first ones after `after` if that is
    /// set.
    pub limit: usize,
}

impl Store {
    /// Calls `visit` with the entries that match, oldest first.
    pub fn for_each_entry(&self, filter: &JournalFilter, mut visit: impl FnMut(JournalEntry)) -> Result<()> {
        let (sql, values) = entries_query(filter);
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let mut statement = self.connection.prepare(&sql)?;
        let mut findings = self
            .connection
            .prepare("SELECT rule, level, reason, because, digest FROM findings WHERE event = ?1 ORDER BY place")?;
        let mut rows = statement.query(values.as_slice())?;
        while let Some(row) = rows.next()? {
            let mut entry = JournalEntry::from_row(row)?;
            let found = findings.query_map([entry.id.0], finding_from_row)?;
            entry.verdict.findings = found.collect::<rusqlite::Result<_>>()?;
            visit(entry);
        }
        Ok(())
    }

    /// Like [`Store::for_each_entry`], but returns a list.
    pub fn entries(&self, filter: &JournalFilter) -> Result<Vec<JournalEntry>> {
        let mut entries = Vec::new();
        self.for_each_entry(filter, |entry| entries.push(entry))?;
        Ok(entries)
    }
}

fn entries_query(filter: &JournalFilter) -> (String, Vec<Box<dyn ToSql + '_>>) {
    let mut conditions = Conditions::default();
    conditions.add("s.agent =", filter.agent.as_ref());
    conditions.add("s.session =", filter.session.as_ref());
    conditions.add("e.kind =", filter.kind.as_ref());
    conditions.add("e.time >=", filter.since);
    conditions.add("e.time <=", filter.until);
    conditions.add("e.id >", filter.after.map(|id| id.0));
    if let Some(rule) = &filter.rule {
        conditions.add_in("e.id IN (SELECT event FROM findings WHERE rule =", rule);
    }
    if let Some(min_level) = filter.level {
        // Not bound as parameters: the names are constants.
        let names: Vec<String> = Level::ALL
            .into_iter()
            .filter(|level| *level >= min_level)
            .map(|level| format!("'{}'", level.name()))
            .collect();
        conditions.clauses.push(format!("e.level IN ({})", names.join(", ")));
    }
    let Conditions { clauses, values } = conditions;
    let mut sql = format!("SELECT {} FROM events e JOIN sessions s ON s.id = e.session", JournalEntry::COLUMNS);
    if !clauses.is_empty() {
        let _ = write!(sql, " WHERE {}", clauses.join(" AND "));
    }
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    match (limit, filter.after) {
        (0, _) => sql.push_str(" ORDER BY e.id"),
        (_, Some(_)) => {
            let _ = write!(sql, " ORDER BY e.id LIMIT {limit}");
        }
        (_, None) => sql = format!("SELECT * FROM ({sql} ORDER BY e.id DESC LIMIT {limit}) ORDER BY id"),
    }
    (sql, values)
}

#[derive(Default)]
struct Conditions<'a> {
    clauses: Vec<String>,
    values: Vec<Box<dyn ToSql + 'a>>,
}

impl<'a> Conditions<'a> {
    fn add(&mut self, comparison: &str, value: Option<impl ToSql + 'a>) {
        if let Some(value) = value {
            self.values.push(Box::new(value));
            self.clauses.push(format!("{comparison} ?{}", self.values.len()));
        }
    }

    /// Like [`Self::add`], for a `comparison` that ends inside an open parenthesis.
    fn add_in(&mut self, comparison: &str, value: impl ToSql + 'a) {
        self.values.push(Box::new(value));
        self.clauses.push(format!("{comparison} ?{})", self.values.len()));
    }
}
