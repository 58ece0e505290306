//! Attributes changes to sessions when several sessions work in one tree.
//!
//! A session owns the files that its tool calls name, the files that its shell commands write, and files that changed
//! while one of its calls ran. A call whose end was not recorded may have been denied: it counts only for changes made
//! while it could have run. A change that is newer than every call that names the file belongs to the sessions whose
//! calls ran at that time, or to all sessions if no call ran. A session that has certainly only read files owns no
//! change.

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
    /// All changes, those of other sessions marked; `None` if there is nothing to mark or the journal cannot be read.
    pub fn attribute(&self, root: &Path, changes: &Changes) -> Option<Arc<Changes>> {
        // The session of a workflow's move may be unknown. Then it may own any change.
        if self.session.is_empty() {
            return None;
        }
        let store = Store::open_read_only(&self.journal_path, self.options).ok()?;
        let session_key = SessionKey { agent: &self.agent, session: &self.session };
        let recorded = store.calls(MAX_CALLS).ok()?;
        let may_have_written = !self.has_only_read(&recorded);
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

    /// True if it is certain that the session has not changed any file: its agent's hooks report calls, and none of the
    /// session's calls writes.
    fn has_only_read(&self, recorded: &RecordedCalls) -> bool {
        let calls = &recorded.calls;
        let reports_calls = calls.iter().any(|call| call.agent == self.agent);
        let mut own_calls = calls.iter().filter(|call| call.agent == self.agent && call.session == self.session);
        recorded.is_complete
            && reports_calls
            && own_calls.all(|call| {
                let only_reads = match &call.command {
                    Some(command) => is_read_only(command),
                    None => !call.may_write_unnamed_files(),
                };
                only_reads && self.written_paths(call).is_empty()
            })
    }

    fn owners<'c>(&self, root: &Path, changes: &Changes, calls: &'c [RecordedCall]) -> BTreeMap<String, Owners<'c>> {
        let mut writers_by_path: BTreeMap<String, Vec<&'c RecordedCall>> = BTreeMap::new();
        let root_text = root.to_string_lossy();
        for call in calls {
            for path in self.written_paths(call) {
                let normalized = path::normalize(&path);
                if let Some(relative) =
                    path::below(&normalized, &root_text).filter(|relative| changes.contains(relative))
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

    fn written_paths(&self, call: &RecordedCall) -> Vec<String> {
        let home = self.home.as_deref();
        let is_written = |access: Option<Access>| matches!(access, Some(Access::Write | Access::Delete));
        let files = call.paths.iter().filter(|file| is_written(file.access));
        let mut paths: Vec<String> = files.map(|file| path::absolute(&file.path, &call.cwd, home)).collect();
        if let Some(command) = &call.command {
            for effect in shell::parse(command).effects().into_iter().filter(|effect| is_written(effect.access)) {
                let Some(path) = effect.path else { continue };
                for folder in effect.directories.list().unwrap_or_default() {
                    paths.push(path::absolute(&path, &path::absolute(folder, &call.cwd, home), home));
                }
            }
        }
        paths
    }
}

/// Sessions as pairs of agent and session id.
type Owners<'c> = BTreeSet<(&'c str, &'c str)>;

fn session_of(call: &RecordedCall) -> (&str, &str) {
    (&call.agent, &call.session)
}

fn ran_at(call: &RecordedCall, time: i64) -> bool {
    (call.started..=call.ended).contains(&time)
}

/// The sessions that own a file last changed at `time`; empty if all sessions own it. `writers` has the calls that write
/// this path.
fn owners_of_change<'c>(time: i64, writers: &[&'c RecordedCall], calls: &'c [RecordedCall]) -> Owners<'c> {
    // A finished call may also own an older change, because some programs set modification times themselves.
    let finished = || writers.iter().filter(|call| call.has_ended);
    let writers_then = writers.iter().filter(|call| ran_at(call, time));
    let mut owners: Owners<'c> = writers_then.map(|call| session_of(call)).collect();
    if owners.is_empty() {
        // Calls that only read cannot have changed the file.
        owners.extend(calls.iter().filter(|call| call.may_write_unnamed_files() && ran_at(call, time)).map(session_of));
        owners.extend(finished().filter(|call| time <= call.quiet_after).map(|call| session_of(call)));
    }
    // Earlier writers of the file still own their part of the change.
    if !owners.is_empty() {
        owners.extend(finished().map(|call| session_of(call)));
    }
    owners
}

/// The sessions that own the deletion of a file; empty if all sessions own it.
fn owners_of_deletion<'c>(path: &Path, writers: &[&'c RecordedCall]) -> Owners<'c> {
    // A file tool's write does not delete a file, but a shell command that writes it may.
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
