//! Tells people and agents apart, and asks people for confirmation.

use std::io::{self, BufRead, IsTerminal, Write};

use guard::Environment;

use crate::ancestry;
use crate::output::Output;
use crate::problem::Problem;

/// Returns the evidence that an agent runs this command, or started the shell in which the command runs: the name of an
/// environment variable or of a process. `None` if there is no evidence.
pub fn agent_marker(environment: &Environment) -> Option<&'static str> {
    agents::environment::detected_variable(|name| environment.get(name)).or_else(ancestry::marker_of_ancestors)
}

/// Fails if an agent runs this command.
pub fn required(command: &str, environment: &Environment) -> Result<(), Problem> {
    match agent_marker(environment) {
        None => Ok(()),
        Some(marker) => Err(Problem::new(
            "NotAPerson",
            format!("only people may run `linchpin {command}`, and `{marker}` shows that an agent started it"),
        )
        .help("run it in your own terminal")),
    }
}

/// Fails if a run of the loop is active and stdin is not a terminal, even with `--yes`: an agent can start a process in
/// such a way that nothing shows that the agent started it.
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

/// A question that a person has to answer before a command changes something.
pub struct Confirmation<'a> {
    pub question: &'a str,
    /// What the person has to read first, such as `the task`.
    pub subject: &'a str,
    /// The command that does the same without asking.
    pub without_asking: &'a str,
}

impl Confirmation<'_> {
    /// Asks the question on the terminal, and returns true if the answer is yes.
    pub fn ask(&self, output: &Output) -> Result<bool, Problem> {
        let Self { question, subject, without_asking } = self;
        if output.json {
            return Err(Problem::new("Untrusted", "cannot ask for confirmation with `--json`")
                .help(format!("read {subject}, then run `{without_asking}`")));
        }
        if !has_terminal(output) {
            return Err(Problem::new("Untrusted", "cannot ask for confirmation without a terminal")
                .help(format!("read {subject}, then run `{without_asking}`")));
        }
        Ok(says_yes(question, false)?)
    }
}

/// Asks a yes-or-no question on the terminal. `default`: the meaning of an empty answer.
pub fn says_yes(question: &str, default: bool) -> io::Result<bool> {
    write!(io::stdout(), "{question} [{}] ", if default { "Y/n" } else { "y/N" })?;
    io::stdout().flush()?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok(match answer.trim() {
        "" => default && read > 0,
        answer => matches!(answer, "y" | "Y" | "yes"),
    })
}
