//! Development tasks that are not part of the product.

#![expect(
    clippy::disallowed_methods,
    reason = "the checks on environment access are for the product, not for development tasks"
)]
#![expect(clippy::print_stdout, reason = "tasks print their results for the person who runs them")]

// The binary's argument definitions, from which its reference pages are generated.
#[expect(unused_imports, reason = "reference pages are generated from it, but no arguments are parsed")]
#[path = "../../crates/cli/src/arguments/mod.rs"]
mod arguments;
mod bench;
mod ci;
mod corpus;
mod coverage;
mod e2e;
mod endurance;
mod generate;
mod process;
mod structure;
mod test;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  test [FILTER]...          run every test, or those whose names contain a filter
  ci                        run all checks that must pass before a change is merged
  generate [--check]        write the generated files, or fail if one is out of date
  bench [OPTION]            measure hooks, as ratios (`--json`, `--check`, `--write`); or `--against BINARY`
  corpus [--json]           check that dangerous commands are refused and everyday commands are allowed
  coverage                  check that tests run enough lines of file rules, workflows and the loop
  e2e [--bin PATH] [NAME]   test real agents with a scripted model and Linchpin's hooks
  endurance [ITERATIONS]    check that a long run of the loop gets neither slower nor larger
  structure                 check the structure of the source: dependencies, cycles, lengths, names, purity, paths";

#[expect(clippy::print_stderr, reason = "errors belong on stderr")]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    // Makes the root of this workspace the working directory, wherever the task was started.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = arguments.split_first().map_or(("", [].as_slice()), |(task, rest)| (task.as_str(), rest));
    match task {
        "test" => test::run(rest),
        "ci" => ci::run(),
        "generate" if rest == ["--check"] => generate::run(generate::GenerateMode::Check),
        "generate" => generate::run(generate::GenerateMode::Write),
        "bench" => bench::run(rest),
        "corpus" => corpus::run(rest),
        "coverage" => coverage::run(),
        "e2e" => e2e::run(rest.to_vec()),
        "endurance" => endurance::run(rest),
        // `rooms` is the former name of this task.
        "structure" | "rooms" => structure::run(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        "" => bail!("no task is given\n\n{USAGE}"),
        other => bail!("there is no task `{other}`\n\n{USAGE}"),
    }
}
