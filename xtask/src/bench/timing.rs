//! Measures commands alternately, and takes medians and percentiles.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

const WARM_UP: usize = 10;

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Returns the median time of each command. The commands are run alternately, so that noise affects all of them
/// equally. The time to create a command is not measured.
pub fn interleaved_medians(rounds: usize, commands: &[&dyn Fn() -> Result<Command>]) -> Result<Vec<Duration>> {
    let mut times = vec![Vec::new(); commands.len()];
    for round in 0..WARM_UP.min(rounds) + rounds {
        for (command, times) in commands.iter().zip(&mut times) {
            let duration = time(&mut command()?)?;
            if round >= WARM_UP.min(rounds) {
                times.push(duration);
            }
        }
    }
    Ok(times.into_iter().map(median).collect())
}

pub fn median(times: Vec<Duration>) -> Duration {
    percentile(times, 50)
}

/// Returns the smallest of the times that is at least as long as `percent` percent of them.
pub fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort();
    let index = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(index).copied().unwrap_or_default()
}

/// Runs the command, which must succeed, and returns how long it took.
pub fn time(command: &mut Command) -> Result<Duration> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let duration = started.elapsed();
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_times() {
        let times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let of = |percent| percentile(times.clone(), percent).as_millis();
        assert_eq!([of(50), of(95), of(99), of(100)], [100, 190, 198, 200]);
        assert_eq!(median(vec![Duration::from_secs(3)]), Duration::from_secs(3));
        assert_eq!(median(Vec::new()), Duration::ZERO);
    }
}
