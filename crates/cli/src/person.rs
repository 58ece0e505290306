//! Commands for people: an agent that runs one is refused.

use std::io::{self, BufRead, IsTerminal, Write};

use guard::Environment;

use crate::output::Output;
use crate::problem::Problem;

/// Fails where the agents' own variables show that an agent runs this command.
pub fn required(command: &str, environment: &Environment) -> Result<(), Problem> {
    match agents::environment::mark(|name| environment.get(name)) {
        None => Ok(()),
        Some(mark) => Err(Problem::new(
            "NotAPerson",
            format!("`linchpin {command}` is for people, and `{mark}` shows that an agent runs it"),
        )
        .help("run it in a terminal of your own")),
    }
}

/// Asks on the terminal. `read` is what the person should have read before they pass `--yes` instead.
pub fn confirmed(question: &str, read: &str, output: &Output) -> Result<bool, Problem> {
    if output.json || !io::stdin().is_terminal() {
        return Err(Problem::new("Untrusted", "there is no terminal to ask on")
            .help(format!("pass `--yes` once you have read {read}")));
    }
    write!(io::stdout(), "{question} [y/N] ")?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
