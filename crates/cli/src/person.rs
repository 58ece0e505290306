//! Commands for people: an agent that runs one is refused.

use std::io::{self, BufRead, IsTerminal, Write};

use guard::Environment;

use crate::ancestry;

use crate::output::Output;
use crate::problem::Problem;

/// Fails where the agents' own variables show that an agent runs this command, or that one started the shell it runs in.
pub fn required(command: &str, environment: &Environment) -> Result<(), Problem> {
    match agents::environment::detected_variable(|name| environment.get(name)).or_else(ancestry::mark) {
        None => Ok(()),
        Some(mark) => Err(Problem::new(
            "NotAPerson",
            format!("`linchpin {command}` is for people, and `{mark}` shows that an agent runs it"),
        )
        .help("run it in a terminal of your own")),
    }
}

/// `--yes` for what a run of the loop waits for: while it is driven, whoever says so sits at a terminal. An agent can cut a
/// process loose from everything that would show whose it is.
pub fn says_yes_in_person(project: &guard::Project, environment: &Environment) -> Result<(), Problem> {
    let run = driver::running(&project.root, environment);
    match run.filter(|_| !io::stdin().is_terminal()) {
        None => Ok(()),
        Some(run) => Err(Problem::new(
            "NotAPerson",
            format!("run {run} is going on, and there is no terminal to tell a person by"),
        )
        .help("say it in a terminal of your own, or once the run has ended")),
    }
}

/// Whether there is somebody to ask.
pub fn is_there(output: &Output) -> bool {
    !output.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks for a yes before something is done. `read` is what the person should have read before they pass `--yes` instead.
pub fn confirmed(question: &str, read: &str, output: &Output) -> Result<bool, Problem> {
    if !is_there(output) {
        return Err(Problem::new("Untrusted", "there is no terminal to ask on")
            .help(format!("pass `--yes` once you have read {read}")));
    }
    Ok(says_yes(question, false)?)
}

/// Asks on the terminal; `preset` is what an empty answer means.
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
