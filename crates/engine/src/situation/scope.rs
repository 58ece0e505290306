//! Decides which events and commands are in the scope of a policy that belongs to a directory.

use super::Situation;
use shell::SimpleCommand;

impl Situation {
    /// The absolute paths of the directories in which the event's commands run, and of the files that the event names,
    /// possibly with duplicates. Directories and files that only the script of a shell call names are included only
    /// before the call runs, because the call can no longer be refused afterwards.
    pub fn involved_paths(&self) -> Vec<String> {
        let cwd = std::iter::once(path::normalize(&self.event.cwd));
        if !self.event.kind.awaits_permission() {
            let files = self.event.tool.iter().flat_map(|call| &call.files);
            return cwd.chain(files.map(|file| path::normalize(&file.path))).collect();
        }
        let commands = self.script().into_iter().flat_map(|script| &script.commands);
        let directories = commands.flat_map(|command| self.working_directories_of(command));
        let named = self.touched_paths().iter().map(|touch| touch.absolute.clone());
        cwd.chain(directories).chain(named).collect()
    }

    /// True if the policy applies to the simple command at this index. The policy of a directory applies to commands
    /// that run in this directory or name a path in this directory.
    pub(crate) fn is_in_scope(&self, index: usize) -> bool {
        if !self.directories.is_subdirectory {
            return true;
        }
        let in_scope = self.in_scope.get_or_init(|| {
            let commands = self.script().map(|script| script.commands.as_slice()).unwrap_or_default();
            let is_below = |directory: String| path::relative_to(&directory, &self.directories.root).is_some();
            let mut in_scope: Vec<bool> =
                commands.iter().map(|command| self.working_directories_of(command).into_iter().any(is_below)).collect();
            for touch in self.touched_paths().iter().filter(|touch| touch.in_project.is_some()) {
                if let Some(is_in_scope) = touch.command_index.and_then(|index| in_scope.get_mut(index)) {
                    *is_in_scope = true;
                }
            }
            in_scope
        });
        in_scope.get(index).copied().unwrap_or(false)
    }

    /// True if every simple command certainly runs in this policy's directory. A command that runs in another directory
    /// and only names a path in this policy's directory does not count, because the command may also access files
    /// outside of this policy's directory.
    pub(crate) fn runs_in_scope_only(&self) -> bool {
        let is_below = |directory: &String| path::relative_to(directory, &self.directories.root).is_some();
        let runs_in_scope = |command: &SimpleCommand| {
            let directories = self.working_directories_of(command);
            !directories.is_empty() && directories.iter().all(is_below)
        };
        !self.directories.is_subdirectory
            || self.script().is_none_or(|script| script.commands.iter().all(runs_in_scope))
    }

    /// The possible working directories of a command; empty if the directories are unknown or on another machine.
    fn working_directories_of(&self, command: &SimpleCommand) -> Vec<String> {
        let directories = command.works_in().filter(|_| !command.is_remote());
        let absolute = |directory: &String| path::normalize(&self.directories.absolute(directory, &self.event.cwd));
        directories.iter().filter_map(|directories| directories.list()).flatten().map(absolute).collect()
    }
}
