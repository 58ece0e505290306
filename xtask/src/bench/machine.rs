//! The machine that the measurements were made on.

use std::fs;
use std::process::Command;
use std::thread;

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub kernel: String,
    pub compiler: String,
}

impl Machine {
    pub fn this() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Self {
            processor: model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, model)| model.to_owned()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            kernel: first_line("uname", &["-sr"]),
            compiler: first_line("rustc", &["--version"]),
        }
    }
}

/// Returns the first line that a program prints; empty if it cannot be run.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let stdout = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    stdout.lines().next().unwrap_or_default().to_owned()
}
