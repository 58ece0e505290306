//! Development tasks that are not part of the product.

#![expect(clippy::disallowed_methods, reason = "the environment of the product is not that of the workshop")]
#![expect(clippy::print_stdout, reason = "tasks talk to the person who runs them")]

// The binary's argument definitions, from which its reference pages are generated.
#[expect(unused_imports, reason = "here it is described, and never parsed")]
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
mod rooms;
mod test;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  test [FILTER]...          every test, or those whose names hold a filter
  ci                        all that must hold before a change lands
  generate [--check]        write the generated files, or fail where one is stale
  bench [--against BINARY]  how long hooks take, as ratios; or this build against another binary, in turns
  corpus [--json]           what becomes of dangerous and of everyday commands, against the bar
  coverage                  how many lines of file rules, workflows and the loop the tests run, against the bar
  e2e [--bin PATH] [NAME]   real agents on a scripted model, with Linchpin in their hooks
  endurance [ITERATIONS]    whether a long run of the loop stays as fast and as small as it began
  rooms                     whether the source keeps to the plan of the house: edges, cycles, lengths, names, purity";

#[expect(clippy::print_stderr, reason = "errors of tasks go there")]
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
    // Works on this workspace, whatever the working directory is.
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
        "rooms" => rooms::run(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        "" => bail!("which task?\n\n{USAGE}"),
        other => bail!("there is no task `{other}`\n\n{USAGE}"),
    }
}
