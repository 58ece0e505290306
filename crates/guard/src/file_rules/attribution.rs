//! Which session made a change, where several sessions work in one tree.
//!
//! A session answers for what its tool calls name, for what its shell calls write, and for files that changed while one
//! of its calls ran. A call without an end may never have been made: it accounts only for what changed while it may have run.
//! A change that was made after every call that names the file is not explained by them: it belongs to the calls that ran
//! then, and without those to everybody. A session that only looked does not answer for what was there before it began.

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

/// Calls that are looked through, newest first.
const CALLS_LIMIT: usize = 5000;

#[derive(Clone)]
pub struct Attribution {
    pub store: PathBuf,
    pub options: store::StoreOptions,
    pub agent: String,
    pub session: String,
    pub home: Option<String>,
    /// When the session began, in milliseconds since 1970, where that is known.
    pub began: Option<i64>,
}

impl Attribution {
    /// The changes that the session answers for; `None`: all of them.
    pub fn of_session(&self, root: &Path, changes: &Changes) -> Option<Arc<Changes>> {
        // A workflow moved from an unknown session: no change can be left out as somebody else's.
        if self.session.is_empty() {
            return None;
        }
        let store = Store::open_existing_read(&self.store, self.options).ok()?;
        let own = SessionKey { agent: &self.agent, session: &self.session };
        let calls = store.calls(CALLS_LIMIT).ok()?;
        let began = self.began.filter(|_| self.only_looked(&calls));
        let is_alone = !store.has_other_sessions(own).ok()?;
        // Alone in the tree, it answers for everything.
        if is_alone && began.is_none() {
            return None;
        }
        let owners = if is_alone { BTreeMap::new() } else { self.owners(root, changes, &calls) };
        let key = (self.agent.as_str(), self.session.as_str());
        let is_since = |path: &str, began: i64| last_change(&root.join(path)).is_none_or(|time| time >= began);
        Some(Arc::new(changes.with_own(|path| match owners.get(path) {
            Some(owners) => owners.contains(&key),
            None => began.is_none_or(|began| is_since(path, began)),
        })))
    }

    /// Whether the session is known to have changed nothing.
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
                let tidy = path::tidy(&path);
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
                for folder in effect.folders.list().unwrap_or_default() {
                    written.push(path::absolute(&path, &path::absolute(folder, &call.cwd, home), home));
                }
            }
        }
        written
    }
}

/// Sessions, by agent and id.
type Owners<'c> = BTreeSet<(&'c str, &'c str)>;

fn key(call: &RecordedCall) -> (&str, &str) {
    (&call.agent, &call.session)
}

fn ran_at(call: &RecordedCall, time: i64) -> bool {
    (call.started..=call.ended).contains(&time)
}

/// Who answers for a file that last changed at this time. Empty: everybody. `named`: the calls that write this path.
fn owners_of_change<'c>(time: i64, named: &[&'c RecordedCall], calls: &'c [RecordedCall]) -> Owners<'c> {
    // An older change may be a finished call's, too: not every program sets the time of what it writes.
    let finished = || named.iter().filter(|call| call.has_ended);
    let made = named.iter().filter(|call| ran_at(call, time));
    let mut owners: Owners<'c> = made.map(|call| key(call)).collect();
    if owners.is_empty() {
        // A call that only reads did not change what changed beside it.
        owners.extend(calls.iter().filter(|call| call.may_write() && ran_at(call, time)).map(key));
        owners.extend(finished().filter(|call| time <= call.quiet_after).map(|call| key(call)));
    }
    // Whoever wrote the file before somebody else did has still changed it.
    if !owners.is_empty() {
        owners.extend(finished().map(|call| key(call)));
    }
    owners
}

/// Who answers for a file that is gone. Empty: everybody.
fn owners_of_deletion<'c>(path: &Path, named: &[&'c RecordedCall]) -> Owners<'c> {
    // A tool that writes a file does not delete it, but a command that is known to write it may.
    let deletes = |call: &RecordedCall| {
        call.command.is_some() || call.paths.iter().any(|file| file.access == Some(Access::Delete))
    };
    let may_have_run = |call: &RecordedCall| call.has_ended || last_change(path).is_some_and(|time| ran_at(call, time));
    named.iter().filter(|call| deletes(call) && may_have_run(call)).map(|call| key(call)).collect()
}

/// Whether all that a shell text runs is known, and writes nothing that it names.
fn only_reads(command: &str) -> bool {
    let script = shell::parse(command);
    let is_known = |command: &SimpleCommand| command.program().is_none_or(is_known_program);
    let reads = |effect: &Effect| matches!(effect.access, Some(Access::Read));
    script.complete && script.commands.iter().all(is_known) && script.effects().iter().all(reads)
}

/// When a file last changed; of one that is gone, when its folder did.
fn last_change(path: &Path) -> Option<i64> {
    path.ancestors().find_map(modified)
}

/// When a file last changed, in milliseconds since 1970.
fn modified(path: &Path) -> Option<i64> {
    let time = fs::symlink_metadata(path).ok()?.modified().ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
