//! A project whose hooks are measured: a policy, a journal, and a home directory of its own.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// How long to wait after writing a policy file. While a file is very new, its timestamp cannot show whether it has
/// changed again, so every event reads it.
const FILE_AGE: Duration = Duration::from_millis(100);

/// An ordinary command of an agent.
pub const COMMAND: &str = "cd crates && cargo test --workspace -- --nocapture | tee ../log.txt";

pub struct BenchProject {
    directory: tempfile::TempDir,
}

impl BenchProject {
    /// Creates a project with the bundled rules and this number of other rules, of various kinds.
    pub fn new(rules: usize) -> Result<Self> {
        let project = Self { directory: tempfile::tempdir()? };
        let rules_directory = project.root().join(".linchpin/rules");
        fs::create_dir_all(&rules_directory)?;
        let config = include_str!("../../../crates/cli/src/commands/init/config.yml");
        fs::write(project.root().join(".linchpin/config.yml"), config)?;
        for number in 0..rules {
            fs::write(rules_directory.join(format!("rule-{number:05}.md")), mixed_rule(number))?;
        }
        project.set_command(COMMAND)?;
        std::thread::sleep(FILE_AGE);
        Ok(project)
    }

    pub fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    pub fn payload(&self) -> PathBuf {
        self.directory.path().join("payload.json")
    }

    /// Makes the event of [`Self::hook`] a call of this command.
    pub fn set_command(&self, command: &str) -> Result<()> {
        self.set_call("Bash", &json!({ "command": command, "description": "Run the tests" }))
    }

    /// Makes the event of [`Self::hook`] a call of this tool.
    pub fn set_call(&self, tool: &str, input: &Value) -> Result<()> {
        let fields = json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input });
        self.write_payload("bench", &fields)
    }

    /// Makes the event of [`Self::hook`] the first one of the session.
    pub fn set_session(&self, session: &str) -> Result<()> {
        self.write_payload(session, &json!({ "hook_event_name": "SessionStart", "source": "startup" }))
    }

    /// Makes the event of [`Self::hook`] one of this name. A call runs a generator of files.
    pub fn set_event(&self, name: &str) -> Result<()> {
        let fields = match name {
            "PreToolUse" | "PostToolUse" => json!({
                "hook_event_name": name, "tool_name": "Bash", "tool_input": { "command": "./generate.sh" },
                "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
            }),
            _ => json!({ "hook_event_name": name, "prompt": "Generate the files.", "stop_hook_active": false }),
        };
        self.write_payload("bench", &fields)
    }

    fn write_payload(&self, session: &str, fields: &Value) -> Result<()> {
        let mut event = Map::new();
        for (name, value) in [
            ("session_id", json!(session)),
            ("transcript_path", json!("/nowhere.jsonl")),
            ("cwd", json!(self.root())),
            ("permission_mode", json!("default")),
            ("turn_id", json!("1")),
            ("tool_use_id", json!("toolu_1")),
        ] {
            event.insert(name.to_owned(), value);
        }
        event.extend(fields.as_object().cloned().unwrap_or_default());
        Ok(fs::write(self.payload(), Value::Object(event).to_string())?)
    }

    /// Edits a rule, so that the policy has to be compiled again.
    pub fn edit_rule(&self) -> Result<()> {
        let rule = self.root().join(".linchpin/rules/rule-00005.md");
        File::options().append(true).open(rule)?.write_all(b"And no other.\n")?;
        std::thread::sleep(FILE_AGE);
        Ok(())
    }

    /// A hook of Claude Code.
    pub fn hook(&self, binary: &Path) -> Result<Command> {
        self.hook_of("claude", binary)
    }

    pub fn hook_of(&self, agent: &str, binary: &Path) -> Result<Command> {
        let mut command = Command::new(binary);
        command.args(["hook", agent]).stdin(File::open(self.payload())?);
        self.set_home(&mut command);
        command.env("CLAUDE_PROJECT_DIR", self.root());
        Ok(command)
    }

    /// A command of a person.
    pub fn command(&self, binary: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary);
        // The caller's shell may have environment variables that identify it as an agent's.
        command.env_clear().args(arguments).current_dir(self.root());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        self.set_home(&mut command);
        command
    }

    pub fn set_home(&self, command: &mut Command) {
        for (variable, directory) in [("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
            command.env(variable, self.directory.path().join(directory));
        }
    }

    pub fn open_journal(&self) -> Result<Connection> {
        Ok(Connection::open(self.root().join(".linchpin/state.db"))?)
    }

    /// Adds `events` copies of the journal's first event.
    pub fn fill_journal(&self, events: usize) -> Result<()> {
        let database = self.open_journal()?;
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
