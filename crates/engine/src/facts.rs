//! What is known when an event is judged.
//!
//! Judging asks for facts one by one. A supplier ([`Facts`]) computes only what is asked for, once a judgement, and can
//! record what was asked. A live hook, a recorded history and a test each supply facts in their own way. A fact that
//! cannot be told is [`Missing`], which says why. Parts of the event that a journal does not keep whole are asked for in
//! the same way: a live judgement records which of them it used, and a judgement by a record says which of them it lacks.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::file_rules::{ChangeScope, Changes, FileRule, UnmetFileRule};
use crate::pace::{Activity, PaceRuleRef, PaceState};
use shell::Written;

/// Why a fact cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// It is stored and cannot be read now. The rule that asked is skipped.
    Unreadable(Stored),
    /// The record that is judged by does not have it; its name. The rule that asked is undecidable.
    NotRecorded(String),
    /// It could not be determined, and why. The rule that asked is at fault.
    Failed(String),
}

/// Where a fact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// In the state of the session; it cannot be read where the session is not known, or the journal cannot be opened.
    Session,
    /// In the journal of events.
    Journal,
    /// In the database of tasks and loops.
    Work,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(Stored::Session | Stored::Journal) => f.write_str("the journal cannot be read"),
            Self::Unreadable(Stored::Work) => f.write_str("the tasks of the project cannot be read"),
            Self::NotRecorded(name) => write!(f, "{name} was not recorded"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// The default of each answer is that of a supplier that knows nothing.
pub trait Facts: Send + Sync {
    /// A variable of the session, or its declared default.
    fn variable(&self, _name: &str) -> Result<Option<Value>, Missing> {
        Ok(None)
    }

    /// The names of all variables that have a value, in byte order.
    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        Ok(Vec::new())
    }

    /// A field of `git`; null where there is no repository.
    fn git(&self, _field: GitField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// A field of `workflow`; where none is active, `active` is false and every other is null.
    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        Ok(field.without_workflow())
    }

    /// A field of `phase`; null where no workflow is active, and where it cannot be told.
    fn phase(&self, _field: PhaseField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// A field of `loop`; null where no run of a loop is going on, and where it cannot be told.
    fn in_loop(&self, _field: LoopField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// Whether a person asked a session to stop; none: the one that is judged, or the run that it belongs to.
    fn stop_signal(&self, _session: Option<&str>) -> Result<bool, Missing> {
        Ok(false)
    }

    /// A field of `tasks`; null where it cannot be told.
    fn tasks(&self, _field: TaskField) -> Result<Value, Missing> {
        Ok(Value::Null)
    }

    /// Whether nothing is left to do of a task and of all below it; false where there is no such task.
    fn task_tree_is_complete(&self, _id: &str) -> Result<bool, Missing> {
        Ok(false)
    }

    /// Whether a person has to look at a task.
    fn task_needs_review(&self, _id: &str) -> Result<bool, Missing> {
        Ok(false)
    }

    /// What was claimed with the move that is being decided, else with the one that led to the current phase.
    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        Ok(Map::new())
    }

    /// The same, where an expression asks for `claims` by this name: that is written down.
    fn asked_claims(&self) -> Result<Map<String, Value>, Missing> {
        self.claims()
    }

    /// The files that changed; `None` where git cannot tell, and file rules have nothing to go by.
    fn changes(&self, _reach: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        Ok(None)
    }

    /// What became so far of what a file rule asks for.
    fn answered(&self, _demand: &UnmetFileRule<'_>) -> Result<DemandState, Missing> {
        Ok(DemandState::default())
    }

    /// The file rule in force that has this name.
    fn file_rule(&self, _id: &str) -> Option<FileRule> {
        None
    }

    /// How the phase that the event belongs to stands with a pace rule; `None` where this event makes no difference to it.
    fn pace(&self, _rule: PaceRuleRef<'_>, _happening: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        Ok(None)
    }

    /// The simple commands that the session ran, by their normalised text, newest first; for what a workflow says, those that
    /// any session ran in this phase.
    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        Ok(Vec::new())
    }

    /// The paths that a shell would put in the place of a pattern; `None` where nobody can look.
    fn expanded(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// The files that a search in those of such names would look into, the nearest first and not all of very many; `None`
    /// where nobody can look.
    fn searched(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// Whether what is there is a folder; `None` where nothing is, or nobody can look.
    fn is_folder(&self, _path: &str) -> Option<bool> {
        None
    }

    /// The real path behind links, as far as the path exists; `None` where nobody can look.
    fn resolved(&self, _path: &str) -> Option<String> {
        None
    }

    /// What is in a file that the session wrote; `None` where it did not, or where it is no text.
    fn written(&self, _path: &str) -> Option<Written> {
        None
    }

    /// How often the rule has held the stop that the agent is now trying again.
    fn holds(&self, _rule: &str) -> Result<u32, Missing> {
        Ok(0)
    }

    /// Whether somebody acknowledged the rule, in the version with this digest, in this session.
    fn acknowledged(&self, _rule: &str, _digest: &str) -> bool {
        false
    }

    /// A rule is about to use this part of the event. A live judgement notes it for the journal; a judgement by a record
    /// answers whether the record has that part.
    fn asked(&self, _part: EventPart<'_>) -> Result<(), Missing> {
        Ok(())
    }
}

/// A part of an event that a journal may keep only in part, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventPart<'a> {
    /// The text of a shell call, as text. What a pattern finds in its words is not asked for here.
    Command,
    /// The paths that the event names.
    Paths,
    /// The whole input of a tool call.
    Input,
    /// Whether the input has any field at all.
    HasInput,
    /// One field of the input.
    InputField(&'a str),
    Output,
    Prompt,
    Message,
}

impl EventPart<'_> {
    /// As an expression names it.
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
    /// The nodes that were visited, oldest first.
    History,
    Active,
}

impl WorkflowField {
    /// What it is where no workflow is active.
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

/// Of the visit that lasts now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseField {
    Name,
    /// How often this node has been entered.
    Visit,
    /// In seconds.
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

/// Of the run that the session belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopField {
    /// The id of the one that is on.
    Hat,
    Iteration,
    /// Those that were accepted in this run, oldest first.
    Topics,
    /// In seconds, of the whole run.
    Elapsed,
    /// Of the whole run.
    Tokens,
    Active,
    /// The topic that this iteration has handed over.
    HandedOver,
    /// The ids of tasks that were started in this iteration and are still in progress.
    Unfinished,
    /// The gate that only a person can open, where nothing else kept this iteration from handing over.
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

/// How many tasks there are of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskField {
    Open,
    /// Open, and waiting for no other.
    Ready,
    InProgress,
    Closed,
    Failed,
    /// In progress, and started in the run that this is part of.
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

/// How far a file rule's demand has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemandState {
    /// The files that somebody has answered for: promised, acknowledged, or put right by the rule's command.
    pub settled: BTreeSet<String>,
    /// How often the rest was asked for.
    pub shown: u32,
    /// It was asked for often enough, and nobody heeded it.
    pub is_given_up: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    /// Milliseconds since 1970.
    pub time: i64,
    pub text: String,
    /// It surely ended well; false where nobody can tell.
    pub succeeded: bool,
}

/// Nothing is known: no variables, no repository, no history.
#[derive(Debug, Default)]
pub struct NoFacts;

impl Facts for NoFacts {}
