//! The failure policy: the verdict for an event that could not be judged. No other module decides this.
//!
//! The worst outcome is a guard that is silently off; the next worst is an agent locked out by a mistake. So a call
//! that could not be judged asks a person, and adapters of agents that cannot ask refuse it. Any other event passes,
//! with a notice for the person.

use std::time::Duration;

use engine::facts::Stored;
use engine::{Event, Finding, Level, Verdict};

/// The rule id of findings that the guard itself makes.
pub const GUARD: &str = "linchpin";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Holds what is wrong with the payload.
    #[error("{0}")]
    Undecodable(String),
    #[error("the rules were not judged within {} ms", .0.as_millis())]
    Deadline(Duration),
    #[error("judging failed by a fault in Linchpin: {0}")]
    Panicked(String),
    #[error("this shell call does not say what it would run")]
    MissingCommand,
    #[error("this call does not say which tool it is, or which file it is about")]
    MissingTool,
    #[error("no file can be written here (`ulimit -f`), and whoever tries is killed")]
    FileLimit,
    #[error("the compiled policy cannot be read")]
    UnreadablePolicy,
    #[error("this is part of a run of the loop, and what its hat may do cannot be read")]
    UnreadableStage,
}

impl Failure {
    pub fn finding(&self) -> Finding {
        let reason = format!("{}. Nobody can say whether this is allowed, so a person has to.", capitalised(self));
        Finding {
            rule: GUARD.to_owned(),
            level: Level::Ask,
            reason,
            because: Vec::new(),
            digest: None,
            protects_guard: true,
            section: None,
            is_combined: false,
        }
    }

    /// The verdict for an event that could not be judged.
    pub fn verdict(&self, event: &Event) -> Verdict {
        // An event without a name could be any event, so it is treated as the most dangerous one. Nor is it known
        // whether the agent could ask for it.
        if event.name.is_empty() {
            let reason = format!("{}. Nobody can say what this event is, so it is refused.", capitalised(self));
            return Verdict::of(vec![Finding { level: Level::Block, reason, ..self.finding() }]);
        }
        if event.kind.awaits_permission() {
            return Verdict::of(vec![self.finding()]);
        }
        Verdict { notices: vec![format!("{}; this {} went by unjudged", self, event.name)], ..Verdict::empty() }
    }
}

fn capitalised(failure: &Failure) -> String {
    let text = failure.to_string();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A notice that the journal cannot be used. Rules that need no stored state are still judged.
pub fn store_notice(error: &store::StoreError) -> String {
    format!("{error}; rules that need it are skipped, and this is not recorded")
}

/// A notice of a policy file that cannot be used.
pub fn broken_notice(file: &policy::BrokenFile) -> String {
    format!("broken policy file, {}: {}", file.consequence(), file.problem)
}

/// A notice that the active workflow's file is broken or missing.
pub fn broken_workflow_notice(name: &str, has_last_good: bool) -> String {
    let consequence = if has_last_good { "it counts as it last was" } else { "its rules do not count" };
    format!("workflow `{name}` is active and its file cannot be used, {consequence}: `linchpin validate`")
}

/// A notice of a rule that was skipped because stored state that it needs cannot be read.
pub fn skipped_rule_notice(rule: &str, unreadable: Stored) -> String {
    match unreadable {
        Stored::Session | Stored::Journal => format!("rule `{rule}` needs the journal and was skipped"),
        Stored::Work => {
            format!("rule `{rule}` needs the project's tasks, which cannot be read, and was skipped: `linchpin doctor`")
        }
    }
}
