//! Facts about the session, the repository and the tasks, supplied to the engine on request.
//!
//! The engine asks for facts one by one. A supplier ([`Facts`]) computes only requested facts, at most once per
//! judgement, and can record the requests. Live hooks, recorded history and tests each have their own supplier. An
//! unavailable fact is [`Missing`], with the reason. Parts of the event that the journal does not store completely are
//! requested the same way: a live judgement records which parts it used, and a replay reports which parts were not
//! recorded.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::file_rules::{ChangeScope, Changes, FileRule, UnmetFileRule};
use crate::pace::{Activity, PaceRuleRef, PaceState};
use shell::FileContents;

/// The reason why a fact is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The fact is stored, but cannot be read now, or must be stored and cannot be. The rule that requested it is
    /// skipped.
    Unreadable(FactStore),
    /// A replay needs the fact of this name, which was not recorded. The outcome of the rule that requested it is
    /// undecidable.
    NotRecorded(String),
    /// The fact could not be determined, for this reason. The rule that requested it is faulty.
    Failed(String),
}

/// The place where a fact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactStore {
    /// In the session's state; unreadable if the session is unknown or the journal cannot be opened.
    Session,
    /// In the journal of events.
    Journal,
    /// In the database of tasks and loops.
    Work,
    /// In the queue of demands. A new demand is written there; if that fails, the rule makes no demand.
    Queue,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(FactStore::Session | FactStore::Journal) => f.write_str("the journal cannot be read"),
            Self::Unreadable(FactStore::Work) => f.write_str("the tasks of the project cannot be read"),
            Self::Unreadable(FactStore::Queue) => f.write_str("the queue of demands cannot be written"),
            Self::NotRecorded(name) => write!(f, "{name} was not recorded"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// Supplies facts. In the default implementations, every fact is absent, empty, zero or false.
pub trait Facts: Send + Sync {
    /// A variable of the session; its declared default if it was not set.
    fn variable(&self, _name: &str) -> Result<Option<Value>, Missing> {
        Ok(None)
    }

    /// Names of all variables that have a value, in byte order.
    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        Ok(Vec::new())
    }

    /// A field of `git`; null outside of repositories.
    fn git(&self, _field: GitField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// A field of `workflow`; without an active workflow, `active` is false and all others are null.
    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        Ok(field.without_workflow())
    }

    /// A field of `phase`; null without an active workflow, or if it is unknown.
    fn phase(&self, _field: PhaseField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// A field of `loop`; null outside of runs, or if it is unknown.
    fn in_loop(&self, _field: LoopField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// True if a person asked the session to stop. `None` means the session that is judged, or the run that it belongs
    /// to.
    fn stop_signal(&self, _session: Option<&str>) -> Result<bool, Missing> {
        Ok(false)
    }

    /// A field of `tasks`; null if it is unknown.
    fn tasks(&self, _field: TaskField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// True if a task and all of its subtasks are finished; false if the task does not exist.
    fn task_tree_is_complete(&self, _id: &str) -> Result<bool, Missing> {
        Ok(false)
    }

    /// True if the task needs a person's review.
    fn task_needs_review(&self, _id: &str) -> Result<bool, Missing> {
        Ok(false)
    }

    /// Claims of the transition that is being decided; otherwise of the transition that led to the current phase.
    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        Ok(Map::new())
    }

    /// Like [`Self::claims`], for an expression that names `claims`. A live judgement records this use.
    fn require_claims(&self) -> Result<Map<String, Value>, Missing> {
        self.claims()
    }

    /// The changed files; `None` if git cannot determine them, so that file rules cannot be judged.
    fn changes(&self, _change_scope: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        Ok(None)
    }

    /// Registers the demand of an unmet file rule and returns the demand's state.
    fn register_demand(&self, _demand: &UnmetFileRule<'_>) -> Result<DemandState, Missing> {
        Ok(DemandState::default())
    }

    /// The active file rule with this id.
    fn file_rule(&self, _id: &str) -> Option<FileRule> {
        None
    }

    /// The state of a pace rule in the event's phase; `None` if the event cannot change it.
    fn pace_state(&self, _rule: PaceRuleRef<'_>, _activity: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        Ok(None)
    }

    /// Normalised simple commands that the session ran, newest first. For rules of a workflow, commands that any
    /// session ran in this phase.
    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        Ok(Vec::new())
    }

    /// Paths that the shell would expand a glob to; `None` if the file system is not available.
    fn expand_glob(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// Files that a recursive search in paths matching the glob would read, nearest first and limited in number; `None`
    /// if the file system is not available.
    fn search_files(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// True for a folder, false for any other file; `None` if nothing exists there or the file system is not available.
    fn is_folder(&self, _path: &str) -> Option<bool> {
        None
    }

    /// The path with symlinks resolved, as far as it exists; `None` if the file system is not available.
    fn resolve_symlinks(&self, _path: &str) -> Option<String> {
        None
    }

    /// The content of a file that the session wrote; `None` if it did not write the file, or the content is not text.
    fn written_file(&self, _path: &str) -> Option<FileContents> {
        None
    }

    /// How often the rule has held the stop that the agent is retrying. The error is the store that cannot be read.
    fn hold_count(&self, _rule: &str) -> Result<u32, FactStore> {
        Ok(0)
    }

    /// True if the rule, in the version with this digest, was acknowledged in this session.
    fn is_acknowledged(&self, _rule: &str, _digest: &str) -> bool {
        false
    }

    /// Requests a part of the event before a rule uses it. A live judgement records the request; a replay fails if the
    /// part was not recorded.
    fn require(&self, _part: EventPart<'_>) -> Result<(), Missing> {
        Ok(())
    }
}

/// Parts of an event that the journal stores incompletely or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventPart<'a> {
    /// The raw script of a shell call. Patterns that match its parsed words do not request it.
    Command,
    /// Paths that the event names.
    Paths,
    /// The entire input of a tool call.
    Input,
    /// True if the input has any field.
    HasInput,
    InputField(&'a str),
    Output,
    Prompt,
    Message,
}

impl EventPart<'_> {
    /// The name in expressions.
    pub fn name(self) -> String {
        let name = match self {
            Self::Command => "event.command",
            Self::Paths => "event.paths",
            Self::Input | Self::HasInput => "event.input",
            Self::InputField(field) => return format!("event.input.{field}"),
            Self::Output => "event.output",
            Self::Prompt => "event.prompt",
            Self::Message => "event.message",
        };
        name.to_owned()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitField {
    Branch,
    DefaultBranch,
    Head,
    Dirty,
}

impl GitField {
    pub fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::DefaultBranch => "default_branch",
            Self::Head => "head",
            Self::Dirty => "dirty",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkflowField {
    Name,
    Node,
    /// Visited nodes, oldest first.
    History,
    Active,
}

impl WorkflowField {
    /// The value without an active workflow.
    pub fn without_workflow(self) -> Value {
        if self == Self::Active { Value::Bool(false) } else { Value::Null }
    }

    pub const ALL: [Self; 4] = [Self::Name, Self::Node, Self::History, Self::Active];

    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Node => "node",
            Self::History => "history",
            Self::Active => "active",
        }
    }
}

/// Fields of the current visit to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseField {
    Name,
    /// How often the node has been entered.
    Visit,
    /// Seconds since the node was entered.
    Elapsed,
    Tokens,
    Commands,
    Edits,
    Commits,
}

impl PhaseField {
    pub const ALL: [Self; 7] =
        [Self::Name, Self::Visit, Self::Elapsed, Self::Tokens, Self::Commands, Self::Edits, Self::Commits];

    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Visit => "visit",
            Self::Elapsed => "elapsed",
            Self::Tokens => "tokens",
            Self::Commands => "commands",
            Self::Edits => "edits",
            Self::Commits => "commits",
        }
    }
}

/// Fields of the run that the session belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopField {
    /// Id of the current hat.
    Hat,
    Iteration,
    /// Topics accepted in this run, oldest first.
    Topics,
    /// Seconds since the run started.
    Elapsed,
    /// Tokens used by the whole run.
    Tokens,
    Active,
    /// The topic that this iteration published to hand over.
    HandedOver,
    /// Ids of tasks that were started in this iteration and are still in progress.
    Unfinished,
    /// The gate that waits for a person, if nothing else keeps this iteration from handing over.
    WaitsFor,
}

impl LoopField {
    pub const ALL: [Self; 9] = [
        Self::Hat,
        Self::Iteration,
        Self::Topics,
        Self::Elapsed,
        Self::Tokens,
        Self::Active,
        Self::HandedOver,
        Self::Unfinished,
        Self::WaitsFor,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Hat => "hat",
            Self::Iteration => "iteration",
            Self::Topics => "topics",
            Self::Elapsed => "elapsed",
            Self::Tokens => "tokens",
            Self::Active => "active",
            Self::HandedOver => "handed_over",
            Self::Unfinished => "unfinished",
            Self::WaitsFor => "waits_for",
        }
    }
}

/// Counts of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskField {
    Open,
    /// Open and not blocked by another task.
    Ready,
    InProgress,
    Closed,
    Failed,
    /// In progress and started in this run.
    Claimed,
}

impl TaskField {
    pub const ALL: [Self; 6] = [Self::Open, Self::Ready, Self::InProgress, Self::Closed, Self::Failed, Self::Claimed];

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ready => "ready",
            Self::InProgress => "in_progress",
            Self::Closed => "closed",
            Self::Failed => "failed",
            Self::Claimed => "claimed",
        }
    }
}

/// The state of a file rule's demand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemandState {
    /// Triggering files that are answered: promised, acknowledged, or fixed by the rule's command.
    pub answered_files: BTreeSet<String>,
    /// How often the rule has asked for the remaining files.
    pub times_asked: u32,
    /// The rule has asked the maximum number of times without success, and no longer asks.
    pub is_given_up: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    /// Milliseconds since 1970.
    pub time: i64,
    pub text: String,
    /// True if the command is known to have succeeded.
    pub succeeded: bool,
}

/// A supplier without facts: no variables, no repository, no history.
#[derive(Debug, Default)]
pub struct NoFacts;

impl Facts for NoFacts {}
