//! `cargo xtask test`: every test, with nothing of the machine's own agents in the environment.

use anyhow::Result;

use crate::process::cargo;

pub fn run(rest: &[String]) -> Result<()> {
    cargo(&["test", "--workspace", "--quiet"]).args(rest).run()
}
