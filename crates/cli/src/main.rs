//! The `linchpin` binary.
//!
//! `hook` is answered before anything else is set up: agents call it at every step, and wait. Everything else is for
//! people, and goes through the argument parser.

mod arguments;
mod commands;
mod exit_code;
mod output;
mod person;
mod problem;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|verb| verb == "hook") {
        return commands::hook::run(arguments);
    }
    commands::run()
}
