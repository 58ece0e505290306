//! Other hook programs for coding agents, measured where they are installed: `cargo install signet-eval guardrail`.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::hooks::ROUNDS;
use super::project::BenchProject;
use super::row::Row;
use super::timing::interleaved_medians;

/// Each peer's program, and the arguments with which it reads a hook payload from stdin.
const PEERS: [(&str, &[&str]); 2] = [("signet-eval", &[]), ("guardrail", &["check"])];

pub fn measure() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (program, arguments) in PEERS.iter().filter(|(program, _)| is_on_path(program)) {
        let project = BenchProject::new(0)?;
        let hook = || {
            let mut command = Command::new(program);
            command.args(*arguments).current_dir(project.root()).stdin(File::open(project.payload())?);
            project.set_home(&mut command);
            Ok(command)
        };
        let medians = interleaved_medians(ROUNDS, &[&|| Ok(Command::new("/bin/true")), &hook])?;
        let [empty_process, peer] = medians.as_slice() else { unreachable!() };
        rows.push(Row::without_limit(&format!("{program} / true"), *peer, *empty_process));
    }
    Ok(rows)
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| Path::new(&directory).join(program).is_file())
}
