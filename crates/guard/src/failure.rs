//! The failure policy: the verdict for an event that could not be judged. If only a part of the policy could not be
//! judged, such as one rule, the other parts apply, and `judge/decide.rs` and `judge/combine.rs` add what is missing.
//!
//! The worst outcome is that Linchpin is off and nobody notices. The second worst is that an error, for example in the
//! policy, stops an agent from working. So if a call could not be judged, a person is asked; if the agent cannot ask,
//! the call is refused. An event without a name is refused too. Any other event is allowed, with a notice for the
//! person.

use std::time::Duration;

use engine::verdict::GUARD_RULE;
use engine::{Event, Finding, Level, Verdict};

/// The reason why an event could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The payload cannot be used. The text is the reason.
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
    FileSizeLimit,
    #[error("the compiled policy cannot be read")]
    UnreadablePolicy,
    #[error("this is part of a run of the loop, and the rules of its hat cannot be read")]
    UnreadableHat,
}

impl Failure {
    /// The finding about this failure. It asks a person.
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
        // An event without a name could be any event, even a call, and it is unknown whether the agent can ask a person
        // about it.
        if event.name.is_empty() {
            let reason = format!(
                "{}. Linchpin can't tell which event this is, so the event is refused. Tell the person: `linchpin doctor` \
                 checks the hooks.",
                capitalised(self)
            );
            return Verdict::of(vec![Finding { level: Level::Block, reason, ..self.finding() }]);
        }
        if event.kind.awaits_permission() {
            return Verdict::of(vec![self.finding()]);
        }
        Verdict { notices: vec![format!("{}; this {} was not judged", self, event.name)], ..Verdict::empty() }
    }
}

/// The failure's text with a capital first letter.
fn capitalised(failure: &Failure) -> String {
    let text = failure.to_string();
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
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
            Failure::FileSizeLimit,
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
