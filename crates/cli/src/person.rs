//! Commands for people: an agent that runs one is refused.

use guard::Environment;

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
