//! What becomes of an event when something fails. Nothing else decides this.
//!
//! A guard that is silently off is the worst outcome, an agent locked out by a slip the next worst. So a call that
//! could not be judged is put before a person, and an adapter whose agent cannot ask refuses it; an event that nobody
//! waits on goes by, and the person is told.

use std::time::Duration;

use engine::facts::Stored;
use engine::{Event, Finding, Level, Verdict};

/// The name under which the guard speaks for itself.
pub const GUARD: &str = "linchpin";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// What is wrong with the payload.
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

    /// What is said of an event that could not be judged.
    pub fn verdict(&self, event: &Event) -> Verdict {
        // An event without a name could be anything, so it is taken for what matters most; nor can anybody be asked.
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

/// The journal cannot be used: rules that need no stored state are judged all the same.
pub fn store_notice(error: &store::StoreError) -> String {
    format!("{error}; rules that need it are skipped, and this is not recorded")
}

/// A policy file that cannot be used as it is now.
pub fn broken_notice(file: &policy::BrokenFile) -> String {
    format!("broken policy file, {}: {}", file.consequence(), file.problem)
}

/// The workflow that is active, while its file is broken or gone.
pub fn broken_workflow_notice(name: &str, has_last_good: bool) -> String {
    let consequence = if has_last_good { "it counts as it last was" } else { "its rules do not count" };
    format!("workflow `{name}` is active and its file cannot be used, {consequence}: `linchpin validate`")
}

/// A rule that needs what is stored, while that cannot be read.
pub fn skipped_rule_notice(rule: &str, unreadable: Stored) -> String {
    match unreadable {
        Stored::Session | Stored::Journal => format!("rule `{rule}` needs the journal and was skipped"),
        Stored::Work => {
            format!("rule `{rule}` needs the project's tasks, which cannot be read, and was skipped: `linchpin doctor`")
        }
    }
}
