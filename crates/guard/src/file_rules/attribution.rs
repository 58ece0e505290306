//! Whose change a change is, where several sessions work in one tree.
//!
//! A session answers for what its tool calls name, for what its shell calls write, and for files that changed while one
//! of its calls ran. Of a call whose end was not seen nobody knows whether it was made: it has only changed what changed while
//! it may have run. What nobody is known to have touched everybody answers for, but a session that only looked: that has
//! nothing to do with what was there before it began.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use engine::event::Access;
use engine::file_rules::Changes;
use engine::programs::is_known_program;
use engine::shell::{Effect, SimpleCommand};
use engine::{paths, shell};
use store::{Call, SessionKey, Store};

/// Calls that are looked through, newest first.
const CALLS_LIMIT: usize = 5000;

#[derive(Clone)]
pub struct Attribution {
    pub store: PathBuf,
    pub options: store::Options,
    pub agent: String,
    pub session: String,
    pub home: Option<String>,
    /// When the session began, in milliseconds since 1970, where that is known.
    pub began: Option<i64>,
}

impl Attribution {
    /// The changes that the session answers for; `None`: all of them.
    pub fn of_session(&self, root: &Path, changes: &Changes) -> Option<Arc<Changes>> {
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
        Some(Arc::new(changes.owned(|path| match owners.get(path) {
            Some(owners) => owners.contains(&key),
            None => began.is_none_or(|began| is_since(path, began)),
        })))
    }

    /// Whether the session is known to have changed nothing.
    fn only_looked(&self, calls: &[Call]) -> bool {
        let mut own = calls.iter().filter(|call| call.agent == self.agent && call.session == self.session);
        own.all(|call| {
            let only_reads = match &call.command {
                Some(command) => only_reads(command),
                None => !call.may_write(),
            };
            only_reads && self.written(call).is_empty()
        })
    }

    fn owners<'c>(
        &self,
        root: &Path,
        changes: &Changes,
        calls: &'c [Call],
    ) -> BTreeMap<String, BTreeSet<(&'c str, &'c str)>> {
        let mut owners: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        let root_text = root.to_string_lossy();
        let key = |call: &'c Call| (call.agent.as_str(), call.session.as_str());
        let ran_at = |call: &Call, time: i64| (call.started..=call.ended).contains(&time);
        for call in calls {
            for path in self.written(call) {
                let tidy = paths::tidy(&path);
                let Some(inside) = paths::below(&tidy, &root_text).filter(|inside| changes.contains(inside)) else {
                    continue;
                };
                if call.has_ended || last_change(&root.join(inside)).is_some_and(|time| ran_at(call, time)) {
                    owners.entry(inside.to_owned()).or_default().insert(key(call));
                }
            }
        }
        // Of the others it is only known when they changed. What a call that only reads ran beside is not its doing.
        for path in changes.paths().filter(|path| !owners.contains_key(*path)).collect::<Vec<_>>() {
            let Some(time) = modified(&root.join(path)) else { continue };
            let running = calls.iter().filter(|call| call.may_write() && ran_at(call, time));
            let running: BTreeSet<_> = running.map(key).collect();
            if !running.is_empty() {
                owners.insert(path.to_owned(), running);
            }
        }
        owners
    }

    fn written(&self, call: &Call) -> Vec<String> {
        let home = self.home.as_deref();
        let is_written = |access: Option<Access>| matches!(access, Some(Access::Write | Access::Delete));
        let named = call.paths.iter().filter(|file| is_written(file.access));
        let mut written: Vec<String> = named.map(|file| paths::absolute(&file.path, &call.cwd, home)).collect();
        if let Some(command) = &call.command {
            for effect in shell::parse(command).effects().into_iter().filter(|effect| is_written(effect.access)) {
                let Some(path) = effect.path else { continue };
                for folder in effect.folders.list().unwrap_or_default() {
                    written.push(paths::absolute(&path, &paths::absolute(folder, &call.cwd, home), home));
                }
            }
        }
        written
    }
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
