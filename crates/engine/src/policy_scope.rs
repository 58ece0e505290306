//! Where an event happens, and where what it names lies: by this, policies of folders know what is their matter.
use crate::situation::Situation;
use shell::SimpleCommand;

impl Situation {
    /// The folders that the event happens in and the paths that it names; absolute and plain. One may come more than once.
    /// The commands of a shell call count while it can still be stopped: afterwards nobody waits for what they come to.
    pub fn whereabouts(&self) -> Vec<String> {
        let cwd = std::iter::once(path::tidy(&self.event.cwd));
        if !self.event.kind.awaits_permission() {
            let files = self.event.tool.iter().flat_map(|call| &call.files);
            return cwd.chain(files.map(|file| path::tidy(&file.path))).collect();
        }
        let commands = self.script().into_iter().flat_map(|script| &script.commands);
        let folders = commands.flat_map(|command| self.folders_of(command));
        let named = self.touches().iter().map(|touch| touch.absolute.clone());
        cwd.chain(folders).chain(named).collect()
    }

    /// Whether a simple command is this policy's matter. To the policy of a folder, it is if it runs there or names a
    /// path there.
    pub(crate) fn concerns(&self, place: usize) -> bool {
        if !self.place.is_part {
            return true;
        }
        let here = self.here.get_or_init(|| {
            let commands = self.script().map(|script| script.commands.as_slice()).unwrap_or_default();
            let is_below = |folder: String| path::below(&folder, &self.place.root).is_some();
            let mut here: Vec<bool> =
                commands.iter().map(|command| self.folders_of(command).into_iter().any(is_below)).collect();
            for touch in self.touches().iter().filter(|touch| touch.inside.is_some()) {
                if let Some(here) = touch.command.and_then(|place| here.get_mut(place)) {
                    *here = true;
                }
            }
            here
        });
        here.get(place).copied().unwrap_or(false)
    }

    /// Whether every simple command surely runs where this policy is. One that only names a path there may do something
    /// else as well.
    pub(crate) fn is_all_here(&self) -> bool {
        let is_below = |folder: &String| path::below(folder, &self.place.root).is_some();
        let is_here = |command: &SimpleCommand| {
            let folders = self.folders_of(command);
            !folders.is_empty() && folders.iter().all(is_below)
        };
        !self.place.is_part || self.script().is_none_or(|script| script.commands.iter().all(is_here))
    }

    /// The folders that a command may run in, where that is known.
    fn folders_of(&self, command: &SimpleCommand) -> Vec<String> {
        let folders = command.works_in().filter(|_| !command.is_remote());
        let absolute = |folder: &String| path::tidy(&self.place.absolute(folder, &self.event.cwd));
        folders.iter().filter_map(|folders| folders.list()).flatten().map(absolute).collect()
    }
}
