//! The files below the root of a project that the command of a gate names.

use std::collections::BTreeSet;
use std::path::Path;

use engine::workflow::Gate;
use path::pattern::Pattern;
use shell::programs::{Argument, Role};
use shell::{RedirectKind, SimpleCommand};

use crate::facts::glob;

/// By paths from the root.
#[derive(Default)]
pub struct NamedFiles {
    /// Whether there is such a file or not.
    paths: BTreeSet<String>,
    /// Those that it runs, as far as that is known, whether there is such a file or not.
    pub run: BTreeSet<String>,
    /// Globs that a shell expands.
    globs: Vec<String>,
}

impl NamedFiles {
    pub fn of(gate: &Gate, root: &Path) -> Self {
        let mut named = Self::default();
        let Gate::Command { words, protect: true, .. } = gate else { return named };
        let Some(root) = root.to_str() else { return named };
        let script = shell::parse(&shell_words::join(words));
        for command in &script.commands {
            let read = command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Read);
            let assigned = command.assignments().iter().map(|assignment| &assignment.value);
            let words = command.words().iter().chain(assigned).chain(read.map(|redirect| &redirect.target));
            // Where a folder is not known, the command is read as if it ran at the root.
            let at_root = [String::new()];
            let folders = command.folders().list().unwrap_or(&at_root);
            for (word, value) in words.filter(|word| !word.tilde).filter_map(|word| Some((word, word.meaning()?))) {
                for folder in folders {
                    named.add(value, word.glob, &path::absolute(folder, root, None), root);
                }
            }
            for folder in folders {
                let folder = path::absolute(folder, root, None);
                named.run.extend(run_by(command).iter().filter_map(|file| below(file, &folder, root)));
            }
        }
        // What a loop of the shell goes through.
        for word in &script.loose {
            named.add(word, word.contains(['*', '?', '[']), root, root);
        }
        named
    }

    /// A word may be a path, or a flag with a path: `--file=PATH`, `-fPATH`.
    fn add(&mut self, word: &str, is_glob: bool, folder: &str, root: &str) {
        let behind_equals = word.split_once('=').map(|(_, value)| value);
        let behind_letter = word.strip_prefix('-').and_then(|flag| flag.get(1..));
        for path in [Some(word), behind_equals, behind_letter].into_iter().flatten() {
            let Some(path) = below(path, folder, root) else { continue };
            if is_glob {
                self.globs.push(path);
            } else {
                self.paths.insert(path);
            }
        }
    }

    /// The paths, and what the globs match now.
    pub fn all(&self, root: &Path) -> Vec<String> {
        let root = root.to_string_lossy();
        let matched = self.globs.iter().flat_map(|pattern| glob::expanded(&format!("{root}/{pattern}")));
        let matched: Vec<String> = matched.filter_map(|path| path::below(&path, &root).map(str::to_owned)).collect();
        self.paths.iter().chain(&self.run).cloned().chain(matched).collect()
    }

    pub fn includes(&self, path: &str) -> bool {
        let matches = |glob: &String| Pattern::parse(glob).is_ok_and(|pattern| pattern.matches(path));
        self.paths.contains(path) || self.run.contains(path) || self.globs.iter().any(matches)
    }
}

/// A path from the root; none where it does not lead below it.
fn below(path: &str, folder: &str, root: &str) -> Option<String> {
    let path = path::absolute(path, folder, None);
    // What a text says of the project's root stands anywhere in a path that was put together.
    let from_root = path.rfind(path::ROOT).and_then(|at| path.get(at + path::ROOT.len()..));
    let path = path::tidy(&from_root.map_or(path.clone(), |rest| format!("{root}{rest}")));
    path::below(&path, root).filter(|path| !path.is_empty()).map(str::to_owned)
}

/// The files that a command runs, as far as its words tell: its program, and what an interpreter is given.
fn run_by(command: &SimpleCommand) -> Vec<String> {
    let text = |argument: &Argument| command.text_from(argument.word, argument.from).map(str::to_owned);
    let program = command.words().first().and_then(|word| word.value.clone()).filter(|program| program.contains('/'));
    let mut files: Vec<String> = program.into_iter().collect();
    let Some(arguments) = command.arguments() else { return files };
    let scripts: Vec<String> =
        arguments.list.iter().filter(|argument| argument.role == Role::Script).filter_map(text).collect();
    let is_python = command.program().is_some_and(|program| program.starts_with("py"));
    if is_python {
        // A folder is run by its main module.
        files.extend(
            scripts
                .iter()
                .filter(|script| Path::new(script).extension().is_none_or(|ending| ending != "py"))
                .map(|script| format!("{script}/__main__.py")),
        );
        let module = arguments.flags.iter().rfind(|flag| flag.is("-m")).and_then(|flag| text(&flag.value?));
        files.extend(module.iter().flat_map(|module| files_of_module(module)));
    }
    files.extend(scripts);
    files
}

/// Where `python -m NAME` looks in the working directory: a package goes before a module of the same name.
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
    fn a_command_names_the_files_in_its_words_and_texts() {
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
            (&["python3", "pk"], "pk/__main__.py"),
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
    fn what_a_command_runs_is_told_from_what_it_only_names() {
        let run =
            |words: &[&str]| NamedFiles::of(&gate(words, true), Path::new("/repo")).run.into_iter().collect::<Vec<_>>();
        assert_eq!(run(&["sh", "check.sh", "built"]), ["check.sh"]);
        assert_eq!(run(&["./check", "built"]), ["check"]);
        assert_eq!(run(&["sh", "-c", ". ./env.sh; test -f built"]), ["env.sh"]);
        assert_eq!(run(&["python3", "check.py"]), ["check.py"]);
        assert_eq!(run(&["test", "-f", "built"]), [""; 0]);
        assert_eq!(run(&["/bin/sh", "/elsewhere/check.sh"]), [""; 0]);
    }
}
