//! Links that a script makes: what is done to a path behind one is done to what the link leads to.

use path::Access;

use super::effect::Effect;
use crate::model::{Folders, SimpleCommand, plain};
use crate::special_programs::copied::{Copy, copies};

/// A link that an earlier command of the script makes.
pub(super) struct Link {
    name: String,
    target: String,
    /// It may be none, so that only what is deleted through it counts.
    only_deletes: bool,
}

impl Link {
    pub(super) fn made_by(command: &SimpleCommand) -> Option<Self> {
        let arguments = command.arguments().filter(|_| command.program() == Some("ln"))?;
        let (target, name) = match arguments.operands.as_slice() {
            [target, name] => (command.meaning_from(*target, 0)?, command.meaning_from(*name, 0)?),
            [target] => {
                command.meaning_from(*target, 0).map(|target| (target, target.rsplit('/').next().unwrap_or(target)))?
            }
            _ => return None,
        };
        // What it leads to is told from where it lies.
        let folder = name.rsplit_once('/').filter(|_| !path::is_free(target));
        let target = folder.map_or_else(|| target.to_owned(), |(folder, _)| format!("{folder}/{target}"));
        Some(Self { name: plain(name), target, only_deletes: false })
    }

    /// What is copied or moved as it is may be a link, and leads where it led before.
    pub(super) fn copied_by(command: &SimpleCommand) -> Vec<Self> {
        const KEEPING: &[&str] =
            &["-a", "--archive", "-d", "-P", "--no-dereference", "-r", "-R", "--recursive", "-l", "--links"];
        let Some((program, arguments)) = command.program().zip(command.arguments()) else { return Vec::new() };
        let keeps = matches!(program, "mv" | "gmv") || program != "ln" && arguments.has_flag(KEEPING);
        // Where a path leads out by itself, what is done to the copy is not done there; nor are settings copies of themselves.
        let may_be_link = |from: &str| !path::is_free(from) && !from.starts_with('.') && !from.contains("..");
        let copies = copies(command, program, arguments).into_iter().filter(|copy| keeps && may_be_link(copy.from));
        let link = |name: &str, copy: &Copy| Self { name: plain(name), target: plain(copy.from), only_deletes: true };
        copies
            .flat_map(|copy| [Some(link(copy.to, &copy)), copy.within().map(|name| link(&name, &copy))])
            .flatten()
            .collect()
    }

    /// The same, done to what the link leads to. To delete a link is not to delete that, unless a slash stands behind it.
    pub(super) fn followed(&self, effect: &Effect) -> Vec<Effect> {
        let is_within =
            effect.path.as_deref().is_some_and(|path| path == "." || path.ends_with('/') || path.ends_with("/."));
        let end = if is_within { "/" } else { "" };
        let places = effect.path.as_deref().and_then(|path| effect.folders.then(path).list().map(<[_]>::to_vec));
        let through = |place: String| {
            let path = plain(&place);
            let rest = path.strip_prefix(&self.name)?;
            let counts = !self.only_deletes || effect.access == Some(Access::Delete);
            let reaches_it = rest.is_empty() && (is_within || effect.access != Some(Access::Delete));
            let is_through = counts && (rest.starts_with('/') || reaches_it);
            let path = Some(format!("{}{rest}{end}", self.target));
            is_through.then(|| Effect { path, folders: Folders::default(), ..effect.clone() })
        };
        places.into_iter().flatten().filter_map(through).collect()
    }
}
