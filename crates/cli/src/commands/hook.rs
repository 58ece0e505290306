//! `hook`: what agents call. Nothing is set up here that one event does not need.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{self, ExitCode};

use agents::{Agent, Answer};
use guard::Environment;

use crate::stdout;

pub fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut next = || arguments.next().map(|name| name.into_string().unwrap_or_default());
    // Some agents' payloads do not say which event they are about, so their settings do.
    let (agent, named) = (next(), next());
    if [&agent, &named].into_iter().flatten().any(|word| matches!(word.as_str(), "--help" | "-h")) {
        return super::run();
    }
    let Some(agent) = agent.as_deref().and_then(Agent::from_name).filter(|_| next().is_none()) else {
        return usage();
    };
    if io::stdin().is_terminal() {
        return usage();
    }
    // What a panic would print belongs into the answer, where the agent reads it.
    std::panic::set_hook(Box::new(|_| {}));
    // What can fail is caught where it is judged; should the answer itself fail, the agent still hears no.
    let answered = std::panic::catch_unwind(|| {
        let environment = Environment::of_process();
        let agent = agents::environment::calling_agent(agent, |name| environment.get(name));
        guard::hook::hook(agent, named.as_deref(), io::stdin(), super::now(), &environment, tell);
    });
    if answered.is_err() {
        let _ = writeln!(io::stderr(), "Linchpin failed by a fault of its own; a person has to decide this.");
    }
    // Only where the process did not end with an answer.
    ExitCode::from(2)
}

/// Copilot CLI runs the program of Claude Code's hooks without its arguments.
pub fn is_bare_copilot_hook() -> bool {
    let environment = Environment::of_process();
    let caller = agents::environment::calling_agent(Agent::Claude, |name| environment.get(name));
    caller == Agent::Copilot && !io::stdin().is_terminal()
}

/// Ends the process: nothing that judging still does may hold up the answer.
fn tell(answer: &Answer) {
    let told = io::stdout().write_all(answer.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let _ = io::stderr().write_all(answer.stderr.as_bytes());
    // An answer that nobody got must not pass for silence.
    let is_lost = !answer.stdout.is_empty() && (told.is_err() || stdout::is_unwritable() || stdout::was_closed());
    process::exit(if is_lost { 2 } else { answer.exit_code.into() })
}

/// Exit code 2: an agent whose settings name a hook that cannot work is refused rather than unguarded.
fn usage() -> ExitCode {
    let names: Vec<&str> = Agent::ALL.into_iter().map(Agent::name).collect();
    let _ = writeln!(
        io::stderr(),
        "error: `linchpin hook` takes an agent's name ({}) and its event as JSON on standard input\n\
         help: agents call it; `linchpin install AGENT` tells them to, and `linchpin demo` shows what happens then",
        names.join(", ")
    );
    ExitCode::from(2)
}
