//! The `linchpin` binary.
//!
//! `hook` is answered before anything else is set up: agents call it at every step, and wait. Everything else is for
//! people, and goes through the argument parser.

mod ancestry;
mod arguments;
mod commands;
mod exit_code;
mod output;
mod person;
mod plural;
mod problem;
mod stdout;

use std::process::ExitCode;

use agents::Agent;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(verb) if verb == "hook" => commands::hook::run(arguments),
        // This binary, started by itself to confine a rule's command.
        Some(verb) if verb == runner::shim::WORD => runner::shim::run(arguments),
        // This binary, started by itself to run the command of a gate.
        Some(verb) if verb == guard::workflow::GATE_ARGUMENT => guard::workflow::run_gate(arguments),
        None if commands::hook::is_bare_copilot_hook() => {
            commands::hook::run([Agent::Copilot.name().into()].into_iter())
        }
        _ => commands::run(),
    }
}
