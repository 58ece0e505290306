//! Whether a verdict is enforced. It is judged and recorded either way.
//!
//! Three things lift one: the configuration observes only, a person paused the guard, or a person let this very call
//! through. Files are looked at only when there is something to lift, or a session begins and has to be told.

use std::path::Path;

use engine::{Event, EventKind, Level, NotEnforced, Verdict};
use policy::Mode;

use crate::Environment;
use crate::grants::Pause;

pub struct EnforcementMode<'a> {
    pub mode: Mode,
    pub root: &'a Path,
    pub environment: &'a Environment,
}

impl EnforcementMode<'_> {
    /// Why this verdict is not enforced, whatever the call.
    pub fn of(&self, verdict: &Verdict, now: i64) -> Option<NotEnforced> {
        let protects_guard = |finding: &engine::Finding| finding.protects_guard && finding.level > Level::Warn;
        let lifted = verdict.asks_or_blocks().then(|| self.of_everything(now)).flatten();
        lifted.filter(|lifted| *lifted != NotEnforced::Paused || !verdict.findings.iter().any(protects_guard))
    }

    /// Why nothing is enforced but what protects the guard itself.
    pub fn of_everything(&self, now: i64) -> Option<NotEnforced> {
        if self.mode == Mode::Observe {
            return Some(NotEnforced::Observe);
        }
        Pause::of(self.root, self.environment, now).map(|_| NotEnforced::Paused)
    }

    /// What the person is told when a session begins: that nothing, or not everything, is enforced.
    pub fn notice(&self, event: &Event, is_first: bool) -> Option<String> {
        if !is_first && event.kind != EventKind::SessionStart {
            return None;
        }
        if self.mode == Mode::Observe {
            return Some(OBSERVING.to_owned());
        }
        Pause::of(self.root, self.environment, event.time).map(|pause| paused(&pause, event.time))
    }
}

pub const OBSERVING: &str = "observe mode: everything is judged and recorded, nothing is stopped";

/// What is said of a pause while it lasts.
pub fn paused(pause: &Pause, now: i64) -> String {
    format!("paused by a person for {}, only the guard itself is protected: {}", pause.left(now), pause.reason)
}
