//! The workshop: tasks of the project itself, run with `cargo xtask TASK`.

#![expect(clippy::print_stdout, reason = "tasks talk to the person who runs them")]

mod e2e;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  e2e [--bin PATH] [NAME]   real agents on a scripted model, with Linchpin in their hooks";

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("e2e") => e2e::run(arguments.collect()),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("there is no task `{other}`\n\n{USAGE}"),
        None => bail!("which task?\n\n{USAGE}"),
    }
}
