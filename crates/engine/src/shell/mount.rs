//! Folders of this machine that a container has under names of its own: `docker run -v "$PWD":/w`.

use super::command::{Folders, SimpleCommand};
use crate::paths;
use crate::programs::Arguments;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// As it is written.
    from: String,
    /// What that is relative to.
    folders: Folders,
    to: String,
}

/// Those that a command makes for what it runs.
pub(super) fn mounts(command: &SimpleCommand, arguments: &Arguments) -> Vec<Mount> {
    let made = arguments.flags.iter().filter_map(|flag| {
        let value = command.meaning_from(flag.value?.word, flag.value?.from)?;
        let (from, to) = if flag.is("--volume") {
            value.split_once(':')?
        } else if flag.is("--mount") {
            (field(value, &["source", "src"])?, field(value, &["target", "destination", "dst"])?)
        } else {
            return None;
        };
        // A name without a slash is a volume that lies elsewhere.
        let is_folder = paths::is_free(from) || from.starts_with('.') || from.contains('/');
        let to = to.split(':').next().unwrap_or(to).to_owned();
        is_folder.then(|| Mount { from: from.to_owned(), folders: command.folders.clone(), to })
    });
    made.collect()
}

/// `type=bind,source=…,target=…`
fn field<'v>(value: &'v str, names: &[&str]) -> Option<&'v str> {
    let mut fields = value.split(',').filter_map(|field| field.split_once('='));
    fields.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
}

impl Mount {
    /// The same file on this machine, and what its path is relative to. `path` is one of the container.
    pub(super) fn here(&self, path: &str) -> Option<(String, Folders)> {
        let path = paths::tidy(path);
        let rest = paths::below(&path, &self.to)?;
        let path = if rest.is_empty() { self.from.clone() } else { format!("{}/{rest}", self.from) };
        Some((path, self.folders.clone()))
    }
}
