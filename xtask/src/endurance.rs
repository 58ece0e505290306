//! `cargo xtask endurance`: runs very many iterations of the loop, and compares the duration and the memory of the
//! first tenth with those of the last tenth.
//!
//! The agent does nothing except publish a topic, so that only the loop itself is measured.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

const LOOP: &str = "agent: {command: [sh, agent.sh]}
limits: {iterations: 1000000, runtime: none, stale: none}
hats:
  one: {triggers: [task.start, two], publishes: [one]}
  two: {triggers: [one], publishes: [two, loop.complete]}
";
const AGENT: &str = r#"if test "$LINCHPIN_ITERATION" = LAST; then exec "$LINCHPIN_BIN" emit loop.complete; fi
exec "$LINCHPIN_BIN" emit "$LINCHPIN_HAT" "$LINCHPIN_ITERATION"
"#;
/// The maximum ratio of the last tenth of the run to the first one, for both duration and memory.
const MAX_RATIO: f64 = 1.2;

pub fn run(arguments: &[String]) -> Result<()> {
    let iterations: usize = arguments.first().map_or(Ok(10_000), |number| number.parse())?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    let linchpin = crate::e2e::build(root)?;
    let directory = tempfile::tempdir()?;
    let (project, home) = (directory.path().join("project"), directory.path().join("home"));
    fs::create_dir_all(project.join(".linchpin"))?;
    fs::create_dir_all(&home)?;
    fs::write(project.join(".linchpin/loop.yml"), LOOP)?;
    fs::write(project.join("agent.sh"), AGENT.replace("LAST", &iterations.to_string()))?;
    let command = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&project).env_clear().env("HOME", &home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    for (program, words) in [(Path::new("git"), &["init", "--quiet"][..]), (&linchpin, &["trust", "--yes"])] {
        ensure!(command(program, words).status()?.success(), "`{words:?}` failed");
    }
    let mut run = command(&linchpin, &["run", "-p", "Go on"]).spawn()?;
    let measurements = measure(&mut run, &home, iterations);
    if measurements.is_err() {
        let _ = run.kill();
    }
    let Measurements { durations, memory } = measurements?;
    ensure!(run.wait()?.success(), "the run did not complete");
    let (Some(first), Some(last)) = (durations.first(), durations.last()) else { return Ok(()) };
    let tenth = f64::from(u32::try_from(iterations / 10)?);
    let ms_per_iteration = |tenth_of: &Duration| tenth_of.as_secs_f64() * 1000.0 / tenth;
    let (duration_ratio, memory_ratio) = (last.as_secs_f64() / first.as_secs_f64(), ratio(&memory));
    println!(
        "{iterations} iterations: {:.1} ms each at first, {:.1} ms at last: {duration_ratio:.2} x (within {MAX_RATIO})",
        ms_per_iteration(first),
        ms_per_iteration(last)
    );
    println!(
        "memory of the run: {} KiB at first, {} KiB at last: {memory_ratio:.2} x (within {MAX_RATIO})",
        memory.first().unwrap_or(&0),
        memory.last().unwrap_or(&0)
    );
    ensure!(
        duration_ratio <= MAX_RATIO && memory_ratio <= MAX_RATIO,
        "the last tenth of the run is more than {MAX_RATIO} times slower or larger than the first"
    );
    Ok(())
}

struct Measurements {
    durations: Vec<Duration>,
    /// The resident memory of `linchpin run` in KiB, at the end of each tenth of the run.
    memory: Vec<u64>,
}

/// Measures each tenth of the run. Each iteration creates a log file; the file of a tenth's last iteration shows that
/// the tenth is complete.
fn measure(run: &mut Child, home: &Path, iterations: usize) -> Result<Measurements> {
    let mut measurements = Measurements { durations: Vec::new(), memory: Vec::new() };
    let mut tenth_started = Instant::now();
    let tenth = iterations / 10;
    for number in 1..=10 {
        let log = format!("{}.log", number * tenth);
        loop {
            let memory = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
            let memory = memory.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let memory: Option<u64> = memory.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
            if log_directory(home).is_some_and(|log_directory| log_directory.join(&log).exists()) {
                measurements.durations.push(tenth_started.elapsed());
                measurements.memory.extend(memory);
                tenth_started = Instant::now();
                break;
            }
            ensure!(run.try_wait()?.is_none(), "the run ended before its iteration {}", number * tenth);
            thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(measurements)
}

fn log_directory(home: &Path) -> Option<std::path::PathBuf> {
    let projects = fs::read_dir(home.join(".local/state/linchpin/projects")).ok()?;
    projects.flatten().map(|project| project.path().join("runs/r1")).find(|runs| runs.exists())
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of sizes needs no more")]
fn ratio(memory: &[u64]) -> f64 {
    match (memory.first(), memory.last()) {
        (Some(first), Some(last)) if *first > 0 => *last as f64 / *first as f64,
        _ => 1.0,
    }
}
