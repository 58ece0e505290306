//! Facts about the session, the repository and the tasks, supplied to the engine on request.
//!
//! The engine asks for facts one by one. A supplier ([`Facts`]) computes only requested facts, and can
//! record the requests. Live hooks, replays and tests each have their own supplier. An unavailable
//! fact is [`Missing`], with the reason. Parts of the event that the journal does not store completely are requested
//! the same way: a live judgement records which parts it used, and a replay reports which parts were not recorded.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::file_rules::{ChangeScope, Changes, FileRule, PossibleDemand};
use crate::pace::{Activity, PaceRuleRef, PaceState};
use shell::FileContents;

/// The reason why a fact is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The stored fact cannot be read, or a demand cannot be written to the queue. The rule that requested the fact is
    /// skipped.
    Unavailable(FactStore),
    /// A replay needs the fact with this name, which was not recorded. The rule that requested the fact is undecidable.
    NotRecorded(String),
    /// The fact could not be determined, for this reason. The rule that requested the fact is faulty.
    Failed(String),
}

/// The storage that facts are read from and demands are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactStore {
    /// The session's state. This store is unavailable if the session is unknown or the journal cannot be opened.
    Session,
    /// The journal of events.
    Journal,
    /// The database of tasks and loops.
    Work,
    /// The queue of demands. If a new demand cannot be written to the queue, the rule makes no demand.
    Queue,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(FactStore::Session | FactStore::Journal) => f.write_str("the journal cannot be read"),
            Self::Unavailable(FactStore::Work) => f.write_str("the tasks of the project cannot be read"),
            Self::Unavailable(FactStore::Queue) => f.write_str("the queue of demands cannot be written"),
            Self::NotRecorded(name) => write!(f, "{name} was not recorded"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// Supplies facts. In the default implementations, every fact is absent, empty, zero or false.
pub trait Facts: Send + Sync {
    /// The value of a variable of the session. If the variable was not set, the value is its declared default; `None`
    /// without a default.
    fn variable(&self, _name: &str) -> Result<Option<Value>, Missing> {
        Ok(None)
    }

    /// The names of all variables of the session that have a value, in byte order.
    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        Ok(Vec::new())
    }

    /// A field of `git`; null outside of repositories.
    fn git(&self, _field: GitField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// A field of `workflow`; without an active workflow, `active` is false and all other fields are null.
    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        Ok(field.without_workflow())
    }

    /// A field of `phase`; null without an active workflow, or if the value of the field is unknown.
    fn phase(&self, _field: PhaseField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// A field of `loop`; null outside of runs, or if the value of the field is unknown.
    fn loop_field(&self, _field: LoopField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// True if a person asked a session to stop. The argument is the id of the session, or of a run. With `None`, true if
    /// a person asked the current session to stop, or the run that it belongs to.
    fn stop_signal(&self, _session: Option<&str>) -> Result<bool, Missing> {
        Ok(false)
    }

    /// A field of `tasks`; null if the value of the field is unknown.
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

    /// The claims of the transition that is being decided; if no transition is being decided, the claims of the
    /// transition that led to the current phase.
    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        Ok(Map::new())
    }

    /// Like [`Self::claims`], for an expression that uses the name `claims`. While a live event is judged, the claims
    /// are also recorded, so that a replay can use them.
    fn require_claims(&self) -> Result<Map<String, Value>, Missing> {
        self.claims()
    }

    /// The changed files; `None` if git cannot determine them, so that file rules cannot be judged.
    fn changes(&self, _change_scope: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        Ok(None)
    }

    /// Finds the demand of an unmet file rule in the queue, or writes the demand to the queue if the demand is new.
    /// Returns the state of the demand.
    fn find_or_write_demand(&self, _demand: &PossibleDemand<'_>) -> Result<DemandState, Missing> {
        Ok(DemandState::default())
    }

    /// The file rule with this id that is in force; `None` if there is no such rule.
    fn file_rule(&self, _id: &str) -> Option<FileRule> {
        None
    }

    /// The state of a pace rule in the event's phase; `None` if the event cannot change the state.
    fn pace_state(&self, _rule: PaceRuleRef<'_>, _activity: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        Ok(None)
    }

    /// The normalized simple commands that the session ran, newest first. For a rule of a workflow, these are the
    /// commands that any session ran in the current phase.
    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        Ok(Vec::new())
    }

    /// The paths to which the shell would expand a glob; `None` if the file system is not available.
    fn expand_glob(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// The files that a recursive search in the paths that match a glob would read. Files near the top of the directory
    /// tree come first, and their number is limited. `None` if the file system is not available.
    fn search_files(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// True if the path is a directory, false if the path is any other file; `None` if the path does not exist or the
    /// file system is not available.
    fn is_directory(&self, _path: &str) -> Option<bool> {
        None
    }

    /// The path after its symlinks are resolved, as far as the path exists; `None` if the file system is not available.
    fn resolve_symlinks(&self, _path: &str) -> Option<String> {
        None
    }

    /// The content of a file that the session wrote; `None` if the session did not write the file, or the content is
    /// not text.
    fn written_file(&self, _path: &str) -> Option<FileContents> {
        None
    }

    /// How often the rule has already held the stop that the agent now tries again. The error is the store that cannot
    /// be read.
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
    /// The raw script of a shell call. Rules that match only the parsed words of the script do not request this part.
    Command,
    /// The paths that the event names.
    Paths,
    /// The entire input of a tool call.
    Input,
    /// Whether the input has any field.
    HasInput,
    InputField(&'a str),
    Output,
    Prompt,
    Message,
}

impl EventPart<'_> {
    /// The name of this part in expressions.
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
    /// The names of the visited nodes, oldest first.
    History,
    Active,
}

impl WorkflowField {
    /// The value of this field while no workflow is active.
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

/// Fields of the current phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseField {
    Name,
    /// How often the current node has been entered.
    Visit,
    /// Seconds since the current node was entered.
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
    /// The topics that were accepted in this run, oldest first.
    Topics,
    /// Seconds since the run started.
    Elapsed,
    /// The number of tokens that the whole run has used.
    Tokens,
    Active,
    /// The topic that this iteration published to hand over to the next hat.
    HandedOver,
    /// The ids of the tasks that were started in this iteration and are still in progress.
    Unfinished,
    /// The gate that waits for a person, if this gate is the only reason why this iteration cannot hand over.
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

/// The fields of `tasks`, which are numbers of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskField {
    Open,
    /// The number of tasks that are open and not blocked by another task.
    Ready,
    InProgress,
    Closed,
    Failed,
    /// The number of tasks that were started in this run and are in progress. In expressions, the name of this field is
    /// `claimed`.
    StartedInRun,
}

impl TaskField {
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Ready, Self::InProgress, Self::Closed, Self::Failed, Self::StartedInRun];

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ready => "ready",
            Self::InProgress => "in_progress",
            Self::Closed => "closed",
            Self::Failed => "failed",
            Self::StartedInRun => "claimed",
        }
    }
}

/// The state of a file rule's demand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemandState {
    /// The triggering files for which the demand is already answered by a promise, an acknowledgement or the rule's
    /// command.
    pub answered_files: BTreeSet<String>,
    /// How often the rule has asked about the triggering files for which the demand is not answered, since the session
    /// last made progress on the demand.
    pub times_asked: u32,
    /// True if the rule has asked the maximum number of times without success, and no longer asks.
    pub is_given_up: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    /// The time at which the command ran, in milliseconds since 1970.
    pub time: i64,
    pub text: String,
    /// True if the command is known to have succeeded.
    pub succeeded: bool,
}

/// A supplier that has no facts: no variables, no repository, no history.
#[derive(Debug, Default)]
pub struct NoFacts;

impl Facts for NoFacts {}
