//! What test runners, and tools that build and run, surely do by what a script wrote for them.
//!
//! Such a file gets its folders from what runs it, and these are mostly made for it. So only what it names counts: deletions
//! of paths that begin at the root or in the home folder, and commands that are known word for word.

use code::{ProgramInputs, Spawn, SpawnedCommand};
use path::Access;

use crate::programs::Arguments;
use crate::special_programs::one_liner;
use crate::special_programs::spawn_text::shell_text;
use crate::syntax::quoting::quoted;

/// Tools that run files by what those are called: how the names end.
const RUNNERS: &[(&[&str], &[&str])] = &[
    (&["nosetests", "py.test", "pytest", "unittest"], &[".py"]),
    (&["ava", "bun", "deno", "jest", "mocha", "node", "npm", "pnpm", "vitest", "yarn"], SCRIPTS),
    (&["rake", "rails", "rspec"], &[".rb"]),
];

const SCRIPTS: &[&str] = &[".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts"];

/// How the names end of the files that it runs.
pub(crate) fn endings(program: &str, arguments: &Arguments, operands: &[&str]) -> &'static [&'static str] {
    let form = arguments.subcommands.first().map(String::as_str);
    let named = form.into_iter().chain(operands.iter().copied()).find(|word| !matches!(*word, "run" | "run-script"));
    let is_test = named.is_some_and(|word| matches!(word, "t" | "tst") || word.starts_with("test"));
    let runs_them = match program {
        "bun" | "deno" | "npm" | "pnpm" | "rails" | "yarn" => is_test,
        "node" => arguments.has_flag(&["--test"]),
        _ => true,
    };
    let runner = RUNNERS.iter().find(|(programs, _)| runs_them && programs.contains(&program));
    runner.map_or(&[], |(_, endings)| endings)
}

/// Whether a file is one of those. Scripts lie beside many that are no tests.
pub(crate) fn is_run(path: &str) -> bool {
    let is_script = SCRIPTS.iter().any(|end| path.ends_with(end));
    !is_script || ["test", "spec"].iter().any(|name| path.contains(name))
}

/// What a program text surely does, as a text for a shell.
pub(crate) fn deeds(program: &str, text: &str) -> String {
    let Some(read) = one_liner::read(program, text, &ProgramInputs::default()) else { return String::new() };
    let is_free = |path: &str| path.starts_with(['/', '~']);
    let deleted = read.touches.iter().filter(|(access, path)| *access == Access::Delete && is_free(path));
    let deletions = deleted.map(|(_, path)| match path.strip_prefix('~') {
        // With a quote before the slash, it would be no home folder.
        Some(rest) => format!("rm -rf ~/{}\n", quoted(rest.trim_start_matches('/'))),
        None => format!("rm -rf {}\n", quoted(path)),
    });
    let command = |spawn: &Spawn| {
        let is_one = match &spawn.command {
            SpawnedCommand::CommandLine(text) => !text.split_whitespace().any(is_runner),
            SpawnedCommand::Words(words) => {
                words.iter().all(|word| word.as_deref().is_some_and(|word| !is_runner(word)))
            }
        };
        is_one.then(|| shell_text(spawn) + "\n")
    };
    deletions.chain(read.spawns.iter().filter_map(command)).collect()
}

/// A test that runs tests would lead in a circle.
fn is_runner(word: &str) -> bool {
    RUNNERS.iter().any(|(programs, _)| programs.contains(&word))
}
