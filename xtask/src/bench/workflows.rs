//! Measures `next`, `status` and a hook in a phase with very many events.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Result, ensure};
use rusqlite::params;

use super::hooks::FEW_ROUNDS;
use super::project::BenchProject;
use super::row::Row;
use super::timing::{interleaved_medians, median, time};

const EVENTS: usize = 200;
/// The approximate ratio of the number of events in the long phase to that in the short one.
const COPIES: i64 = 1000;
/// Four pace rules, and a gate that never passes, so that `next` can be measured repeatedly.
const WORKFLOW: &str = r"start_node: code
nodes:
  code:
    prompt: Code.
    rules:
      - repeated_command: {pattern: 'cargo (build|test)', threshold: 5000, window: 24h}
      - repeated_command: {threshold: 5000, window: 24h}
      - repeated_file_edit: {threshold: 5000, window: 24h}
      - phase_timeout: {max_duration: 20d}
    requires: ['false']
    transitions: [{when: code_complete, to: done}]
";

pub fn measure(linchpin: &Path) -> Result<Vec<Row>> {
    let [few, many] = [BenchProject::in_active_phase(linchpin)?, BenchProject::in_active_phase(linchpin)?];
    many.fill_phase()?;
    let times = interleaved_medians(FEW_ROUNDS, &[&|| few.hook(linchpin), &|| many.hook(linchpin)])?;
    let [short, long] = times.as_slice() else { unreachable!() };
    let mut rows = vec![Row::new("a hook in a phase of 200,000 events / 200", *long, *short, 1.5)];
    let times = interleaved_medians(
        FEW_ROUNDS,
        &[&|| Ok(few.command(linchpin, &["status"])), &|| Ok(many.command(linchpin, &["status"]))],
    )?;
    let [short, long] = times.as_slice() else { unreachable!() };
    rows.push(Row::new("status in the same phases", *long, *short, 1.5));
    let [mut short, mut long] = [Vec::new(), Vec::new()];
    for _ in 0..FEW_ROUNDS {
        short.push(few.time_next(linchpin)?);
        long.push(many.time_next(linchpin)?);
    }
    rows.push(Row::new("next in the same phases", median(long), median(short), 1.5));
    Ok(rows)
}

impl BenchProject {
    /// Creates a project with an active workflow, whose current phase has `EVENTS` events.
    pub fn in_active_phase(linchpin: &Path) -> Result<Self> {
        let project = Self::new(0)?;
        let directory = project.root().join(".linchpin/workflows");
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("work.yml"), WORKFLOW)?;
        time(&mut project.command(linchpin, &["start", "work"]))?;
        let payload = fs::read_to_string(project.payload())?;
        for number in 0..EVENTS {
            // Each event gets its own call id, because events with the same id are counted once.
            fs::write(project.payload(), payload.replace("toolu_1", &format!("toolu_{number}")))?;
            time(&mut project.hook(linchpin)?)?;
        }
        Ok(project)
    }

    /// Measures a call of `linchpin next` that the gate refuses.
    pub fn time_next(&self, linchpin: &Path) -> Result<Duration> {
        let mut command = self.command(linchpin, &["next"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = std::time::Instant::now();
        let status = command.status()?;
        let duration = started.elapsed();
        ensure!(status.code() == Some(1), "`next` should have been refused by the gate: {status}");
        Ok(duration)
    }

    /// Adds `EVENTS * COPIES` events, and `COPIES - 1` copies of every counted attempt. The times of the copies lie
    /// within the hour before the attempt.
    pub fn fill_phase(&self) -> Result<()> {
        self.fill_journal(EVENTS * usize::try_from(COPIES)?)?;
        let mut database = self.open_journal()?;
        let transaction = database.transaction()?;
        let mut attempts: Vec<(i64, String, String)> = Vec::new();
        {
            let mut statement = transaction.prepare("SELECT session, name, value FROM state WHERE kind = 'counted'")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            for row in rows {
                attempts.push(row?);
            }
            ensure!(attempts.len() >= EVENTS, "too few attempts were counted");
            let mut insert = transaction.prepare("INSERT OR REPLACE INTO state VALUES (?1, 'counted', ?2, ?3)")?;
            for (session, name, value) in &attempts {
                let mut parts = name.rsplitn(3, '/');
                let (Some(event), Some(time), Some(group)) = (parts.next(), parts.next(), parts.next()) else {
                    continue;
                };
                let time: i64 = time.parse()?;
                for copy in 1..COPIES {
                    let name = format!("{group}/{:019}/{event}", time - copy * 3600);
                    insert.execute(params![session, name, value])?;
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }
}
