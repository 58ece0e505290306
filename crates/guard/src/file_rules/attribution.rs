//! Attributes changes to sessions when several sessions work in one tree.
//!
//! A session owns the files that its tool calls name, the files that its shell commands write, and files that changed
//! while one of its calls ran. A call whose end was not recorded may have been denied: it counts only for changes made
//! while it could have run. A change that is newer than every call that names the file belongs to the sessions whose
//! calls ran at that time, or to all sessions if no call ran. A session that has only read files does not own changes
//! from before it began.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use engine::file_rules::Changes;
use path::Access;
use shell::programs::is_known_program;
use shell::{Effect, SimpleCommand};
use store::{RecordedCall, SessionKey, Store};

/// The maximum number of calls that are considered, newest first.
const CALLS_LIMIT: usize = 5000;

#[derive(Clone)]
pub struct Attribution {
    pub journal_path: PathBuf,
    pub options: store::StoreOptions,
    pub agent: String,
    pub session: String,
    pub home: Option<String>,
    /// The session's start in milliseconds since 1970, if known.
    pub began: Option<i64>,
}

impl Attribution {
    /// All changes, those of other sessions marked; `None` if there is nothing to mark or the journal cannot be read.
    pub fn of_session(&self, root: &Path, changes: &Changes) -> Option<Arc<Changes>> {
        // The session of a workflow's move may be unknown. Then it may own any change.
        if self.session.is_empty() {
            return None;
        }
        let store = Store::open_existing_read(&self.journal_path, self.options).ok()?;
        let own = SessionKey { agent: &self.agent, session: &self.session };
        let calls = store.calls(CALLS_LIMIT).ok()?;
        let read_only_since = self.began.filter(|_| self.only_looked(&calls));
        let is_alone = !store.has_other_sessions(own).ok()?;
        // The only session in the tree owns all changes.
        if is_alone && read_only_since.is_none() {
            return None;
        }
        let owners = if is_alone { BTreeMap::new() } else { self.owners(root, changes, &calls) };
        let key = (self.agent.as_str(), self.session.as_str());
        let is_since = |path: &str, began: i64| last_change(&root.join(path)).is_none_or(|time| time >= began);
        Some(Arc::new(changes.with_own(|path| match owners.get(path) {
            Some(owners) => owners.contains(&key),
            None => read_only_since.is_none_or(|began| is_since(path, began)),
        })))
    }

    /// True if it is certain that the session has not changed any file.
    fn only_looked(&self, calls: &[RecordedCall]) -> bool {
        let mut own = calls.iter().filter(|call| call.agent == self.agent && call.session == self.session);
        own.all(|call| {
            let only_reads = match &call.command {
                Some(command) => only_reads(command),
                None => !call.may_write(),
            };
            only_reads && self.written(call).is_empty()
        })
    }

    fn owners<'c>(&self, root: &Path, changes: &Changes, calls: &'c [RecordedCall]) -> BTreeMap<String, Owners<'c>> {
        let mut namers: BTreeMap<String, Vec<&'c RecordedCall>> = BTreeMap::new();
        let root_text = root.to_string_lossy();
        for call in calls {
            for path in self.written(call) {
                let tidy = path::normalize(&path);
                if let Some(inside) = path::below(&tidy, &root_text).filter(|inside| changes.contains(inside)) {
                    namers.entry(inside.to_owned()).or_default().push(call);
                }
            }
        }
        let owners_of = |path: &str| {
            let named = namers.get(path).map(Vec::as_slice).unwrap_or_default();
            let owners = match modified(&root.join(path)) {
                Some(time) => owners_of_change(time, named, calls),
                None => owners_of_deletion(&root.join(path), named),
            };
            (!owners.is_empty()).then(|| (path.to_owned(), owners))
        };
        changes.paths().filter_map(owners_of).collect()
    }

    fn written(&self, call: &RecordedCall) -> Vec<String> {
        let home = self.home.as_deref();
        let is_written = |access: Option<Access>| matches!(access, Some(Access::Write | Access::Delete));
        let named = call.paths.iter().filter(|file| is_written(file.access));
        let mut written: Vec<String> = named.map(|file| path::absolute(&file.path, &call.cwd, home)).collect();
        if let Some(command) = &call.command {
            for effect in shell::parse(command).effects().into_iter().filter(|effect| is_written(effect.access)) {
                let Some(path) = effect.path else { continue };
                for folder in effect.directories.list().unwrap_or_default() {
                    written.push(path::absolute(&path, &path::absolute(folder, &call.cwd, home), home));
                }
            }
        }
        written
    }
}

/// Sessions as pairs of agent and session id.
type Owners<'c> = BTreeSet<(&'c str, &'c str)>;

fn key(call: &RecordedCall) -> (&str, &str) {
    (&call.agent, &call.session)
}

fn ran_at(call: &RecordedCall, time: i64) -> bool {
    (call.started..=call.ended).contains(&time)
}

/// The sessions that own a file last changed at `time`; empty if all sessions own it. `named` has the calls that write
/// this path.
fn owners_of_change<'c>(time: i64, named: &[&'c RecordedCall], calls: &'c [RecordedCall]) -> Owners<'c> {
    // A finished call may also own an older change, because some programs set modification times themselves.
    let finished = || named.iter().filter(|call| call.has_ended);
    let made = named.iter().filter(|call| ran_at(call, time));
    let mut owners: Owners<'c> = made.map(|call| key(call)).collect();
    if owners.is_empty() {
        // Calls that only read cannot have changed the file.
        owners.extend(calls.iter().filter(|call| call.may_write() && ran_at(call, time)).map(key));
        owners.extend(finished().filter(|call| time <= call.quiet_after).map(|call| key(call)));
    }
    // Earlier writers of the file still own their part of the change.
    if !owners.is_empty() {
        owners.extend(finished().map(|call| key(call)));
    }
    owners
}

/// The sessions that own the deletion of a file; empty if all sessions own it.
fn owners_of_deletion<'c>(path: &Path, named: &[&'c RecordedCall]) -> Owners<'c> {
    // A file tool's write does not delete a file, but a shell command that writes it may.
    let deletes = |call: &RecordedCall| {
        call.command.is_some() || call.paths.iter().any(|file| file.access == Some(Access::Delete))
    };
    let may_have_run = |call: &RecordedCall| call.has_ended || last_change(path).is_some_and(|time| ran_at(call, time));
    named.iter().filter(|call| deletes(call) && may_have_run(call)).map(|call| key(call)).collect()
}

/// True if all commands of the script are known programs that only read files.
fn only_reads(command: &str) -> bool {
    let script = shell::parse(command);
    let is_known = |command: &SimpleCommand| command.program().is_none_or(is_known_program);
    let reads = |effect: &Effect| matches!(effect.access, Some(Access::Read));
    script.complete && script.commands.iter().all(is_known) && script.effects().iter().all(reads)
}

/// The modification time of a file; for a deleted one, of its nearest existing parent.
fn last_change(path: &Path) -> Option<i64> {
    path.ancestors().find_map(modified)
}

/// The modification time in milliseconds since 1970.
fn modified(path: &Path) -> Option<i64> {
    let time = fs::symlink_metadata(path).ok()?.modified().ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests;
