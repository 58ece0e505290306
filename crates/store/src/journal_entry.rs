//! An entry of the journal, as read back from the database.

use engine::NotEnforced;
use engine::event::{FileAccess, McpTool};
use engine::verdict::{Finding, Level, Verdict};
use rusqlite::Row;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::EntryId;

/// One event or note. `log --json` prints it as one JSON object per line. Other programs rely on names and types:
/// fields may be added, but not changed. Fields that do not apply are omitted:
///
/// - `id`, `time` (milliseconds since 1970), `agent`, `session`, `root`, `cwd`
/// - `kind`: an event kind such as `before_tool`, or the kind of a [note](crate::Note); `name`: the agent's name for
///   the event
/// - `tool`, `aliases`, `call`, `command`, `command_missing` (a shell call without a command), `paths`
///   (`[{path, access}]`, access `read`, `write` or `delete`), `mcp` (`[{server, tool}]`), `outcome` (`ok`, `failed`),
///   `subagent`, `held_before` (the agent continued because a stop of the same turn was held)
/// - `verdict`: `{level, approved, findings: [{rule, level, reason, because: [text], digest}], notices: [text],
///   context: [text], lifted}`; `context`: texts of a workflow for the agent; `lifted`: why the verdict was not
///   enforced (`observe`, `paused` or `allowed N`)
/// - `fields`, `facts`: the input fields and facts that rules used, by name (`fields` of a note: its data); `changes`:
///   the changed variables by name, null if unset, those of a workflow as `workflow.variables.NAME`; `digests`: 32 hex
///   digits by name; `event`: the whole event, only in a full journal
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub id: EntryId,
    pub time: i64,
    #[serde(flatten)]
    pub session: EntrySession,
    pub cwd: String,
    pub kind: String,
    pub name: String,
    #[serde(flatten)]
    pub tool: EntryTool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subagent: Option<String>,
    #[serde(skip_serializing_if = "is_false", default)]
    pub held_before: bool,
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub fields: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub facts: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub changes: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub digests: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<Value>,
}

/// The session that an entry belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntrySession {
    pub agent: String,
    #[serde(rename = "session")]
    pub id: String,
    /// The root of the project at the session's first event.
    pub root: String,
}

/// The tool call of an entry; empty if the entry has none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EntryTool {
    #[serde(rename = "tool", skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub aliases: Vec<String>,
    /// The agent's id of the call.
    #[serde(rename = "call", skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// True for a shell call whose payload had no command.
    #[serde(skip_serializing_if = "is_false", default)]
    pub command_missing: bool,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<FileAccess>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mcp: Vec<McpTool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl JournalEntry {
    /// The columns that [`JournalEntry::from_row`] reads; `e` is `events`, `s` is `sessions`.
    pub(crate) const COLUMNS: &'static str = "e.id, e.time, e.kind, e.level, e.approved, e.name, e.tool, e.command, \
         e.command_missing, e.outcome, e.call, e.cwd, e.held_before, e.subagent, e.aliases, e.mcp, e.paths, e.fields, \
         e.facts, e.changes, e.digests, e.notices, e.event, e.lifted, e.context, s.agent, s.session, s.root";

    /// Reads everything except the findings, which are separate rows.
    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: EntryId(row.get("id")?),
            time: row.get("time")?,
            session: EntrySession { agent: row.get("agent")?, id: row.get("session")?, root: row.get("root")? },
            cwd: row.get("cwd")?,
            kind: row.get("kind")?,
            name: row.get("name")?,
            tool: EntryTool {
                name: row.get("tool")?,
                aliases: json_column(row, "aliases")?.unwrap_or_default(),
                id: row.get("call")?,
                command: row.get("command")?,
                command_missing: row.get("command_missing")?,
                paths: json_column(row, "paths")?.unwrap_or_default(),
                mcp: json_column(row, "mcp")?.unwrap_or_default(),
            },
            outcome: row.get("outcome")?,
            subagent: row.get("subagent")?,
            held_before: row.get("held_before")?,
            verdict: Verdict {
                level: level_column(row)?,
                approved: row.get("approved")?,
                findings: Vec::new(),
                notices: json_column(row, "notices")?.unwrap_or_default(),
                agent_texts: json_column(row, "context")?.unwrap_or_default(),
                not_enforced: row.get::<_, Option<String>>("lifted")?.as_deref().and_then(NotEnforced::from_code),
                refusal_id: None,
            },
            fields: json_column(row, "fields")?.unwrap_or_default(),
            facts: json_column(row, "facts")?.unwrap_or_default(),
            changes: json_column(row, "changes")?.unwrap_or_default(),
            digests: json_column(row, "digests")?.unwrap_or_default(),
            event: json_column(row, "event")?,
        })
    }
}

/// Reads the columns `rule, level, reason, because, digest`.
pub(crate) fn finding_from_row(row: &Row<'_>) -> rusqlite::Result<Finding> {
    Ok(Finding {
        rule: row.get("rule")?,
        level: level_column(row)?,
        reason: row.get("reason")?,
        because: json_column(row, "because")?.unwrap_or_default(),
        digest: row.get("digest")?,
        protects_guard: false,
        section: None,
        is_combined: false,
    })
}

/// An unknown name counts as the strictest level.
fn level_column(row: &Row<'_>) -> rusqlite::Result<Level> {
    let name: String = row.get("level")?;
    Ok(Level::from_name(&name).unwrap_or(Level::Block))
}

/// Reads a JSON column. A value that does not parse counts as absent, so that one bad row does not abort a listing.
fn json_column<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
