//! Where facts about a session come from: the journal, the run and the tasks.

use std::path::PathBuf;

use super::loop_facts::LoopFacts;
use super::task_facts::TaskFacts;

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
