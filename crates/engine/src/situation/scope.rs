//! Decides which events and commands are in the scope of a folder's policy.

use super::Situation;
use shell::SimpleCommand;

impl Situation {
    /// Absolute folders that the event runs in and paths that it names, possibly with duplicates. The commands of a
    /// shell call are included only before the call runs, because afterwards it can no longer be stopped.
    pub fn involved_paths(&self) -> Vec<String> {
        let cwd = std::iter::once(path::normalize(&self.event.cwd));
        if !self.event.kind.awaits_permission() {
            let files = self.event.tool.iter().flat_map(|call| &call.files);
            return cwd.chain(files.map(|file| path::normalize(&file.path))).collect();
        }
        let commands = self.script().into_iter().flat_map(|script| &script.commands);
        let folders = commands.flat_map(|command| self.folders_of(command));
        let named = self.touched_paths().iter().map(|touch| touch.absolute.clone());
        cwd.chain(folders).chain(named).collect()
    }

    /// True if the policy applies to the simple command at this index. A folder's policy applies to commands that run
    /// below the folder or name a path there.
    pub(crate) fn is_in_scope(&self, index: usize) -> bool {
        if !self.folders.is_subfolder {
            return true;
        }
        let here = self.in_scope.get_or_init(|| {
            let commands = self.script().map(|script| script.commands.as_slice()).unwrap_or_default();
            let is_below = |folder: String| path::below(&folder, &self.folders.root).is_some();
            let mut here: Vec<bool> =
                commands.iter().map(|command| self.folders_of(command).into_iter().any(is_below)).collect();
            for touch in self.touched_paths().iter().filter(|touch| touch.in_project.is_some()) {
                if let Some(here) = touch.command_index.and_then(|index| here.get_mut(index)) {
                    *here = true;
                }
            }
            here
        });
        here.get(index).copied().unwrap_or(false)
    }

    /// True if every simple command certainly runs below this policy's folder. Naming a path there is not enough,
    /// because the command may do something else as well.
    pub(crate) fn runs_in_scope_only(&self) -> bool {
        let is_below = |folder: &String| path::below(folder, &self.folders.root).is_some();
        let is_here = |command: &SimpleCommand| {
            let folders = self.folders_of(command);
            !folders.is_empty() && folders.iter().all(is_below)
        };
        !self.folders.is_subfolder || self.script().is_none_or(|script| script.commands.iter().all(is_here))
    }

    /// Possible working directories of a command; empty if unknown.
    fn folders_of(&self, command: &SimpleCommand) -> Vec<String> {
        let folders = command.works_in().filter(|_| !command.is_remote());
        let absolute = |folder: &String| path::normalize(&self.folders.absolute(folder, &self.event.cwd));
        folders.iter().filter_map(|folders| folders.list()).flatten().map(absolute).collect()
    }
}
