//! Test files that a script wrote, and their certain effects when a test runner runs them.
//!
//! Tests usually work in temporary directories that the runner provides, so only effects outside of these directories
//! count: deletions of absolute paths and of paths in the home directory, and commands whose words are all known.

use code::{ProgramInputs, Spawn, SpawnedCommand};
use path::Access;

use crate::programs::Arguments;
use crate::special_programs::code_analysis;
use crate::special_programs::spawn_text::shell_text;
use crate::syntax::quoting::quoted;

/// Test runners, and the suffixes of the files that they run.
const RUNNERS: &[(&[&str], &[&str])] = &[
    (&["nosetests", "py.test", "pytest", "unittest"], &[".py"]),
    (&["ava", "bun", "deno", "jest", "mocha", "node", "npm", "pnpm", "vitest", "yarn"], SCRIPTS),
    (&["rake", "rails", "rspec"], &[".rb"]),
];

const SCRIPTS: &[&str] = &[".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts"];

/// Returns the suffixes of the files that a program runs as tests.
pub(crate) fn test_suffixes(program: &str, arguments: &Arguments, operands: &[&str]) -> &'static [&'static str] {
    let form = arguments.subcommands.first().map(String::as_str);
    let named = form.into_iter().chain(operands.iter().copied()).find(|word| !matches!(*word, "run" | "run-script"));
    let is_test = named.is_some_and(|word| matches!(word, "t" | "tst") || word.starts_with("test"));
    let runs_tests = match program {
        "bun" | "deno" | "npm" | "pnpm" | "rails" | "yarn" => is_test,
        "node" => arguments.has_flag(&["--test"]),
        _ => true,
    };
    let runner = RUNNERS.iter().find(|(programs, _)| runs_tests && programs.contains(&program));
    runner.map_or(&[], |(_, suffixes)| suffixes)
}

/// True if a file with a suffix from [`test_suffixes`] is a test. JavaScript tests have `test` or `spec` in their path.
pub(crate) fn is_test_file(path: &str) -> bool {
    let is_script = SCRIPTS.iter().any(|end| path.ends_with(end));
    !is_script || ["test", "spec"].iter().any(|name| path.contains(name))
}

/// Returns the certain effects of code, as a shell script.
pub(crate) fn script_of_certain_effects(program: &str, text: &str) -> String {
    let Some(read) = code_analysis::analyze(program, text, &ProgramInputs::default()) else { return String::new() };
    let is_absolute = |path: &str| path.starts_with(['/', '~']);
    let deleted = read.accesses.iter().filter(|(access, path)| *access == Access::Delete && is_absolute(path));
    let deletions = deleted.map(|(_, path)| match path.strip_prefix('~') {
        // A quoted `~` would not be expanded.
        Some(rest) => format!("rm -rf ~/{}\n", quoted(rest.trim_start_matches('/'))),
        None => format!("rm -rf {}\n", quoted(path)),
    });
    let command = |spawn: &Spawn| {
        let is_certain = match &spawn.command {
            SpawnedCommand::CommandLine(text) => !text.split_whitespace().any(is_runner),
            SpawnedCommand::Words(words) => {
                words.iter().all(|word| word.as_deref().is_some_and(|word| !is_runner(word)))
            }
        };
        is_certain.then(|| shell_text(spawn) + "\n")
    };
    deletions.chain(read.spawns.iter().filter_map(command)).collect()
}

/// True for the name of a test runner. If a test starts a test runner, following that command would be an endless
/// recursion.
fn is_runner(word: &str) -> bool {
    RUNNERS.iter().any(|(programs, _)| programs.contains(&word))
}
