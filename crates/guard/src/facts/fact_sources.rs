//! Where facts about a session come from: the journal, the run and the tasks. Also recorded commands in the form that
//! rules need.

use std::path::PathBuf;

use engine::facts::RanCommand;

use super::loop_facts::LoopFacts;
use super::task_facts::TaskFacts;

/// The maximum number of earlier commands that `command_ran` considers.
pub const COMMANDS_LIMIT: usize = 2_000;

/// The sources of facts about one session.
pub struct FactSources {
    pub journal_path: PathBuf,
    pub agent: String,
    pub session: String,
    /// The home directory, for `~` in recorded paths.
    pub home: Option<String>,
    pub options: store::StoreOptions,
    pub loop_facts: LoopFacts,
    pub task_facts: TaskFacts,
}

/// The simple commands of a recorded shell call.
pub fn simple_commands(call: &store::RecordedCommand) -> Vec<RanCommand> {
    let script = shell::parse(&call.text);
    let succeeded = call.succeeded == Some(true) && shell::every_command_must_succeed(&call.text, &script);
    script.texts().map(|text| RanCommand { time: call.time, text, succeeded }).collect()
}
