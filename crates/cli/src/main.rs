//! The `linchpin` binary.
//!
//! `hook` is handled before anything else is set up, because agents call it at every step and wait for it. All other
//! commands go through the argument parser.

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
        // Linchpin started this process to run a rule's command in a sandbox.
        Some(verb) if verb == runner::shim::SHIM_ARGUMENT => runner::shim::run(arguments),
        // Linchpin started this process to run a gate's command.
        Some(verb) if verb == guard::workflow::GATE_ARGUMENT => guard::workflow::run_gate(arguments),
        None if commands::hook::is_bare_copilot_hook() => {
            commands::hook::run([Agent::Copilot.name().into()].into_iter())
        }
        _ => commands::run(),
    }
}
