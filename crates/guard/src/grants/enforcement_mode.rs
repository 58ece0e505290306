//! Decides whether a verdict is enforced, by the mode of the policy and by pauses. A verdict that is not enforced is
//! recorded too.
//!
//! Two cases are decided elsewhere: `judge/transaction.rs` looks up allowances for single calls, and `hook/watchdog.rs`
//! decides for events whose judgement failed because of the deadline, a panic or the file size limit. To save time,
//! hooks read the file of a pause only if a verdict asks or blocks, before commands of file rules are run, and when a
//! session begins.

use std::path::Path;

use engine::{Event, EventKind, Level, NotEnforced, Verdict};
use policy::PolicyMode;

use crate::Environment;
use crate::grants::Pause;

/// How verdicts in a project are applied.
pub struct EnforcementMode<'a> {
    pub mode: PolicyMode,
    /// False if the configuration has `enabled: false`.
    pub is_enabled: bool,
    pub root: &'a Path,
    pub environment: &'a Environment,
}

impl EnforcementMode<'_> {
    /// The reason why this verdict is not enforced; `None` if it is enforced. Allowances for single calls are not
    /// considered.
    pub fn why_not_enforced(&self, verdict: &Verdict, now: i64) -> Option<NotEnforced> {
        let protects_guard = |finding: &engine::Finding| finding.protects_guard && finding.level > Level::Warn;
        let why = verdict.asks_or_blocks().then(|| self.why_nothing_is_enforced(now)).flatten();
        why.filter(|reason| *reason != NotEnforced::Paused || !verdict.findings.iter().any(protects_guard))
    }

    /// The reason why verdicts are not enforced now; `None` if they are enforced. If the reason is a pause, verdicts
    /// that protect Linchpin itself are enforced all the same.
    pub fn why_nothing_is_enforced(&self, now: i64) -> Option<NotEnforced> {
        if self.mode == PolicyMode::Observe {
            return Some(NotEnforced::Observe);
        }
        Pause::of(self.root, self.environment, now).map(|_| NotEnforced::Paused)
    }

    /// If a session begins with this event, and verdicts are not enforced or the rules are switched off: the notice that
    /// says so.
    pub fn notice(&self, event: &Event, is_first_event: bool) -> Option<String> {
        if !is_first_event && event.kind != EventKind::SessionStart {
            return None;
        }
        if self.mode == PolicyMode::Observe {
            return Some(OBSERVE_NOTICE.to_owned());
        }
        if !self.is_enabled {
            return Some(SWITCHED_OFF_NOTICE.to_owned());
        }
        Pause::of(self.root, self.environment, event.time).map(|pause| pause_notice(&pause, event.time))
    }
}

/// The notice that the mode is `observe`.
pub const OBSERVE_NOTICE: &str = "observe mode: events are judged and recorded, but nothing is blocked";

/// The notice that the configuration has `enabled: false`.
pub const SWITCHED_OFF_NOTICE: &str =
    "switched off: with `enabled: false`, only the rules that protect Linchpin itself are in force";

/// The notice that a pause is active.
pub fn pause_notice(pause: &Pause, now: i64) -> String {
    format!(
        "paused by a person for {} ({}): only Linchpin's own files and settings are protected",
        pause.time_left(now),
        pause.reason
    )
}
