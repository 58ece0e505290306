//! Attributes changes to sessions when several sessions work in one tree.
//!
//! A session owns a change if one of its tool calls names the file, one of its shell commands writes the file, or one
//! of its calls ran while the file changed. If the end of a call was not recorded, the call may have been denied, so it
//! counts only for changes in the time during which it may have run. If a file was changed after all calls that name
//! it, the change belongs to the sessions whose calls ran at the time of the change; if no call ran, to all sessions. A
//! session that has certainly only read files owns no change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use engine::file_rules::Changes;
use path::Access;
use store::{RecordedCall, RecordedCalls, SessionKey, Store};

use super::read_only_command::is_read_only;

/// The maximum number of calls that are considered, newest first.
const MAX_CALLS: usize = 5000;

/// Attributes changes to one session.
#[derive(Clone)]
pub struct Attribution {
    pub journal_path: PathBuf,
    pub options: store::StoreOptions,
    pub agent: String,
    pub session: String,
    pub home: Option<String>,
}

impl Attribution {
    /// All changes, with the session's own ones marked; `None` if all changes count as its own, also because the
    /// session is unknown or the journal cannot be read.
    pub fn attribute(&self, root: &Path, changes: &Changes) -> Option<Arc<Changes>> {
        // At a move of a workflow, the session may be unknown. In that case all changes count as its own.
        if self.session.is_empty() {
            return None;
        }
        let store = Store::open_read_only(&self.journal_path, self.options).ok()?;
        let session_key = SessionKey { agent: &self.agent, session: &self.session };
        let recorded = store.calls(MAX_CALLS).ok()?;
        let first_seen = store.session_state(session_key).ok()?.first_seen;
        let may_have_written = !self.has_only_read(&recorded, first_seen);
        let calls = recorded.calls;
        let is_alone = !store.has_other_sessions(session_key).ok()?;
        // The only session in the tree owns all changes, if it may have made any.
        if is_alone && may_have_written {
            return None;
        }
        let owners = if is_alone { BTreeMap::new() } else { self.owners(root, changes, &calls) };
        let this_session = (self.agent.as_str(), self.session.as_str());
        Some(Arc::new(
            changes.with_own(|path| owners.get(path).map_or(may_have_written, |owners| owners.contains(&this_session))),
        ))
    }

    /// True if the session has certainly changed no file: the hooks of its agent report calls, all calls since the
    /// session's start were recorded, and all of the session's own calls only read.
    ///
    /// An agent counts as one that reports calls if it has reported any call or the start of this session, because all
    /// hooks of an agent are installed together.
    fn has_only_read(&self, recorded: &RecordedCalls, first_seen: Option<i64>) -> bool {
        let calls = &recorded.calls;
        let this_session = (self.agent.clone(), self.session.clone());
        let reports_calls =
            recorded.started_sessions.contains(&this_session) || calls.iter().any(|call| call.agent == self.agent);
        let mut own_calls = calls.iter().filter(|call| call.agent == self.agent && call.session == self.session);
        recorded.has_all_since(first_seen)
            && reports_calls
            && own_calls.all(|call| {
                let only_reads = match &call.command {
                    Some(command) => is_read_only(command),
                    None => !call.may_write_unnamed_files(),
                };
                only_reads && self.written_paths(call).is_empty()
            })
    }

    /// The sessions that own each changed file, by path. A file that all sessions own is left out.
    fn owners<'c>(&self, root: &Path, changes: &Changes, calls: &'c [RecordedCall]) -> BTreeMap<String, Owners<'c>> {
        let mut writers_by_path: BTreeMap<String, Vec<&'c RecordedCall>> = BTreeMap::new();
        let root_text = root.to_string_lossy();
        for call in calls {
            for path in self.written_paths(call) {
                let normalized = path::normalize(&path);
                if let Some(relative) =
                    path::relative_to(&normalized, &root_text).filter(|relative| changes.contains(relative))
                {
                    writers_by_path.entry(relative.to_owned()).or_default().push(call);
                }
            }
        }
        let owners_of = |path: &str| {
            let writers = writers_by_path.get(path).map(Vec::as_slice).unwrap_or_default();
            let owners = match modification_time(&root.join(path)) {
                Some(time) => owners_of_change(time, writers, calls),
                None => owners_of_deletion(&root.join(path), writers),
            };
            (!owners.is_empty()).then(|| (path.to_owned(), owners))
        };
        changes.paths().filter_map(owners_of).collect()
    }

    /// The absolute paths that a call writes or deletes.
    fn written_paths(&self, call: &RecordedCall) -> Vec<String> {
        let home = self.home.as_deref();
        let is_written = |access: Option<Access>| matches!(access, Some(Access::Write | Access::Delete));
        let files = call.paths.iter().filter(|file| is_written(file.access));
        let mut paths: Vec<String> = files.map(|file| path::absolute(&file.path, &call.cwd, home)).collect();
        if let Some(command) = &call.command {
            for effect in shell::parse(command).effects().into_iter().filter(|effect| is_written(effect.access)) {
                let Some(path) = effect.path else { continue };
                for directory in effect.directories.list().unwrap_or_default() {
                    paths.push(path::absolute(&path, &path::absolute(directory, &call.cwd, home), home));
                }
            }
        }
        paths
    }
}

/// The sessions that own a change, as pairs of agent and session id.
type Owners<'c> = BTreeSet<(&'c str, &'c str)>;

fn session_of(call: &RecordedCall) -> (&str, &str) {
    (&call.agent, &call.session)
}

/// True if the call may have been running at this time.
fn ran_at(call: &RecordedCall, time: i64) -> bool {
    (call.started..=call.ended).contains(&time)
}

/// The sessions that own a change that was made at `time`; empty if all sessions own it. `writers` has the calls that
/// write the changed file.
fn owners_of_change<'c>(time: i64, writers: &[&'c RecordedCall], calls: &'c [RecordedCall]) -> Owners<'c> {
    // A finished call may own a change that seems to be older than the call, because some programs set modification
    // times.
    let finished = || writers.iter().filter(|call| call.has_ended);
    let writers_then = writers.iter().filter(|call| ran_at(call, time));
    let mut owners: Owners<'c> = writers_then.map(|call| session_of(call)).collect();
    if owners.is_empty() {
        owners.extend(calls.iter().filter(|call| call.may_write_unnamed_files() && ran_at(call, time)).map(session_of));
        owners.extend(finished().filter(|call| time <= call.quiet_after).map(|call| session_of(call)));
    }
    // The sessions that wrote the file earlier own a part of the change.
    if !owners.is_empty() {
        owners.extend(finished().map(|call| session_of(call)));
    }
    owners
}

/// The sessions that own the deletion of a file; empty if all sessions own it.
fn owners_of_deletion<'c>(path: &Path, writers: &[&'c RecordedCall]) -> Owners<'c> {
    // A file tool that writes the file does not delete it, but a shell command that writes the file may delete it.
    let deletes = |call: &RecordedCall| {
        call.command.is_some() || call.paths.iter().any(|file| file.access == Some(Access::Delete))
    };
    let may_have_run =
        |call: &RecordedCall| call.has_ended || last_change_time(path).is_some_and(|time| ran_at(call, time));
    writers.iter().filter(|call| deletes(call) && may_have_run(call)).map(|call| session_of(call)).collect()
}

/// The modification time of a file; for a deleted one, of its nearest existing parent.
fn last_change_time(path: &Path) -> Option<i64> {
    path.ancestors().find_map(modification_time)
}

/// The modification time in milliseconds since 1970.
fn modification_time(path: &Path) -> Option<i64> {
    let time = fs::symlink_metadata(path).ok()?.modified().ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests;
