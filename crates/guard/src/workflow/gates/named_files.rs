//! Finds the files of a project that the command of a gate names or runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::workflow::Gate;
use path::pattern::Pattern;
use shell::programs::{Argument, Role};
use shell::{RedirectKind, SimpleCommand};

use crate::facts::glob;

/// The files of a gate's command. Their paths are relative to the root.
#[derive(Default)]
pub struct NamedFiles {
    /// The files that the command names. Some of them may be missing.
    pub paths: BTreeSet<String>,
    /// The files that the command runs, as far as its text shows. Some of them may be missing.
    pub executed: BTreeSet<String>,
    /// The globs in the command. The shell expands them.
    globs: Vec<String>,
}

impl NamedFiles {
    pub fn of(gate: &Gate, root: &Path) -> Self {
        let mut named = Self::default();
        let Gate::Command { words, protect: true, .. } = gate else { return named };
        let Some(root) = root.to_str() else { return named };
        let script = shell::parse(&shell_words::join(words));
        // A program or shell may change to a directory in a way that is not recognized (`make -C tools`, `CDPATH`), so
        // a path may be relative to any directory that the script names.
        let mut directories: BTreeSet<String> = BTreeSet::new();
        for command in &script.commands {
            for directory in working_directories(command, root) {
                for (word, _) in named_words(command) {
                    directories.extend(
                        possible_paths_in(word)
                            .filter_map(|path| relative_to_root(path, &directory, root))
                            .filter(|path| Path::new(root).join(path).is_dir()),
                    );
                }
            }
        }
        let named_directories: Vec<String> =
            directories.iter().map(|directory| path::absolute(directory, root, None)).collect();
        for command in &script.commands {
            let command_directories = working_directories(command, root);
            let executed = files_run_by(command);
            for directory in command_directories.iter().chain(&named_directories) {
                for (word, is_glob) in named_words(command) {
                    named.add(word, is_glob, directory, root);
                }
            }
            for directory in &command_directories {
                named.executed.extend(executed.iter().filter_map(|file| relative_to_root(file, directory, root)));
            }
        }
        // These words belong to no command, for example the values over which a shell loop iterates.
        for word in &script.unattached_words {
            named.add(word, word.contains(['*', '?', '[']), root, root);
        }
        named
    }

    /// Adds the paths that a word may contain.
    fn add(&mut self, word: &str, is_glob: bool, directory: &str, root: &str) {
        for path in possible_paths_in(word) {
            let Some(path) = relative_to_root(path, directory, root) else { continue };
            if is_glob {
                self.globs.push(path);
            } else {
                self.paths.insert(path);
            }
        }
    }

    /// Adds the current matches of globs. Then adds, for each path that contains symlinks, these symlinks and the target
    /// of the path, because a gate that runs a symlink also runs its target.
    pub fn resolve(&mut self, root: &Path) {
        let root_text = root.to_string_lossy();
        for pattern in &self.globs {
            let matched = glob::expand_shell_glob(&format!("{root_text}/{pattern}"));
            self.paths.extend(matched.iter().filter_map(|path| path::relative_to(path, &root_text).map(str::to_owned)));
        }
        let resolved =
            |paths: &BTreeSet<String>| paths.iter().flat_map(|path| symlinks_and_target(path, root)).collect();
        self.paths = resolved(&self.paths);
        self.executed = resolved(&self.executed);
    }

    /// True for the named and executed files, for paths that match the command's globs, and for directories on the
    /// paths of named and executed files. Such a directory matters only if it is a symlink.
    pub fn includes(&self, path: &str) -> bool {
        let is_file_or_parent_of = |file: &String| path::relative_to(file, path).is_some();
        let matches = |glob: &String| Pattern::parse(glob).is_ok_and(|pattern| pattern.matches(path));
        let mut files = self.paths.iter().chain(&self.executed);
        files.any(is_file_or_parent_of) || self.globs.iter().any(matches)
    }
}

/// The directories in which a command may run; the root if they are unknown.
fn working_directories(command: &SimpleCommand, root: &str) -> Vec<String> {
    let at_root = [String::new()];
    let directories = command.directories().list().unwrap_or(&at_root);
    directories.iter().map(|directory| path::absolute(directory, root, None)).collect()
}

/// The words, assigned values and input redirects of a command that may be paths, each with true if it is a glob.
fn named_words(command: &SimpleCommand) -> impl Iterator<Item = (&str, bool)> {
    let read = command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Read);
    let assigned = command.assignments().iter().map(|assignment| &assignment.value);
    let words = command.words().iter().flat_map(|word| std::iter::once(word).chain(&word.possible_paths));
    let words = words.chain(assigned).chain(read.map(|redirect| &redirect.target));
    words.filter(|word| !word.tilde).filter_map(|word| Some((word.value_or_placeholder()?, word.glob)))
}

/// The paths that a word may be or contain: `PATH`, `--file=PATH`, `-fPATH`.
fn possible_paths_in(word: &str) -> impl Iterator<Item = &str> {
    let after_equals = word.split_once('=').map(|(_, value)| value);
    let after_flag_letter = word.strip_prefix('-').and_then(|flag| flag.get(1..));
    [Some(word), after_equals, after_flag_letter].into_iter().flatten()
}

/// The path itself, the symlinks on it, as far as they are below the root, and the path with all symlinks resolved, if
/// that is below the root.
fn symlinks_and_target(path: &str, root: &Path) -> Vec<String> {
    const MAX_SYMLINKS: usize = 40;
    let root = root.to_string_lossy();
    // An agent may have replaced a directory on the path by a symlink, so the path itself still matters.
    let mut paths = vec![path.to_owned()];
    let mut rest = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        let ends = rest.match_indices('/').map(|(end, _)| end).chain([rest.len()]);
        let mut parts = ends.filter_map(|end| rest.split_at_checked(end));
        let symlink = parts.find_map(|(part, rest_of_path)| {
            Some((part, rest_of_path, fs::read_link(Path::new(&*root).join(part)).ok()?))
        });
        let Some((part, rest_of_path, target)) = symlink else {
            paths.push(rest);
            break;
        };
        paths.push(part.to_owned());
        let directory = part.rsplit_once('/').map_or(root.to_string(), |(directory, _)| format!("{root}/{directory}"));
        let target = path::absolute(&target.to_string_lossy(), &directory, None);
        let target = path::normalize(&format!("{target}{rest_of_path}"));
        let Some(next) = path::relative_to(&target, &root).filter(|next| !next.is_empty()) else { break };
        next.clone_into(&mut rest);
    }
    paths
}

/// The path relative to the root; `None` if it is not below the root.
fn relative_to_root(path: &str, directory: &str, root: &str) -> Option<String> {
    let path = path::absolute(path, directory, None);
    // In a computed path, the placeholder for the project's root may be at any position.
    let placeholder = path::PROJECT_ROOT_PLACEHOLDER;
    let from_root = path.rfind(placeholder).and_then(|at| path.get(at + placeholder.len()..));
    let path = path::normalize(&from_root.map_or(path.clone(), |rest| format!("{root}{rest}")));
    path::relative_to(&path, root).filter(|path| !path.is_empty()).map(str::to_owned)
}

/// Programs (by the beginning of their names) that complete the path of a script, each with the suffixes that it may
/// add.
const SCRIPT_COMPLETIONS: &[(&str, &[&str])] =
    &[("py", &["/__main__.py"]), ("node", &[".js", ".json", ".node", "/package.json", "/index.js"])];

/// The files that a simple command runs, as far as its words show: its program, and the scripts of an interpreter.
fn files_run_by(command: &SimpleCommand) -> Vec<String> {
    let text = |argument: &Argument| command.text_from(argument.word, argument.from).map(str::to_owned);
    let program = command.words().first().and_then(|word| word.value.clone()).filter(|program| program.contains('/'));
    let mut files: Vec<String> = program.into_iter().collect();
    let Some(arguments) = command.arguments() else { return files };
    let scripts: Vec<String> =
        arguments.with_roles.iter().filter(|argument| argument.role == Role::Script).filter_map(text).collect();
    let program = command.program().unwrap_or_default();
    let completions =
        SCRIPT_COMPLETIONS.iter().filter(|(name, _)| program.starts_with(name)).flat_map(|(_, endings)| *endings);
    // Nothing is appended to a path that ends with a suffix of scripts, such as `check.py`.
    let has_no_suffix = |script: &&String| {
        !["py", "js", "cjs", "mjs"]
            .iter()
            .any(|ending| Path::new(script).extension().is_some_and(|extension| extension == *ending))
    };
    let names: Vec<&String> = scripts.iter().filter(has_no_suffix).collect();
    files.extend(completions.flat_map(|ending| names.iter().map(move |script| format!("{script}{ending}"))));
    if program.starts_with("py") {
        let module = arguments.flags.iter().rfind(|flag| flag.is("-m")).and_then(|flag| text(&flag.value?));
        files.extend(module.iter().flat_map(|module| files_of_module(module)));
    }
    files.extend(scripts);
    files
}

/// The files in the working directory that `python -m NAME` may run. A package takes precedence over a module of the
/// same name.
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
    fn executed_files_are_distinguished_from_named_files() {
        let run = |words: &[&str]| {
            NamedFiles::of(&gate(words, true), Path::new("/repo")).executed.into_iter().collect::<Vec<_>>()
        };
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
            assert!(!named.includes("check.sh") && named.executed.is_empty(), "{gate:?}");
        }
    }
}
