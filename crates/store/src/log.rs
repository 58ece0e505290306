//! Reading the journal.

use std::fmt::Write as _;

use engine::verdict::Level;
use rusqlite::ToSql;

use crate::entry::{Entry, finding_from_row};
use crate::{EventId, Result, Store};

/// Which rows; all that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub agent: Option<String>,
    pub session: Option<String>,
    pub kind: Option<String>,
    /// At least this level.
    pub level: Option<Level>,
    /// A finding of this rule.
    pub rule: Option<String>,
    /// Milliseconds since 1970, inclusive.
    pub since: Option<i64>,
    /// Milliseconds since 1970, inclusive.
    pub until: Option<i64>,
    /// Only rows after this one: what a reader that follows has not seen.
    pub after: Option<EventId>,
    /// At most so many; 0 means all. Without `after` the newest, with it the first after it.
    pub limit: usize,
}

impl Store {
    /// Gives the rows that `filter` lets through to `visit`, oldest first.
    pub fn log(&self, filter: &Filter, mut visit: impl FnMut(Entry)) -> Result<()> {
        let (sql, values) = query(filter);
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let mut statement = self.connection.prepare(&sql)?;
        let mut findings = self
            .connection
            .prepare("SELECT rule, level, reason, because, digest FROM findings WHERE event = ?1 ORDER BY place")?;
        let mut rows = statement.query(values.as_slice())?;
        while let Some(row) = rows.next()? {
            let mut entry = Entry::from_row(row)?;
            let found = findings.query_map([entry.id.0], finding_from_row)?;
            entry.verdict.findings = found.collect::<rusqlite::Result<_>>()?;
            visit(entry);
        }
        Ok(())
    }

    /// [`Store::log`] as a list.
    pub fn entries(&self, filter: &Filter) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.log(filter, |entry| entries.push(entry))?;
        Ok(entries)
    }
}

fn query(filter: &Filter) -> (String, Vec<Box<dyn ToSql + '_>>) {
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
    if let Some(least) = filter.level {
        // No values: the names are our own.
        let names: Vec<String> =
            Level::ALL.into_iter().filter(|level| *level >= least).map(|level| format!("'{}'", level.name())).collect();
        conditions.clauses.push(format!("e.level IN ({})", names.join(", ")));
    }
    let Conditions { clauses, values } = conditions;
    let mut sql = format!("SELECT {} FROM events e JOIN sessions s ON s.id = e.session", Entry::COLUMNS);
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

    /// `comparison` opens a bracket.
    fn add_in(&mut self, comparison: &str, value: impl ToSql + 'a) {
        self.values.push(Box::new(value));
        self.clauses.push(format!("{comparison} ?{})", self.values.len()));
    }
}
