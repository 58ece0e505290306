//! `hook`: the command that agents call. It initializes only what judging the event needs, because agents wait for it.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{self, ExitCode};

use agents::{Agent, Answer};
use guard::Environment;

use crate::stdout;

pub fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut next = || arguments.next().map(|name| name.into_string().unwrap_or_default());
    // The payloads of some agents do not name the event, so the command line in these agents' settings names it.
    let (agent, event_name) = (next(), next());
    if [&agent, &event_name].into_iter().flatten().any(|word| matches!(word.as_str(), "--help" | "-h")) {
        return super::run();
    }
    let Some(agent) = agent.as_deref().and_then(Agent::from_name).filter(|_| next().is_none()) else {
        return usage();
    };
    if io::stdin().is_terminal() {
        return usage();
    }
    // Suppresses the panic message on stderr, because the agent reads stderr as the answer.
    std::panic::set_hook(Box::new(|_| {}));
    // `guard` handles its own panics. If this process panics outside of `guard`, the agent still gets a refusal.
    let answered = std::panic::catch_unwind(|| {
        let environment = Environment::of_process();
        let agent = agents::environment::calling_agent(agent, |name| environment.get(name));
        guard::hook::hook(agent, event_name.as_deref(), io::stdin(), super::now(), &environment, send_answer);
    });
    if answered.is_err() {
        let _ = writeln!(
            io::stderr(),
            "Linchpin failed because of a bug, so this is refused. Tell the person: `linchpin doctor` checks Linchpin."
        );
    }
    // Reached only if no answer was sent: `send_answer` ends the process.
    ExitCode::from(2)
}

/// True if Copilot CLI runs this binary as a hook that it found in Claude Code's settings. It omits the arguments of
/// such a hook.
pub fn is_bare_copilot_hook() -> bool {
    let environment = Environment::of_process();
    let caller = agents::environment::calling_agent(Agent::Claude, |name| environment.get(name));
    caller == Agent::Copilot && !io::stdin().is_terminal()
}

/// Writes the answer and ends the process at once, so that threads that are still working do not delay the agent.
fn send_answer(answer: &Answer) {
    let written = io::stdout().write_all(answer.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let _ = io::stderr().write_all(answer.stderr.as_bytes());
    // If the answer was lost, the exit code must show it: empty output would mean that nothing was refused.
    let is_lost = !answer.stdout.is_empty() && (written.is_err() || stdout::is_unwritable() || stdout::was_closed());
    process::exit(if is_lost { 2 } else { answer.exit_code.into() })
}

/// Prints a usage error. The exit code 2 makes an agent refuse the call: if the hook command in its settings is
/// invalid, the agent must not go on unguarded.
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
