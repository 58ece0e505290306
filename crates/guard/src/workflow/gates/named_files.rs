//! Finds the files of a project that a gate's command names or runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::workflow::Gate;
use path::pattern::Pattern;
use shell::programs::{Argument, Role};
use shell::{RedirectKind, SimpleCommand};

use crate::facts::glob;

/// Paths are relative to the root.
#[derive(Default)]
pub struct NamedFiles {
    /// Files that the command names. They may not exist.
    pub paths: BTreeSet<String>,
    /// Files that the command runs, as far as that is known. They may not exist.
    pub run: BTreeSet<String>,
    /// Globs that the shell expands.
    globs: Vec<String>,
}

impl NamedFiles {
    pub fn of(gate: &Gate, root: &Path) -> Self {
        let mut named = Self::default();
        let Gate::Command { words, protect: true, .. } = gate else { return named };
        let Some(root) = root.to_str() else { return named };
        let script = shell::parse(&shell_words::join(words));
        // Programs and shells may change to a directory in ways that are not read (`make -C tools`, `CDPATH`), so paths
        // may be relative to any directory that the script names.
        let mut folders: BTreeSet<String> = BTreeSet::new();
        for command in &script.commands {
            for folder in working_directories(command, root) {
                for (word, _) in named_words(command) {
                    folders.extend(
                        possible_paths_in(word)
                            .filter_map(|path| relative_to_root(path, &folder, root))
                            .filter(|path| Path::new(root).join(path).is_dir()),
                    );
                }
            }
        }
        let named_folders: Vec<String> = folders.iter().map(|folder| path::absolute(folder, root, None)).collect();
        for command in &script.commands {
            let command_folders = working_directories(command, root);
            let run = files_run_by(command);
            for folder in command_folders.iter().chain(&named_folders) {
                for (word, is_glob) in named_words(command) {
                    named.add(word, is_glob, folder, root);
                }
            }
            for folder in &command_folders {
                named.run.extend(run.iter().filter_map(|file| relative_to_root(file, folder, root)));
            }
        }
        // Words that a shell loop iterates over.
        for word in &script.unattached_words {
            named.add(word, word.contains(['*', '?', '[']), root, root);
        }
        named
    }

    /// Adds a word that may be a path or a flag with a path.
    fn add(&mut self, word: &str, is_glob: bool, folder: &str, root: &str) {
        for path in possible_paths_in(word) {
            let Some(path) = relative_to_root(path, folder, root) else { continue };
            if is_glob {
                self.globs.push(path);
            } else {
                self.paths.insert(path);
            }
        }
    }

    /// Adds the current matches of globs, and replaces each path with symlinks in it by these symlinks and its target.
    /// If a gate runs a symlink, it also runs the target.
    pub fn resolve(&mut self, root: &Path) {
        let root_text = root.to_string_lossy();
        for pattern in &self.globs {
            let matched = glob::expand_shell_glob(&format!("{root_text}/{pattern}"));
            self.paths.extend(matched.iter().filter_map(|path| path::below(path, &root_text).map(str::to_owned)));
        }
        let resolved =
            |paths: &BTreeSet<String>| paths.iter().flat_map(|path| symlinks_and_target(path, root)).collect();
        self.paths = resolved(&self.paths);
        self.run = resolved(&self.run);
    }

    /// True for these files and for directories on their paths. Such a directory only matters if it is a symlink.
    pub fn includes(&self, path: &str) -> bool {
        let is_path_or_folder_of = |named: &String| path::below(named, path).is_some();
        let matches = |glob: &String| Pattern::parse(glob).is_ok_and(|pattern| pattern.matches(path));
        let mut named = self.paths.iter().chain(&self.run);
        named.any(is_path_or_folder_of) || self.globs.iter().any(matches)
    }
}

/// The directories in which a command may run. If they are unknown, the root is assumed.
fn working_directories(command: &SimpleCommand, root: &str) -> Vec<String> {
    let at_root = [String::new()];
    let folders = command.directories().list().unwrap_or(&at_root);
    folders.iter().map(|folder| path::absolute(folder, root, None)).collect()
}

/// The words, assigned values and read redirections of a command that may be paths, each with true for a glob.
fn named_words(command: &SimpleCommand) -> impl Iterator<Item = (&str, bool)> {
    let read = command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Read);
    let assigned = command.assignments().iter().map(|assignment| &assignment.value);
    let words = command.words().iter().flat_map(|word| std::iter::once(word).chain(&word.possible_paths));
    let words = words.chain(assigned).chain(read.map(|redirect| &redirect.target));
    words.filter(|word| !word.tilde).filter_map(|word| Some((word.meaning()?, word.glob)))
}

/// The paths that a word may be or contain: `PATH`, `--file=PATH`, `-fPATH`.
fn possible_paths_in(word: &str) -> impl Iterator<Item = &str> {
    let after_equals = word.split_once('=').map(|(_, value)| value);
    let after_flag_letter = word.strip_prefix('-').and_then(|flag| flag.get(1..));
    [Some(word), after_equals, after_flag_letter].into_iter().flatten()
}

/// The symlinks on a path below the root. Also the path with all symlinks resolved, if that is below the root.
fn symlinks_and_target(path: &str, root: &Path) -> Vec<String> {
    const MAX_SYMLINKS: usize = 40;
    let root = root.to_string_lossy();
    let mut found = Vec::new();
    let mut rest = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        let ends = rest.match_indices('/').map(|(end, _)| end).chain([rest.len()]);
        let mut parts = ends.filter_map(|end| rest.split_at_checked(end));
        let symlink = parts.find_map(|(part, rest_of_path)| {
            Some((part, rest_of_path, fs::read_link(Path::new(&*root).join(part)).ok()?))
        });
        let Some((part, rest_of_path, target)) = symlink else {
            found.push(rest);
            break;
        };
        found.push(part.to_owned());
        let folder = part.rsplit_once('/').map_or(root.to_string(), |(folder, _)| format!("{root}/{folder}"));
        let target = path::absolute(&target.to_string_lossy(), &folder, None);
        let target = path::normalize(&format!("{target}{rest_of_path}"));
        let Some(next) = path::below(&target, &root).filter(|next| !next.is_empty()) else { break };
        next.clone_into(&mut rest);
    }
    found
}

/// The path relative to the root; `None` if it is not below the root.
fn relative_to_root(path: &str, folder: &str, root: &str) -> Option<String> {
    let path = path::absolute(path, folder, None);
    // A computed path may have the placeholder for the project's root at any position.
    let placeholder = path::PROJECT_ROOT_PLACEHOLDER;
    let from_root = path.rfind(placeholder).and_then(|at| path.get(at + placeholder.len()..));
    let path = path::normalize(&from_root.map_or(path.clone(), |rest| format!("{root}{rest}")));
    path::below(&path, root).filter(|path| !path.is_empty()).map(str::to_owned)
}

/// Name prefixes of programs that complete the path of a script, each with the suffixes that the program may add.
const SCRIPT_COMPLETIONS: &[(&str, &[&str])] =
    &[("py", &["/__main__.py"]), ("node", &[".js", ".json", ".node", "/package.json", "/index.js"])];

/// The files that a command runs, as far as its words show: the program itself and an interpreter's scripts.
fn files_run_by(command: &SimpleCommand) -> Vec<String> {
    let text = |argument: &Argument| command.text_from(argument.word, argument.from).map(str::to_owned);
    let program = command.words().first().and_then(|word| word.value.clone()).filter(|program| program.contains('/'));
    let mut files: Vec<String> = program.into_iter().collect();
    let Some(arguments) = command.arguments() else { return files };
    let scripts: Vec<String> =
        arguments.list.iter().filter(|argument| argument.role == Role::Script).filter_map(text).collect();
    let program = command.program().unwrap_or_default();
    let completions =
        SCRIPT_COMPLETIONS.iter().filter(|(name, _)| program.starts_with(name)).flat_map(|(_, endings)| *endings);
    // Programs only complete a name without a suffix: `check.py` is already complete.
    let is_name = |script: &&String| {
        !["py", "js", "cjs", "mjs"]
            .iter()
            .any(|ending| Path::new(script).extension().is_some_and(|found| found == *ending))
    };
    let names: Vec<&String> = scripts.iter().filter(is_name).collect();
    files.extend(completions.flat_map(|ending| names.iter().map(move |script| format!("{script}{ending}"))));
    if program.starts_with("py") {
        let module = arguments.flags.iter().rfind(|flag| flag.is("-m")).and_then(|flag| text(&flag.value?));
        files.extend(module.iter().flat_map(|module| files_of_module(module)));
    }
    files.extend(scripts);
    files
}

/// The paths where `python -m NAME` looks in the working directory. A package precedes a module of the same name.
fn files_of_module(name: &str) -> Vec<String> {
    let path = name.replace('.', "/");
    let packages = path.match_indices('/').filter_map(|(end, _)| path.get(..end)).chain([path.as_str()]);
    let packages = packages.map(|package| format!("{package}/__init__.py"));
    packages.chain([format!("{path}/__main__.py"), format!("{path}.py")]).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn gate(words: &[&str], protect: bool) -> Gate {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Gate::Command { text: String::new(), words, timeout: Duration::from_secs(1), protect }
    }

    fn names(words: &[&str], path: &str) -> bool {
        NamedFiles::of(&gate(words, true), Path::new("/repo")).includes(path)
    }

    #[test]
    fn a_command_names_files_in_its_words_and_scripts() {
        let shell = |text| ["sh", "-c", text];
        for (words, path) in [
            (&["sh", "check.sh"][..], "check.sh"),
            (&["sh", "./check.sh"], "check.sh"),
            (&["sh", "tools/../check.sh"], "check.sh"),
            (&["/repo/tools/check"], "tools/check"),
            (&["make", "-fMk", "test"], "Mk"),
            (&["make", "--file=ci/Mk"], "ci/Mk"),
            (&["env", "CONFIG=ci/check.toml", "run"], "ci/check.toml"),
            (&shell("cd tools && ./check.sh --strict"), "tools/check.sh"),
            (&shell("(cd tools; ./check.sh) && sh other.sh"), "other.sh"),
            (&shell("python3 - < tools/check.py"), "tools/check.py"),
            (&shell("for t in tests/*.sh; do sh \"$t\"; done"), "tests/one.sh"),
            (&shell("sh tests/*.sh"), "tests/one.sh"),
            (&shell("cd \"$(git rev-parse --show-toplevel)\" && tools/check"), "tools/check"),
            (&shell("\"$(git rev-parse --show-toplevel)/tools/check\""), "tools/check"),
            (&shell("./tools/*.sh"), "tools/one.sh"),
            (&shell("tools/*.sh --strict"), "tools/one.sh"),
            (&shell("./tools/check*"), "tools/check.sh"),
            (&shell("cd tools && ./*.sh"), "tools/one.sh"),
            (&["python3", "pk"], "pk/__main__.py"),
            (&["node", "./check"], "check.js"),
            (&["node", "check"], "check/index.js"),
            (&["python3", "-m", "mod"], "mod.py"),
            (&["python3", "-mpk.mod", "--strict"], "pk/mod/__main__.py"),
            (&["python3", "-m", "pk.mod"], "pk/__init__.py"),
            (&shell("cd tools && python3 -m pk"), "tools/pk/__main__.py"),
        ] {
            assert!(names(words, path), "{words:?}");
        }
        for (words, path) in [
            (&["sh", "../check.sh"][..], "check.sh"),
            (&["/bin/true"], "bin/true"),
            (&["cat", "*.sh"], "check.sh"),
            (&shell("cd tools && ./check.sh"), "check.sh"),
            (&shell("make test > log"), "log"),
            (&shell("sh tests/*.sh"), "tests/one.py"),
        ] {
            assert!(!names(words, path), "{words:?}");
        }
        assert!(!NamedFiles::of(&gate(&["sh", "check.sh"], false), Path::new("/repo")).includes("check.sh"));
    }

    #[test]
    fn paths_may_be_relative_to_any_named_directory() {
        let scratch = crate::tests::Scratch::bare();
        scratch.file("tools/Mk", "").file("tools/check.sh", "").file("src/a.rs", "");
        for (words, path) in [
            (&["make", "-C", "tools", "-f", "../Mk"][..], "Mk"),
            (&["make", "-Ctools", "-f../Mk"], "Mk"),
            (&["make", "--directory=tools", "--file=../Mk"], "Mk"),
            (&["make", "-C", "tools", "-f", "Mk"], "tools/Mk"),
            (&["sh", "-c", "CDPATH=. cd tools && sh check.sh"], "tools/check.sh"),
        ] {
            assert!(NamedFiles::of(&gate(words, true), &scratch.root).includes(path), "{words:?}");
        }
        for (words, path) in [(&["make", "-C", "tools"][..], "src/a.rs"), (&["make", "test"], "tools/check.sh")] {
            assert!(!NamedFiles::of(&gate(words, true), &scratch.root).includes(path), "{words:?}");
        }
    }

    #[test]
    fn files_that_run_are_distinguished_from_named_files() {
        let run =
            |words: &[&str]| NamedFiles::of(&gate(words, true), Path::new("/repo")).run.into_iter().collect::<Vec<_>>();
        assert_eq!(run(&["sh", "check.sh", "built"]), ["check.sh"]);
        assert_eq!(run(&["./check", "built"]), ["check"]);
        assert_eq!(run(&["sh", "-c", ". ./env.sh; test -f built"]), ["env.sh"]);
        assert_eq!(run(&["python3", "check.py"]), ["check.py"]);
        assert_eq!(run(&["test", "-f", "built"]), [""; 0]);
        assert_eq!(run(&["/bin/sh", "/elsewhere/check.sh"]), [""; 0]);
    }

    #[test]
    fn globs_resolve_to_their_current_matches() {
        let scratch = crate::tests::Scratch::bare();
        let of = || {
            let mut named = NamedFiles::of(&gate(&["sh", "-c", "sh tests/*.sh"], true), &scratch.root);
            named.resolve(&scratch.root);
            named.paths
        };
        assert!(!of().contains("tests/one.sh"));
        scratch.file("tests/one.sh", "").file("tests/two.py", "");
        let all = of();
        assert!(all.contains("tests/one.sh") && !all.contains("tests/two.py"), "{all:?}");
    }

    #[test]
    fn only_gates_with_a_command_name_files() {
        for gate in [Gate::Expression("check.sh".to_owned()), Gate::Approval("sh check.sh".to_owned())] {
            let named = NamedFiles::of(&gate, Path::new("/repo"));
            assert!(!named.includes("check.sh") && named.run.is_empty(), "{gate:?}");
        }
    }
}
