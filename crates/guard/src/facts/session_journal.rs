//! Where the journal of a session is, and the commands that ran before as rules ask for them.

use std::path::PathBuf;

use engine::facts::RanCommand;

use super::loop_facts::LoopFacts;
use super::task_facts::TaskFacts;

/// How many commands of a session or phase `command_ran` can look back on.
pub const COMMANDS_LIMIT: usize = 2_000;

/// Where the session's earlier commands can be read, and its project's tasks.
pub struct SessionJournal {
    pub store: PathBuf,
    pub agent: String,
    pub session: String,
    /// What `~` stands for in them.
    pub home: Option<String>,
    pub options: store::StoreOptions,
    pub in_loop: LoopFacts,
    pub tasks: TaskFacts,
}

/// A command that ran, as rules ask for it.
pub fn simple_commands(ran: &store::RecordedCommand) -> Vec<RanCommand> {
    let script = shell::parse(&ran.text);
    let succeeded = ran.succeeded == Some(true) && shell::every_command_must_succeed(&ran.text, &script);
    script.texts().map(|text| RanCommand { time: ran.time, text, succeeded }).collect()
}
