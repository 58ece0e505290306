//! Whose change a change is, where several sessions work in one tree.
//!
//! A session answers for what its tool calls name, for what its shell calls write, and for files that changed while one
//! of its calls ran. What nobody is known to have touched everybody answers for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use engine::event::Access;
use engine::file_rules::Changes;
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
}

impl Attribution {
    /// The changes that the session answers for; `None`: all of them.
    pub fn of_session(&self, root: &Path, changes: &Changes) -> Option<Arc<Changes>> {
        let store = Store::open_existing_read(&self.store, self.options).ok()?;
        let own = SessionKey { agent: &self.agent, session: &self.session };
        // Alone in the tree, it answers for everything.
        if !store.has_other_sessions(own).ok()? {
            return None;
        }
        let calls = store.calls(CALLS_LIMIT).ok()?;
        let owners = self.owners(root, changes, &calls);
        let key = (self.agent.as_str(), self.session.as_str());
        Some(Arc::new(changes.owned(|path| owners.get(path).is_none_or(|owners| owners.contains(&key)))))
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
        for call in calls {
            for path in self.written(call) {
                let tidy = paths::tidy(&path);
                if let Some(inside) = paths::below(&tidy, &root_text).filter(|inside| changes.contains(inside)) {
                    owners.entry(inside.to_owned()).or_default().insert(key(call));
                }
            }
        }
        // Of the others it is only known when they changed. What a call that only reads ran beside is not its doing.
        for path in changes.paths().filter(|path| !owners.contains_key(*path)).collect::<Vec<_>>() {
            let Some(time) = modified(&root.join(path)) else { continue };
            let running = calls.iter().filter(|call| call.may_write() && (call.started..=call.ended).contains(&time));
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

/// When a file last changed, in milliseconds since 1970.
fn modified(path: &Path) -> Option<i64> {
    let time = fs::symlink_metadata(path).ok()?.modified().ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
