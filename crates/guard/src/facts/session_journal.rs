//! Access to a session's journal, and the commands in it in the form that rules need.

use std::path::PathBuf;

use engine::facts::RanCommand;

use super::loop_facts::LoopFacts;
use super::task_facts::TaskFacts;

/// The maximum number of earlier commands that `command_ran` considers.
pub const COMMANDS_LIMIT: usize = 2_000;

/// Access to a session's earlier commands and to the project's tasks.
pub struct SessionJournal {
    pub store: PathBuf,
    pub agent: String,
    pub session: String,
    /// The home directory, for `~` in recorded paths.
    pub home: Option<String>,
    pub options: store::StoreOptions,
    pub in_loop: LoopFacts,
    pub tasks: TaskFacts,
}

/// The simple commands of a recorded shell call.
pub fn simple_commands(ran: &store::RecordedCommand) -> Vec<RanCommand> {
    let script = shell::parse(&ran.text);
    let succeeded = ran.succeeded == Some(true) && shell::every_command_must_succeed(&ran.text, &script);
    script.texts().map(|text| RanCommand { time: ran.time, text, succeeded }).collect()
}
