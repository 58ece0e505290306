//! Measures a single hook in various projects.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::project::BenchProject;
use super::row::Row;
use super::timing::{interleaved_medians, time};

pub const ROUNDS: usize = 300;
/// Rounds of measurements that take longer than a hook.
pub const FEW_ROUNDS: usize = 100;
const STORED_SESSIONS: usize = 5000;
const STORED_HOOKS: usize = 5000;

pub fn measure(binary: &Path) -> Result<Vec<Row>> {
    let mut rows = one_event(binary)?;
    rows.push(edited_rule(binary)?);
    rows.push(first_event_of_session(binary)?);
    rows.push(store_with_many_events(binary)?);
    Ok(rows)
}

/// Measures one event, compared with a process that does nothing; with many rules; and with a million copied events in
/// the journal.
fn one_event(binary: &Path) -> Result<Vec<Row>> {
    let [plain, ten, thousand] = [BenchProject::new(0)?, BenchProject::new(10)?, BenchProject::new(1000)?];
    let ten_thousand = BenchProject::new(10_000)?;
    let million = BenchProject::new(0)?;
    time(&mut million.hook(binary)?)?;
    million.fill_journal(1_000_000)?;
    let medians = interleaved_medians(
        ROUNDS,
        &[
            &|| Ok(Command::new("/bin/true")),
            &|| plain.hook(binary),
            &|| ten.hook(binary),
            &|| thousand.hook(binary),
            &|| ten_thousand.hook(binary),
            &|| million.hook(binary),
        ],
    )?;
    let [empty_process, one, ten, thousand, ten_thousand, million] = medians.as_slice() else { unreachable!() };
    Ok(vec![
        Row::new("one event, bundled rules / true", *one, *empty_process, 2.5),
        Row::new("1,000 rules / 10 rules", *thousand, *ten, 1.3),
        Row::new("10,000 rules / 10 rules", *ten_thousand, *ten, 3.0),
        Row::new("1,000,000 events in the journal / none", *million, *one, 1.2),
    ])
}

/// Measures an event after a rule was edited, so that the policy is compiled again.
fn edited_rule(binary: &Path) -> Result<Row> {
    let [ten, thousand] = [BenchProject::new(10)?, BenchProject::new(1000)?];
    let hook_after_edit = |project: &BenchProject| {
        project.edit_rule()?;
        project.hook(binary)
    };
    let edited = interleaved_medians(FEW_ROUNDS, &[&|| hook_after_edit(&ten), &|| hook_after_edit(&thousand)])?;
    let [ten, thousand] = edited.as_slice() else { unreachable!() };
    Ok(Row::new("1,000 rules / 10 rules, one just edited", *thousand, *ten, 1.5))
}

/// Measures the first event of a session in a project with very many sessions.
fn first_event_of_session(binary: &Path) -> Result<Row> {
    let [empty, full] = [BenchProject::new(0)?, BenchProject::new(0)?];
    full.add_sessions(binary, STORED_SESSIONS)?;
    let number = std::cell::Cell::new(0);
    let first_event = |project: &BenchProject| {
        number.set(number.get() + 1);
        project.set_session(&format!("measured-{}", number.get()))?;
        project.hook(binary)
    };
    let medians = interleaved_medians(FEW_ROUNDS, &[&|| first_event(&empty), &|| first_event(&full)])?;
    let [empty, full] = medians.as_slice() else { unreachable!() };
    Ok(Row::new("a session's first event, 5,000 sessions / none", *full, *empty, 1.1))
}

/// Measures an event after many real hook calls, compared with one in a new journal.
fn store_with_many_events(binary: &Path) -> Result<Row> {
    let [new, with_many_events] = [BenchProject::new(0)?, BenchProject::new(0)?];
    for _ in 0..STORED_HOOKS {
        time(&mut with_many_events.hook(binary)?)?;
    }
    let stores = interleaved_medians(FEW_ROUNDS, &[&|| new.hook(binary), &|| with_many_events.hook(binary)])?;
    let [new, with_many_events] = stores.as_slice() else { unreachable!() };
    Ok(Row::new("after 5,000 hooks / a new store", *with_many_events, *new, 1.2))
}

impl BenchProject {
    /// Stores this number of sessions, by a hook of each.
    pub fn add_sessions(&self, binary: &Path, sessions: usize) -> Result<()> {
        for number in 0..sessions {
            self.set_session(&format!("stored-{number}"))?;
            time(&mut self.hook(binary)?)?;
        }
        Ok(())
    }
}
