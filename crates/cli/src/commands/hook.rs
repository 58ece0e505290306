//! `hook`: the command that agents call. It initializes only what the event needs.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{self, ExitCode};

use agents::{Agent, Answer};
use guard::Environment;

use crate::stdout;

pub fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut next = || arguments.next().map(|name| name.into_string().unwrap_or_default());
    // Some agents' payloads do not name the event, so the hook's command line in their settings does.
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
    // Suppresses the panic message: the agent must read the answer instead.
    std::panic::set_hook(Box::new(|_| {}));
    // Errors in judging are handled there. If writing the answer panics, the agent still gets a refusal.
    let answered = std::panic::catch_unwind(|| {
        let environment = Environment::of_process();
        let agent = agents::environment::calling_agent(agent, |name| environment.get(name));
        guard::hook::hook(agent, named.as_deref(), io::stdin(), super::now(), &environment, tell);
    });
    if answered.is_err() {
        let _ = writeln!(io::stderr(), "Linchpin failed because of a bug; a person must decide this.");
    }
    // Reached only if no answer ended the process.
    ExitCode::from(2)
}

/// True if Copilot CLI called this binary: for hooks in Claude Code's settings, it omits the arguments.
pub fn is_bare_copilot_hook() -> bool {
    let environment = Environment::of_process();
    let caller = agents::environment::calling_agent(Agent::Claude, |name| environment.get(name));
    caller == Agent::Copilot && !io::stdin().is_terminal()
}

/// Writes the answer and ends the process, so that unfinished work cannot delay it.
fn tell(answer: &Answer) {
    let told = io::stdout().write_all(answer.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let _ = io::stderr().write_all(answer.stderr.as_bytes());
    // If the answer was lost, the exit code must show it: empty output would mean that nothing was refused.
    let is_lost = !answer.stdout.is_empty() && (told.is_err() || stdout::is_unwritable() || stdout::was_closed());
    process::exit(if is_lost { 2 } else { answer.exit_code.into() })
}

/// Exit code 2: an agent whose settings contain an invalid hook command is refused instead of left unguarded.
fn usage() -> ExitCode {
    let names: Vec<&str> = Agent::ALL.into_iter().map(Agent::name).collect();
    let _ = writeln!(
        io::stderr(),
        "error: `linchpin hook` takes an agent's name ({}) and its event as JSON on standard input\n\
         help: agents run this command: `linchpin install AGENT` sets that up, and `linchpin demo` shows an example",
        names.join(", ")
    );
    ExitCode::from(2)
}
