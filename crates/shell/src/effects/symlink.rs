//! Symlinks that a script creates. An access to a path below a symlink is an access to the target.

use path::Access;

use super::effect::Effect;
use crate::model::{PossibleDirectories, SimpleCommand, normalize_path};
use crate::special_programs::file_copies::{FileCopy, file_copies};

/// A path at which an earlier command of the script creates a symlink, or may create a symlink.
pub(super) struct Symlink {
    name: String,
    target: String,
    /// True if it is not certain that the path is a symlink. Then only deletions are applied to the target.
    only_deletes: bool,
}

impl Symlink {
    /// Returns the symlink that an `ln` command creates.
    pub(super) fn created_by(command: &SimpleCommand) -> Option<Self> {
        let arguments = command.arguments().filter(|_| command.program() == Some("ln"))?;
        let (target, name) = match arguments.operands.as_slice() {
            [target, name] => {
                (command.value_or_placeholder_from(*target, 0)?, command.value_or_placeholder_from(*name, 0)?)
            }
            [target] => command
                .value_or_placeholder_from(*target, 0)
                .map(|target| (target, target.rsplit('/').next().unwrap_or(target)))?,
            _ => return None,
        };
        // A relative target is relative to the symlink's directory.
        let directory = name.rsplit_once('/').filter(|_| !path::is_rooted(target));
        let target = directory.map_or_else(|| target.to_owned(), |(directory, _)| format!("{directory}/{target}"));
        Some(Self { name: normalize_path(name), target, only_deletes: false })
    }

    /// Returns the possible symlinks that a command creates because it moves files, or copies them without following
    /// symlinks. If the moved or copied file is a symlink, its destination becomes a symlink with the same target.
    pub(super) fn copied_by(command: &SimpleCommand) -> Vec<Self> {
        const PRESERVING: &[&str] =
            &["-a", "--archive", "-d", "-P", "--no-dereference", "-r", "-R", "--recursive", "-l", "--links"];
        let Some((program, arguments)) = command.program().zip(command.arguments()) else { return Vec::new() };
        let preserves = matches!(program, "mv" | "gmv") || program != "ln" && arguments.has_flag(PRESERVING);
        // Sources outside the project are left out: an effect on a copy of such a file does not count as an effect on
        // the original file. Dotfiles are left out too, because a copy of a configuration file is not the
        // configuration.
        let may_be_symlink = |from: &str| !path::is_rooted(from) && !from.starts_with('.') && !from.contains("..");
        let copies = file_copies(command, program, arguments);
        let copies = copies.into_iter().filter(|copy| preserves && may_be_symlink(copy.from));
        let symlink = |name: &str, copy: &FileCopy| Self {
            name: normalize_path(name),
            target: normalize_path(copy.from),
            only_deletes: true,
        };
        copies
            .flat_map(|copy| {
                [Some(symlink(copy.to, &copy)), copy.path_in_directory().map(|name| symlink(&name, &copy))]
            })
            .flatten()
            .collect()
    }

    /// If the path of an effect leads through the symlink, returns the same effect on the target. Deleting a symlink
    /// does not delete its target, unless the path ends with a slash.
    pub(super) fn follow(&self, effect: &Effect) -> Vec<Effect> {
        let is_within =
            effect.path.as_deref().is_some_and(|path| path == "." || path.ends_with('/') || path.ends_with("/."));
        let end = if is_within { "/" } else { "" };
        let paths = effect.path.as_deref().and_then(|path| effect.directories.after_cd(path).list().map(<[_]>::to_vec));
        let followed = |candidate: String| {
            let path = normalize_path(&candidate);
            let rest = path.strip_prefix(&self.name)?;
            let is_counted = !self.only_deletes || effect.access == Some(Access::Delete);
            let reaches_target = rest.is_empty() && (is_within || effect.access != Some(Access::Delete));
            let is_followed = is_counted && (rest.starts_with('/') || reaches_target);
            let path = Some(format!("{}{rest}{end}", self.target));
            is_followed.then(|| Effect { path, directories: PossibleDirectories::default(), ..effect.clone() })
        };
        paths.into_iter().flatten().filter_map(followed).collect()
    }
}
