//! Maps effects inside a container to effects on the host, through the container's mounts.

use path::Access;

use super::effect::Effect;
use crate::model::{Container, Mount, PossibleDirectories};

impl Container {
    /// Returns the effects on the host of one effect inside the container.
    pub(super) fn on_host(&self, effect: &Effect) -> Vec<Effect> {
        let Some(path) = effect.path.as_deref() else {
            let may_reach_host = self.may_reach_host || self.mounts.iter().any(|mount| mount.permits(effect));
            return may_reach_host.then(|| effect.clone()).into_iter().collect();
        };
        let paths = paths_in_container(path, &effect.directories);
        let mapped = |paths: Vec<String>| paths.iter().flat_map(|path| self.mapped(path, effect)).collect();
        let mut found: Vec<Effect> = paths.map_or_else(|| self.in_any_mount(path, effect), mapped);
        let is_deletion = |effect: &Effect| effect.access == Some(Access::Delete);
        if self.may_reach_host && is_deletion(effect) && !found.iter().any(is_deletion) {
            found.push(Effect { path: None, ..effect.clone() });
        }
        found
    }

    /// Returns the effects of an access to a path relative to an unknown directory. That directory may be in any mount.
    fn in_any_mount(&self, path: &str, effect: &Effect) -> Vec<Effect> {
        let uncertain = Effect { access: None, is_recursive: false, ..effect.clone() };
        let mounts = self.mounts.iter().filter(|mount| mount.permits(effect));
        mounts.filter_map(|mount| self.in_source(mount, path, &uncertain)).collect()
    }

    /// Returns the effects of an access to an absolute, normalized path in the container.
    fn mapped(&self, path: &str, effect: &Effect) -> Vec<Effect> {
        let enclosing = self.mounts.iter().filter(|mount| path::relative_to(path, &mount.target).is_some());
        // If several mounts contain the path, the innermost mount applies.
        let mount = enclosing.max_by_key(|mount| mount.target.len()).filter(|mount| mount.permits(effect));
        let in_mount = mount.and_then(|mount| self.in_source(mount, path::relative_to(path, &mount.target)?, effect));
        // A recursive access also reaches the mounts below the path.
        let directory = path.strip_suffix("/*").unwrap_or(path);
        let is_below =
            |mount: &&Mount| path::relative_to(&mount.target, directory).is_some_and(|rest| !rest.is_empty());
        let below = self.mounts.iter().filter(|mount| effect.is_recursive && mount.permits(effect)).filter(is_below);
        in_mount.into_iter().chain(below.filter_map(|mount| self.in_source(mount, "", effect))).collect()
    }

    /// Returns the effect on a path below a mount's source. `rest`: the path relative to the mount. Returns `None` if
    /// the source is not a path on the host.
    fn in_source(&self, mount: &Mount, rest: &str, effect: &Effect) -> Option<Effect> {
        let source = mount.source.as_deref()?;
        let path = if rest.is_empty() { source.to_owned() } else { format!("{}/{rest}", source.trim_end_matches('/')) };
        Some(Effect { path: Some(path), directories: self.started_in.clone(), ..effect.clone() })
    }
}

impl Mount {
    /// True if the mount lets an effect through to the host.
    fn permits(&self, effect: &Effect) -> bool {
        self.source.is_some() && !(self.is_read_only && matches!(effect.access, Some(Access::Write | Access::Delete)))
    }
}

/// Returns the absolute, normalized paths in the container that a path may stand for; `None` if the working directory
/// is not known.
fn paths_in_container(path: &str, directories: &PossibleDirectories) -> Option<Vec<String>> {
    let absolute = |path: &str| {
        // `~` stands for `/root`, because most images run as root.
        let path = path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("/root{rest}"));
        path.starts_with('/').then(|| path::normalize(&path))
    };
    if path::is_rooted(path) {
        return Some(absolute(path).into_iter().collect());
    }
    directories.list()?.iter().map(|directory| absolute(&format!("{directory}/{path}"))).collect()
}
