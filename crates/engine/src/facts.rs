//! What is known when an event is judged.
//!
//! Judging asks for facts one by one; whoever supplies them computes only what is asked for, and only once a
//! judgement, and can write down what was asked. A live hook, a recorded history and a test each supply them in their
//! own way. Parts of the event that a journal does not keep whole are asked for in the same way: whoever writes a
//! judgement down hears which of them it used, and a judgement by what was written down says which of them it lacked.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::file_rules::{Changes, FileMatch, FileRule, Reach};
use crate::pace::{Happening, Standing};
use crate::rules::Rule;
use shell::Written;

/// What a supplier does not say is what somebody says who knows nothing.
pub trait Facts: Send + Sync {
    /// A variable of the session, or its declared default.
    fn variable(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The names of all variables that have a value, in byte order.
    fn variable_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// A field of `git`; null where there is no repository.
    fn git(&self, _field: GitField) -> Value {
        Value::Null
    }

    /// A field of `workflow`; where none is active, `active` is false and every other is null.
    fn workflow(&self, field: WorkflowField) -> Value {
        field.without_workflow()
    }

    /// A field of `phase`; null where no workflow is active, and where it cannot be told.
    fn phase(&self, _field: PhaseField) -> Value {
        Value::Null
    }

    /// A field of `loop`; null where no run of a loop is going on, and where it cannot be told.
    fn in_loop(&self, _field: LoopField) -> Value {
        Value::Null
    }

    /// Whether a person asked a session to stop; none: the one that is judged, or the run that it belongs to.
    fn stop_signal(&self, _session: Option<&str>) -> bool {
        false
    }

    /// A field of `tasks`; null where it cannot be told.
    fn tasks(&self, _field: TaskField) -> Value {
        Value::Null
    }

    /// Whether nothing is left to do of a task and of all below it; false where there is no such task.
    fn task_tree_is_complete(&self, _id: &str) -> bool {
        false
    }

    /// Whether a person has to look at a task.
    fn task_needs_review(&self, _id: &str) -> bool {
        false
    }

    /// What was claimed with the move that is being decided, else with the one that led to the current phase.
    fn claims(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The same, where an expression asks for `claims` by this name: that is written down.
    fn asked_claims(&self) -> Map<String, Value> {
        self.claims()
    }

    /// The files that changed; `None` where nobody can tell, and file rules have nothing to go by.
    fn changes(&self, _reach: Reach) -> Option<Arc<Changes>> {
        None
    }

    /// What became so far of what a file rule asks for.
    fn answered(&self, _rule: &Rule, _found: &FileMatch) -> Answered {
        Answered::default()
    }

    /// The file rule in force that has this name.
    fn file_rule(&self, _id: &str) -> Option<FileRule> {
        None
    }

    /// How the phase that the event belongs to stands with a pace rule; `None` where this event makes no difference to it,
    /// or nobody can tell.
    fn pace(&self, _rule: &Rule, _happening: Option<&Happening>) -> Option<Standing> {
        None
    }

    /// The simple commands that the session ran, by their normalised text, newest first; for what a workflow says, those that
    /// any session ran in this phase.
    fn commands_ran(&self) -> Vec<RanCommand> {
        Vec::new()
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
    fn holds(&self, _rule: &str) -> u32 {
        0
    }

    /// Whether somebody acknowledged the rule, in the version with this digest, in this session.
    fn acknowledged(&self, _rule: &str, _digest: &str) -> bool {
        false
    }

    /// Why something that was asked for since this was last asked cannot be told. The rule that asked is then at fault.
    fn take_fault(&self) -> Option<String> {
        None
    }

    /// Whether, since this was last asked, something was asked for that is stored and cannot be read now. What a rule
    /// made of it does not count.
    fn take_missed(&self) -> bool {
        false
    }

    /// A rule is about to use this part of the event. To be noted by whoever writes judgements down.
    fn asked(&self, _part: EventPart<'_>) {}

    /// What was asked for since this was last asked and is not known, by name: there is a record, and it does not say.
    /// The rule that asked is then undecidable.
    fn take_unknown(&self) -> Vec<String> {
        Vec::new()
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
pub struct Answered {
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
