//! What is known when an event is judged.
//!
//! Judging asks for facts one by one; whoever supplies them computes only what is asked for, and only once a
//! judgement, and can write down what was asked. A live hook, a recorded history and a test each supply them in their
//! own way.

use serde_json::Value;

pub trait Facts: Send + Sync {
    /// A variable of the session, or its declared default.
    fn variable(&self, name: &str) -> Option<Value>;

    /// The names of all variables that have a value, in byte order.
    fn variable_names(&self) -> Vec<String>;

    /// A field of `git`; null where there is no repository.
    fn git(&self, field: GitField) -> Value;

    /// The simple commands that the session ran, by their normalised text, newest first.
    fn commands_ran(&self) -> Vec<RanCommand>;

    /// The real path behind links, as far as the path exists; `None` where nobody can look.
    fn resolved(&self, path: &str) -> Option<String>;

    /// How often the rule has held the stop that the agent is now trying again.
    fn holds(&self, rule: &str) -> u32;

    /// Whether somebody acknowledged the rule, in the version with this digest, in this session.
    fn acknowledged(&self, rule: &str, digest: &str) -> bool;

    /// Why something that was asked for since this was last asked cannot be told. The rule that asked is then at fault.
    fn take_fault(&self) -> Option<String>;

    /// Whether, since this was last asked, something was asked for that is stored and cannot be read now. What a rule
    /// made of it does not count.
    fn take_missed(&self) -> bool;
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    /// Milliseconds since 1970.
    pub time: i64,
    pub text: String,
}

/// Nothing is known: no variables, no repository, no history.
#[derive(Debug, Default)]
pub struct NoFacts;

impl Facts for NoFacts {
    fn variable(&self, _name: &str) -> Option<Value> {
        None
    }

    fn variable_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn git(&self, _field: GitField) -> Value {
        Value::Null
    }

    fn commands_ran(&self) -> Vec<RanCommand> {
        Vec::new()
    }

    fn resolved(&self, _path: &str) -> Option<String> {
        None
    }

    fn holds(&self, _rule: &str) -> u32 {
        0
    }

    fn acknowledged(&self, _rule: &str, _digest: &str) -> bool {
        false
    }

    fn take_fault(&self) -> Option<String> {
        None
    }

    fn take_missed(&self) -> bool {
        false
    }
}
