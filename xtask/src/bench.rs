//! `cargo xtask bench`: measures how long a hook takes. It measures whole processes alternately, and prints the ratios
//! of their times.
//!
//! A ratio of two times from the same run is meaningful on any machine; milliseconds are not. The task only prints its
//! results; it does not fail if one exceeds its limit.

mod comparison;
mod file_rules;
mod workflows;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::process::cargo;

const ROUNDS: usize = 300;
const WARM_UP: usize = 10;
const EDITS: usize = 100;
/// How long to wait after writing a policy file. While a file is very new, its timestamp cannot show whether it has
/// changed again, so every event reads it.
const FILE_AGE: Duration = Duration::from_millis(100);

/// A project with a policy, a journal and its own home directory.
struct BenchProject {
    directory: tempfile::TempDir,
    payload: PathBuf,
}

pub fn run(arguments: &[String]) -> Result<()> {
    let old = match arguments {
        [] => None,
        [flag, old] if flag == "--against" => Some(Path::new(old)),
        _ => bail!("`bench` takes no arguments, or `--against BINARY`"),
    };
    cargo(&["build", "--release", "--quiet", "--package", "linchpin"]).run()?;
    let installed = tempfile::tempdir()?;
    let binary = copy_of_binary(installed.path())?;
    print(&format!("{} ({} KiB), {ROUNDS} rounds in turns", binary.display(), fs::metadata(&binary)?.len() / 1024));
    if let Some(old) = old {
        ensure!(old.is_file(), "there is no binary at {}", old.display());
        let copy = installed.path().join("linchpin-before");
        fs::copy(old, &copy)?;
        return comparison::run(&binary, &copy);
    }
    bench_one_event(&binary)?;
    bench_edited_rules(&binary)?;
    bench_store_with_many_events(&binary)?;
    workflows::run(&binary)?;
    file_rules::run(&binary)?;
    cargo(&["bench", "--quiet", "--package", "linchpin-shell", "--bench", "parsing"]).run()
}

/// Copies the binary, because users run a copy too. A binary that the linker has just written takes a sixth longer to
/// start, because the page cache holds it in small pages.
fn copy_of_binary(directory: &Path) -> Result<PathBuf> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let binary = directory.join("linchpin");
    fs::copy(Path::new(&target).join("release/linchpin"), &binary)?;
    Ok(binary)
}

/// Measures one event, compared with a process that does nothing; with many rules; and with a million copied events in
/// the journal.
fn bench_one_event(binary: &Path) -> Result<()> {
    let plain = BenchProject::new(0)?;
    let ten = BenchProject::new(10)?;
    let thousand = BenchProject::new(1000)?;
    let million = BenchProject::new(0)?;
    million.hook(binary).output()?;
    million.fill_journal(1_000_000)?;
    let medians = interleaved_medians(
        ROUNDS,
        &[
            &|| Ok(Command::new("/bin/true")),
            &|| Ok(plain.hook(binary)),
            &|| Ok(ten.hook(binary)),
            &|| Ok(thousand.hook(binary)),
            &|| Ok(million.hook(binary)),
        ],
    )?;
    let [empty_process, one, ten, thousand, million] = medians.as_slice() else { unreachable!() };
    print(&format!("/bin/true                                {:>7.2} ms", milliseconds(*empty_process)));
    print_ratio("one event, bundled rules / true", *one, *empty_process, 3.0);
    print_ratio("1,000 rules / 10 rules", *thousand, *ten, 1.5);
    print_ratio("1,000,000 events / none", *million, *one, 1.2);
    Ok(())
}

/// Measures an event after a rule was edited, so that the policy is compiled again.
fn bench_edited_rules(binary: &Path) -> Result<()> {
    let [ten, thousand] = [BenchProject::new(10)?, BenchProject::new(1000)?];
    let edited = interleaved_medians(
        EDITS,
        &[
            &|| {
                ten.edit_rule()?;
                Ok(ten.hook(binary))
            },
            &|| {
                thousand.edit_rule()?;
                Ok(thousand.hook(binary))
            },
        ],
    )?;
    let [ten, thousand] = edited.as_slice() else { unreachable!() };
    print_ratio("1,000 rules / 10 rules, one just edited", *thousand, *ten, 1.5);
    Ok(())
}

/// Measures an event after many real hook calls, compared with one in a new journal.
fn bench_store_with_many_events(binary: &Path) -> Result<()> {
    let [new, with_many_events] = [BenchProject::new(0)?, BenchProject::new(0)?];
    for _ in 0..5000 {
        time(&mut with_many_events.hook(binary))?;
    }
    let stores = interleaved_medians(EDITS, &[&|| Ok(new.hook(binary)), &|| Ok(with_many_events.hook(binary))])?;
    let [new, with_many_events] = stores.as_slice() else { unreachable!() };
    print_ratio("after 5,000 hooks / a new store", *with_many_events, *new, 1.2);
    Ok(())
}

fn print(line: &str) {
    println!("{line}");
}

fn print_ratio(name: &str, time: Duration, base: Duration, max_ratio: f64) {
    let ratio = time.as_secs_f64() / base.as_secs_f64();
    let verdict = if ratio <= max_ratio { "within" } else { "OVER" };
    print(&format!("{name:<40} {:>7.2} ms  {ratio:>5.2} x  ({verdict} {max_ratio})", milliseconds(time)));
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Returns the median time of each command. The commands are run alternately, so that noise affects all of them
/// equally. The time to create a command is not measured.
fn interleaved_medians(rounds: usize, commands: &[&dyn Fn() -> Result<Command>]) -> Result<Vec<Duration>> {
    let mut times = vec![Vec::new(); commands.len()];
    for round in 0..WARM_UP + rounds {
        for (command, times) in commands.iter().zip(&mut times) {
            let duration = time(&mut command()?)?;
            if round >= WARM_UP {
                times.push(duration);
            }
        }
    }
    Ok(times.into_iter().map(median).collect())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn time(command: &mut Command) -> Result<Duration> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let duration = started.elapsed();
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(duration)
}

impl BenchProject {
    /// Creates a project with the bundled rules and this number of other rules, of various kinds.
    fn new(rules: usize) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().join("project");
        let rules_directory = root.join(".linchpin/rules");
        fs::create_dir_all(&rules_directory)?;
        fs::write(root.join(".linchpin/config.yml"), include_str!("../../crates/cli/src/commands/init/config.yml"))?;
        for number in 0..rules {
            fs::write(rules_directory.join(format!("rule-{number:04}.md")), mixed_rule(number))?;
        }
        let payload = directory.path().join("payload.json");
        let event = serde_json::json!({
            "session_id": "bench", "transcript_path": "/nowhere.jsonl", "cwd": root, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1",
            "tool_input": { "command": "cd crates && cargo test --workspace -- --nocapture | tee ../log.txt", "description": "Run the tests" },
        });
        File::create(&payload)?.write_all(event.to_string().as_bytes())?;
        let project = Self { directory, payload };
        std::thread::sleep(FILE_AGE);
        Ok(project)
    }

    /// Edits a rule, so that the policy has to be compiled again.
    fn edit_rule(&self) -> Result<()> {
        let rule = self.directory.path().join("project/.linchpin/rules/rule-0005.md");
        File::options().append(true).open(rule)?.write_all(b"And no other.\n")?;
        std::thread::sleep(FILE_AGE);
        Ok(())
    }

    fn hook(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.args(["hook", "claude"]);
        self.set_home(&mut command);
        command.env("CLAUDE_PROJECT_DIR", self.directory.path().join("project"));
        if let Ok(payload) = File::open(&self.payload) {
            command.stdin(payload);
        }
        command
    }

    fn set_home(&self, command: &mut Command) {
        for (variable, directory) in [("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
            command.env(variable, self.directory.path().join(directory));
        }
    }

    /// Adds `events` copies of the journal's first event.
    fn fill_journal(&self, events: usize) -> Result<()> {
        let database = rusqlite::Connection::open(self.directory.path().join("project/.linchpin/state.db"))?;
        let mut columns = Vec::new();
        let mut statement = database.prepare("SELECT name FROM pragma_table_info('events') WHERE name <> 'id'")?;
        let mut names = statement.query([])?;
        while let Some(name) = names.next()? {
            columns.push(name.get::<_, String>(0)?);
        }
        let columns = columns.join(", ");
        database
            .execute_batch(&format!(
                "PRAGMA synchronous = OFF; BEGIN;
                 INSERT INTO events ({columns}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {events})
                 SELECT {columns} FROM n, (SELECT * FROM events LIMIT 1); COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"
            ))
            .context("the journal cannot be filled")
    }
}

fn mixed_rule(number: usize) -> String {
    match number % 5 {
        0 => format!("---\ncommand_pattern: '^deploy-{number} (now|later)( |$)'\n---\nNot this one.\n"),
        1 => format!("---\ntools: [Edit, Write]\npaths: [\"vendor/{number}/**\"]\n---\nVendored.\n"),
        2 => format!("---\nmcp_tools: [\"server{number}:*\"]\naction: ask\n---\nAsk first.\n"),
        3 => format!("---\non: stop\nwhen: \"git.branch == 'release-{number}'\"\n---\nMind the release.\n"),
        _ => format!(
            "---\ntools: [Bash]\ncommand_pattern: '\\bmigrate\\b.*--step={number}'\nwhen: \"git.branch == 'main'\"\naction: warn\n---\nCareful.\n"
        ),
    }
}
