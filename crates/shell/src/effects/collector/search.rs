//! Files that search programs read or delete: patterns for file names, and `find`.

use path::Access;

use super::Collector;
use crate::effects::effect::PathExpansion;
use crate::model::Word;
use crate::programs::{Argument, Role};
use crate::special_programs::find;

impl Collector<'_> {
    /// Adds the files that a search reads. `glob`: the glob that the names of these files match. A glob without a slash
    /// matches at any depth. A glob that matches every name is left out: the search then reads a directory, not a
    /// particular file.
    pub(super) fn collect_from_search(&mut self, glob: Option<&str>, word: &Word) {
        let name = glob.map(|glob| glob.rsplit('/').next().unwrap_or(glob));
        if name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c == '*')) {
            return;
        }
        self.add_access(glob, &Word { glob: false, ..word.clone() }, Some(Access::Read));
        let Some(glob) = glob.filter(|glob| !glob.starts_with('!')) else { return };
        let depth = if glob.contains('/') { "" } else { "**/" };
        for directory in self.searched_directories() {
            let first = self.effects.len();
            self.add_access(Some(&format!("{directory}{depth}{glob}")), &Word::known(glob), Some(Access::Read));
            self.effects.iter_mut().skip(first).for_each(|effect| effect.expansion = PathExpansion::SearchGlob);
        }
    }

    /// Returns the directories that a search starts from, each as a prefix for the paths below it: empty for the
    /// working directory, otherwise with a final slash.
    pub(super) fn searched_directories(&self) -> Vec<String> {
        let command = self.command;
        let arguments = command.arguments().into_iter();
        let read = arguments.flat_map(|known| {
            known
                .with_roles
                .iter()
                .filter(|argument| argument.role == Role::Read && known.operands.contains(&argument.word))
        });
        let directory = |argument: &Argument| match command.value_or_placeholder_from(argument.word, argument.from) {
            Some(directory) if directory != "." => format!("{}/", directory.trim_end_matches('/')),
            _ => String::new(),
        };
        let mut directories: Vec<String> = read.map(directory).collect();
        if directories.is_empty() {
            directories.push(String::new());
        }
        directories.dedup();
        directories
    }

    /// Adds the files that `find` deletes or writes.
    pub(super) fn collect_from_find(&mut self) {
        let command = self.command;
        let deletes = command.words().iter().any(|word| word.value.as_deref() == Some("-delete"));
        let follows_symlinks =
            command.words().iter().any(|word| matches!(word.value.as_deref(), Some("-L" | "-H" | "-follow")));
        for found in find::found_paths(command).iter().filter(|_| deletes) {
            self.add_recursive_deletion(found.value_or_placeholder(), found);
            // With `-L`, `find` follows symlinks, and deletes the contents of a found symlink's target.
            if let Some(directory) =
                found.value_or_placeholder().and_then(|path| found.directory_of_tree(path)).filter(|_| follows_symlinks)
            {
                let within = format!("{directory}/*");
                self.add_recursive_deletion(Some(&within), &Word { glob: true, ..Word::known(&within) });
            }
        }
        let writes = |word: &Word| matches!(word.value.as_deref(), Some("-fprint" | "-fprint0" | "-fls" | "-fprintf"));
        let targets = command.words().iter().zip(command.words().iter().skip(1)).filter(|(flag, _)| writes(flag));
        for (_, target) in targets {
            self.add_access(target.value_or_placeholder(), target, Some(Access::Write));
        }
    }
}
