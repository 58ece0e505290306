//! The failure policy: the verdict for an event that could not be judged. No other module decides this.
//!
//! The worst outcome is a guard that is silently off; the next worst is an agent locked out by a mistake. So a call
//! that could not be judged asks a person, and adapters of agents that cannot ask refuse it. Any other event passes,
//! with a notice for the person.

use std::time::Duration;

use engine::facts::FactStore;
use engine::verdict::GUARD_RULE;
use engine::{Event, Finding, Level, Verdict};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The payload cannot be used, for this reason.
    #[error("{0}")]
    Undecodable(String),
    #[error("the rules were not judged within {} ms", .0.as_millis())]
    Deadline(Duration),
    #[error("Linchpin failed while judging (a bug): {0}")]
    Panicked(String),
    #[error("this shell call contains no command")]
    MissingCommand,
    #[error("this call names no tool, or no file")]
    MissingTool,
    #[error("the file size limit (`ulimit -f`) does not let Linchpin write a file")]
    FileLimit,
    #[error("the compiled policy cannot be read")]
    UnreadablePolicy,
    #[error("this is part of a run of the loop, and the rules of its hat cannot be read")]
    UnreadableHat,
}

impl Failure {
    pub fn finding(&self) -> Finding {
        let reason =
            format!("{}. Linchpin can't tell whether this is allowed, so a person must decide.", capitalised(self));
        Finding {
            rule: GUARD_RULE.to_owned(),
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
        // An event without a name could be any event, so it is treated as the most dangerous one. It is also unknown
        // whether the agent can ask a person about it.
        if event.name.is_empty() {
            let reason = format!("{}. Linchpin can't tell which event this is, so it is refused.", capitalised(self));
            return Verdict::of(vec![Finding { level: Level::Block, reason, ..self.finding() }]);
        }
        if event.kind.awaits_permission() {
            return Verdict::of(vec![self.finding()]);
        }
        Verdict { notices: vec![format!("{}; this {} was not judged", self, event.name)], ..Verdict::empty() }
    }
}

fn capitalised(failure: &Failure) -> String {
    let text = failure.to_string();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A notice that the journal cannot be used. Rules that need no stored state are still judged.
pub fn journal_notice(error: &store::StoreError) -> String {
    format!("{error}; rules that need it are skipped, and this is not recorded")
}

/// A notice of a policy file that cannot be used.
pub fn broken_file_notice(file: &policy::BrokenFile) -> String {
    format!("broken policy file, {}: {}", file.consequence(), file.problem)
}

/// A notice that the active workflow's file is broken or missing.
pub fn broken_workflow_notice(name: &str, has_last_good: bool) -> String {
    let consequence = if has_last_good { "its last valid version is used" } else { "its rules are ignored" };
    format!(
        "workflow `{name}` is active, but its file cannot be used, so {consequence}; run `linchpin validate` to see why"
    )
}

/// A notice about a rule that was skipped, because it needs stored state that cannot be read or written.
pub fn skipped_rule_notice(rule: &str, unreadable: FactStore) -> String {
    match unreadable {
        FactStore::Session | FactStore::Journal => {
            format!("rule `{rule}` needs the journal and was skipped; run `linchpin doctor` to see why")
        }
        FactStore::Work => {
            format!(
                "rule `{rule}` needs the project's tasks, which cannot be read, and was skipped; run `linchpin doctor` to see why"
            )
        }
        FactStore::Queue => {
            format!(
                "rule `{rule}` was skipped, because its demand cannot be written to the queue; run `linchpin doctor` to see why"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::event;

    fn failures() -> [Failure; 8] {
        [
            Failure::Undecodable("no session".to_owned()),
            Failure::Deadline(Duration::from_secs(2)),
            Failure::Panicked("oops".to_owned()),
            Failure::MissingCommand,
            Failure::MissingTool,
            Failure::FileLimit,
            Failure::UnreadablePolicy,
            Failure::UnreadableHat,
        ]
    }

    #[test]
    fn a_call_that_was_not_judged_asks_a_person() {
        for kind in engine::EventKind::ALL.into_iter().filter(|kind| kind.awaits_permission()) {
            for failure in failures() {
                let verdict = failure.verdict(&event(kind));
                assert_eq!((verdict.level, verdict.approved), (Level::Ask, false), "{failure:?}");
                assert_eq!(verdict.findings, [failure.finding()]);
            }
        }
    }

    #[test]
    fn an_event_that_awaits_no_permission_passes_with_a_notice() {
        for kind in engine::EventKind::ALL.into_iter().filter(|kind| !kind.awaits_permission()) {
            let verdict = Failure::Deadline(Duration::from_secs(2)).verdict(&event(kind));
            assert!(!verdict.asks_or_blocks() && verdict.findings.is_empty(), "{kind:?}");
            let expected = format!("the rules were not judged within 2000 ms; this {} was not judged", kind.name());
            assert_eq!(verdict.notices, [expected]);
        }
    }

    #[test]
    fn an_event_without_a_name_is_refused_whatever_its_kind() {
        for kind in engine::EventKind::ALL {
            let nameless = Event { name: String::new(), ..event(kind) };
            assert_eq!(Failure::MissingTool.verdict(&nameless).level, Level::Block, "{kind:?}");
        }
    }

    #[test]
    fn a_failure_is_enforced_during_a_pause() {
        for failure in failures() {
            assert!(failure.finding().protects_guard, "{failure:?}");
        }
        let nameless = Event { name: String::new(), ..event(engine::EventKind::Stop) };
        assert!(Failure::MissingTool.verdict(&nameless).findings.iter().all(|finding| finding.protects_guard));
    }

    #[test]
    fn the_reason_of_a_failure_is_a_full_sentence() {
        let reason = Failure::MissingCommand.finding().reason;
        assert!(reason.starts_with("This shell call contains no command. "), "{reason}");
        let reason = Failure::Undecodable(String::new()).finding().reason;
        assert!(!reason.is_empty());
    }
}
