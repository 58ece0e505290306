//! What is done in a container, as it comes to on the host.

use path::Access;

use super::effect::Effect;
use crate::model::{Container, Folders, Mount};

impl Container {
    /// What something that is done within comes to on the host.
    pub(super) fn on_host(&self, effect: &Effect) -> Vec<Effect> {
        let Some(path) = effect.path.as_deref() else {
            let is_reached = self.is_open || self.mounts.iter().any(|mount| mount.lets(effect));
            return is_reached.then(|| effect.clone()).into_iter().collect();
        };
        let places = places(path, &effect.folders);
        let mapped = |places: Vec<String>| places.iter().flat_map(|place| self.mapped(place, effect)).collect();
        let mut found: Vec<Effect> = places.map_or_else(|| self.in_any(path, effect), mapped);
        let is_deletion = |effect: &Effect| effect.access == Some(Access::Delete);
        if self.is_open && is_deletion(effect) && !found.iter().any(is_deletion) {
            found.push(Effect { path: None, ..effect.clone() });
        }
        found
    }

    /// Of a path from a folder that is not known: it may be in any mount.
    fn in_any(&self, path: &str, effect: &Effect) -> Vec<Effect> {
        let doubtful = Effect { access: None, takes_all: false, ..effect.clone() };
        let mounts = self.mounts.iter().filter(|mount| mount.lets(effect));
        mounts.filter_map(|mount| self.behind(mount, path, &doubtful)).collect()
    }

    /// `place`: absolute and plain.
    fn mapped(&self, place: &str, effect: &Effect) -> Vec<Effect> {
        let around = self.mounts.iter().filter(|mount| path::below(place, &mount.target).is_some());
        // The innermost hides the others.
        let mount = around.max_by_key(|mount| mount.target.len()).filter(|mount| mount.lets(effect));
        let here = mount.and_then(|mount| self.behind(mount, path::below(place, &mount.target)?, effect));
        // With a folder goes what is mounted in it.
        let all = place.strip_suffix("/*").unwrap_or(place);
        let is_within = |mount: &&Mount| path::below(&mount.target, all).is_some_and(|rest| !rest.is_empty());
        let within = self.mounts.iter().filter(|mount| effect.takes_all && mount.lets(effect)).filter(is_within);
        here.into_iter().chain(within.filter_map(|mount| self.behind(mount, "", effect))).collect()
    }

    fn behind(&self, mount: &Mount, rest: &str, effect: &Effect) -> Option<Effect> {
        let source = mount.source.as_deref()?;
        let path = if rest.is_empty() { source.to_owned() } else { format!("{}/{rest}", source.trim_end_matches('/')) };
        Some(Effect { path: Some(path), folders: self.started_in.clone(), ..effect.clone() })
    }
}

impl Mount {
    /// Whether this can be done to what is in it.
    fn lets(&self, effect: &Effect) -> bool {
        self.source.is_some() && !(self.is_read_only && matches!(effect.access, Some(Access::Write | Access::Delete)))
    }
}

/// Where in the container a path leads; absolute and plain. `None` where that is not known.
fn places(path: &str, folders: &Folders) -> Option<Vec<String>> {
    let at = |path: &str| {
        // Few images have another user.
        let path = path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("/root{rest}"));
        path.starts_with('/').then(|| path::tidy(&path))
    };
    if path::is_free(path) {
        return Some(at(path).into_iter().collect());
    }
    folders.list()?.iter().map(|folder| at(&format!("{folder}/{path}"))).collect()
}
