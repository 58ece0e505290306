//! Measures the distribution of a hook's time, alone and with 64 hooks at once.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use super::project::BenchProject;
use super::timing::{milliseconds, percentile, time};

const AT_ONCE: usize = 64;
const HOOKS: usize = 2000;

/// The distribution of the times of many runs of one command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    pub name: String,
    pub p50_milliseconds: f64,
    pub p95_milliseconds: f64,
    pub p99_milliseconds: f64,
}

impl Latency {
    fn of(name: &str, times: &[Duration]) -> Self {
        let percentile = |percent| milliseconds(percentile(times.to_vec(), percent));
        Self {
            name: name.to_owned(),
            p50_milliseconds: percentile(50),
            p95_milliseconds: percentile(95),
            p99_milliseconds: percentile(99),
        }
    }
}

pub fn measure(binary: &Path) -> Result<Vec<Latency>> {
    let project = BenchProject::new(0)?;
    let hook = || project.hook(binary);
    let empty_process = || Ok(Command::new("/bin/true"));
    Ok(vec![
        Latency::of("true, alone", &times(1, &empty_process)?),
        Latency::of("one event, alone", &times(1, &hook)?),
        Latency::of("true, 64 at once", &times(AT_ONCE, &empty_process)?),
        Latency::of("one event, 64 at once", &times(AT_ONCE, &hook)?),
    ])
}

/// Runs the command `HOOKS` times in `threads` threads, and returns all times.
fn times(threads: usize, command: &(impl Fn() -> Result<Command> + Sync)) -> Result<Vec<Duration>> {
    let run = || (0..HOOKS / threads).map(|_| time(&mut command()?)).collect::<Result<Vec<_>>>();
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let mut times = Vec::new();
        for thread in running {
            times.extend(thread.join().ok().context("a measuring thread panicked")??);
        }
        Ok(times)
    })
}
