//! Allowances: permissions for calls that were refused. Each allowance is a file in the user's state directory.
//!
//! An allowance is for exactly the same call (agent, session, tool, input, working directory), not for the rule that
//! refused it. Allowances are looked up only when a call is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::{Event, NotEnforced};
use store::{EntryId, JournalEntry};

use crate::Environment;

/// How often a call with an allowance may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowanceSpan {
    Once,
    /// Any number of times within its session.
    Session,
}

impl AllowanceSpan {
    pub fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Once, Self::Session].into_iter().find(|span| span.name() == name)
    }
}

/// A digest that identifies a call.
pub struct CallDigest(String);

impl CallDigest {
    /// The digest of the event's call. `input` is the journal's digest of the call's input. Returns `None` if the event
    /// lacks one of the fields that identify the call.
    pub fn of_event(event: &Event, input: Option<&str>) -> Option<Self> {
        let tool = &event.tool.as_ref()?.name;
        Self::new(&event.agent, &event.session, tool, input?, &store::mask(&event.cwd))
    }

    /// The digest of the call that a journal entry records; `None` if the entry lacks one of the fields that identify
    /// the call.
    pub fn of_entry(entry: &JournalEntry) -> Option<Self> {
        let input = entry.digests.get("input").and_then(serde_json::Value::as_str);
        Self::new(&entry.session.agent, &entry.session.id, entry.tool.name.as_ref()?, input?, &entry.cwd)
    }

    fn new(agent: &str, session: &str, tool: &str, input: &str, cwd: &str) -> Option<Self> {
        let is_identifiable = !session.is_empty() && !tool.is_empty();
        is_identifiable.then(|| Self(policy::digest([agent, session, tool, input, cwd].join("\0"))))
    }
}

/// The allowances of one project.
pub struct Allowances {
    directory: PathBuf,
}

impl Allowances {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { directory: environment.project_state(root).join("allowed") }
    }

    /// Adds an allowance. It replaces an earlier allowance for the same call. `refusal` is the id of the event in which
    /// the call was refused.
    pub fn grant(&self, call: &CallDigest, refusal: EntryId, span: AllowanceSpan) -> io::Result<()> {
        policy::write_private_file(&self.directory.join(&call.0), format!("{} {}\n", span.name(), refusal.0))
    }

    /// Returns the allowance for the call, if there is one, as the reason why the refusal is not enforced. A one-time
    /// allowance is used up: its file is removed. If several processes call this at the same time, only the process
    /// that removes the file gets the allowance.
    pub fn take(&self, call: &CallDigest) -> Option<NotEnforced> {
        let (span, not_enforced) = self.find(call)?;
        match span {
            AllowanceSpan::Session => {}
            AllowanceSpan::Once => fs::remove_file(self.directory.join(&call.0)).ok()?,
        }
        Some(not_enforced)
    }

    /// Like [`Self::take`], but a one-time allowance is not used up.
    pub fn peek(&self, call: &CallDigest) -> Option<NotEnforced> {
        self.find(call).map(|(_, not_enforced)| not_enforced)
    }

    fn find(&self, call: &CallDigest) -> Option<(AllowanceSpan, NotEnforced)> {
        let text = fs::read_to_string(self.directory.join(&call.0)).ok()?;
        let (span, refusal) = text.trim_end().split_once(' ')?;
        Some((AllowanceSpan::from_name(span)?, NotEnforced::Allowed { refusal: refusal.parse().ok()? }))
    }
}
