//! The workshop: everything that is done to the project and is no part of it.

mod bench;
mod ci;
mod generate;
mod process;
mod test;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    // Wherever it is called from, it works on this workspace.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = arguments.split_first().map_or(("", [].as_slice()), |(task, rest)| (task.as_str(), rest));
    match task {
        "test" => test::run(rest),
        "ci" => ci::run(),
        "generate" if rest == ["--check"] => generate::run(generate::Mode::Check),
        "generate" => generate::run(generate::Mode::Write),
        "bench" => bench::run(),
        _ => bail!("usage: cargo xtask test | ci | generate [--check] | bench | e2e"),
    }
}
