//! Commands for people only. They fail if an agent runs them.

use std::io::{self, BufRead, IsTerminal, Write};

use guard::Environment;

use crate::ancestry;

use crate::output::Output;
use crate::problem::Problem;

/// Fails if environment variables show that an agent runs this command, or that an agent started the shell it runs in.
pub fn required(command: &str, environment: &Environment) -> Result<(), Problem> {
    match agents::environment::detected_variable(|name| environment.get(name)).or_else(ancestry::agent_marker) {
        None => Ok(()),
        Some(marker) => Err(Problem::new(
            "NotAPerson",
            format!("only people may run `linchpin {command}`, and `{marker}` shows that an agent started it"),
        )
        .help("run it in your own terminal")),
    }
}

/// Restricts `--yes` while a run of the loop is being driven: it then requires a terminal, because an agent can detach
/// a process from everything that identifies it as the agent's.
pub fn require_terminal_during_run(project: &guard::Project, environment: &Environment) -> Result<(), Problem> {
    let run = driver::active_run_id(&project.root, environment);
    match run.filter(|_| !io::stdin().is_terminal()) {
        None => Ok(()),
        Some(run) => Err(Problem::new(
            "NotAPerson",
            format!("run {run} is running, and without a terminal Linchpin can't tell a person from an agent"),
        )
        .help("run it in your own terminal, or after the run has ended")),
    }
}

/// True if there is a person at a terminal to ask.
pub fn has_terminal(output: &Output) -> bool {
    !output.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks for confirmation. `read`: what the person should have read before passing `--yes` instead.
pub fn confirmed(question: &str, read: &str, output: &Output) -> Result<bool, Problem> {
    if !has_terminal(output) {
        return Err(Problem::new("Untrusted", "there is no terminal for the question")
            .help(format!("read {read}, then pass `--yes`")));
    }
    Ok(says_yes(question, false)?)
}

/// Asks a yes-or-no question on the terminal. `preset`: the meaning of an empty answer.
pub fn says_yes(question: &str, preset: bool) -> io::Result<bool> {
    write!(io::stdout(), "{question} [{}] ", if preset { "Y/n" } else { "y/N" })?;
    io::stdout().flush()?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok(match answer.trim() {
        "" => preset && read > 0,
        answer => matches!(answer, "y" | "Y" | "yes"),
    })
}
