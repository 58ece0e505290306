//! Decides whether a verdict is enforced. Every verdict is judged and recorded either way.
//!
//! Here: `observe` mode and pauses. Allowances for single calls are looked up in `judge/transaction.rs`, and failures
//! before the policy is loaded in `hook/watchdog.rs`. Files are read only if there is a verdict that stops something, or
//! when a session begins and the person gets a notice.

use std::path::Path;

use engine::{Event, EventKind, Level, NotEnforced, Verdict};
use policy::PolicyMode;

use crate::Environment;
use crate::grants::Pause;

pub struct EnforcementMode<'a> {
    pub mode: PolicyMode,
    pub root: &'a Path,
    pub environment: &'a Environment,
}

impl EnforcementMode<'_> {
    /// The reason why this verdict is not enforced, if any. Does not consider allowances for single calls.
    pub fn why_not_enforced(&self, verdict: &Verdict, now: i64) -> Option<NotEnforced> {
        let protects_guard = |finding: &engine::Finding| finding.protects_guard && finding.level > Level::Warn;
        let why = verdict.asks_or_blocks().then(|| self.why_nothing_is_enforced(now)).flatten();
        why.filter(|reason| *reason != NotEnforced::Paused || !verdict.findings.iter().any(protects_guard))
    }

    /// The reason why verdicts are not enforced, except those that protect the guard itself.
    pub fn why_nothing_is_enforced(&self, now: i64) -> Option<NotEnforced> {
        if self.mode == PolicyMode::Observe {
            return Some(NotEnforced::Observe);
        }
        Pause::of(self.root, self.environment, now).map(|_| NotEnforced::Paused)
    }

    /// The notice at the beginning of a session that all or some verdicts are not enforced.
    pub fn notice(&self, event: &Event, is_first: bool) -> Option<String> {
        if !is_first && event.kind != EventKind::SessionStart {
            return None;
        }
        if self.mode == PolicyMode::Observe {
            return Some(OBSERVE_NOTICE.to_owned());
        }
        Pause::of(self.root, self.environment, event.time).map(|pause| pause_notice(&pause, event.time))
    }
}

pub const OBSERVE_NOTICE: &str = "observe mode: events are judged and recorded, but nothing is blocked";

/// The notice that a pause is active.
pub fn pause_notice(pause: &Pause, now: i64) -> String {
    format!(
        "paused by a person for {}, only Linchpin's own files and settings are protected: {}",
        pause.time_left(now),
        pause.reason
    )
}
