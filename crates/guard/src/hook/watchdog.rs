//! The deadline of a hook.
//!
//! If a hook crashes or hangs, agents run the call that the hook was to judge. So if the event is not judged by the
//! deadline, a watchdog thread answers. If the judgement panics, the judging thread answers.
//!
//! The event is judged on the main thread, and the watchdog runs on a second thread, not the other way round: a second
//! thread that allocates memory gets a heap of its own, which costs a twentieth of a hook's time, and the watchdog
//! allocates no memory while it waits.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agents::{Agent, Answer};
use engine::{Event, NotEnforced, Verdict};
use policy::{Config, PolicyMode};

use crate::failure::Failure;

/// The state of the answer, shared by the thread that judges and the watchdog.
#[derive(Default)]
pub(crate) struct PendingAnswer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    event: Option<Arc<Event>>,
    settings: AnswerSettings,
    /// True once the judging thread or the watchdog has begun to answer.
    is_answered: bool,
}

/// The settings that affect the answer. Until the configuration is read, they have default values.
#[derive(Clone, Copy)]
pub(crate) struct AnswerSettings {
    deadline: Duration,
    output_limit: usize,
    mode: PolicyMode,
}

impl AnswerSettings {
    pub(crate) fn of(config: &Config) -> Self {
        Self { deadline: config.deadline, output_limit: config.output_limit, mode: config.mode }
    }

    /// Returns the verdict, which is about a failure. In the mode `observe`, a verdict that asks or blocks is marked as
    /// not enforced.
    pub(crate) fn apply_observe_mode(self, verdict: Verdict) -> Verdict {
        let not_enforced =
            (self.mode == PolicyMode::Observe && verdict.asks_or_blocks()).then_some(NotEnforced::Observe);
        Verdict { not_enforced, ..verdict }
    }
}

/// The deadline that applies until the configuration is read. It is longer than the usual deadline, so that even a very
/// busy machine can read the configuration, and far shorter than any agent's own timeout.
const INITIAL_DEADLINE: Duration = Duration::from_secs(10);

impl Default for AnswerSettings {
    fn default() -> Self {
        Self { deadline: INITIAL_DEADLINE, ..Self::of(&Config::default()) }
    }
}

impl PendingAnswer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_event(&self, event: Event) -> Arc<Event> {
        Arc::clone(self.state().event.insert(Arc::new(event)))
    }

    pub(crate) fn set_config(&self, config: &Config) {
        self.state().settings = AnswerSettings::of(config);
        self.changed.notify_one();
    }

    /// Extends the deadline before a step that may take long.
    pub(crate) fn extend_deadline(&self, more: Duration) {
        self.state().settings.deadline += more;
        self.changed.notify_one();
    }

    /// The event (`None` if the payload is not decoded yet), and the settings for the answer.
    pub(crate) fn event_and_settings(&self) -> (Option<Arc<Event>>, AnswerSettings) {
        let state = self.state();
        (state.event.clone(), state.settings)
    }

    /// Returns true for the first caller only. This caller must give the answer.
    fn claim_answer(&self) -> bool {
        !std::mem::replace(&mut self.state().is_answered, true)
    }

    /// Waits until the deadline, which may be extended during the wait, and returns the deadline.
    fn wait_for_deadline(&self, started: Instant) -> Duration {
        let mut state = self.state();
        loop {
            let deadline = state.settings.deadline;
            let left = deadline.saturating_sub(started.elapsed());
            if left.is_zero() {
                return deadline;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Calls `judge` and gives exactly one answer, at the deadline at the latest, even if `judge` panics or hangs.
pub(crate) fn with_deadline(
    agent: Agent,
    received: i64,
    send: impl Fn(&Answer) + Send + Sync + 'static,
    judge: impl FnOnce(&PendingAnswer) -> Verdict,
) {
    let started = Instant::now();
    let pending = Arc::new(PendingAnswer::default());
    let answer = move |pending: &PendingAnswer, outcome: Result<Verdict, Failure>| {
        if !pending.claim_answer() {
            // The other thread (the judging thread or the watchdog) is answering and will end the process.
            thread::sleep(ANSWER_TIME);
            return;
        }
        let (event, settings) = pending.event_and_settings();
        let event = event.unwrap_or_else(|| Arc::new(Event::unknown(agent.name(), received)));
        let verdict = outcome.unwrap_or_else(|failure| settings.apply_observe_mode(failure.verdict(&event)));
        send(&agents::encode(agent, &event, &verdict, settings.output_limit));
    };
    let answer = Arc::new(answer);
    let watchdog = {
        let (pending, answer) = (Arc::clone(&pending), Arc::clone(&answer));
        thread::Builder::new().stack_size(WATCHDOG_STACK).spawn(move || {
            let deadline = pending.wait_for_deadline(started);
            answer(&pending, Err(Failure::Deadline(deadline)));
        })
    };
    let outcome = match watchdog {
        Err(error) => Err(Failure::Panicked(format!("the deadline's thread cannot be started: {error}"))),
        Ok(_) => std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| judge(&pending)))
            .map_err(|panic| Failure::Panicked(panic_text(panic.as_ref()))),
    };
    answer(&pending, outcome);
}

/// How long the judging thread or the watchdog waits if the other one has begun to answer. By the end of this time, the
/// other thread has certainly ended the process.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// The stack size of the watchdog's thread in bytes. It is small, because the watchdog only waits and writes one
/// answer.
const WATCHDOG_STACK: usize = 256 * 1024;

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use engine::EventKind;

    use super::*;

    fn event(kind: EventKind, name: &str) -> Event {
        Event { kind, name: name.to_owned(), ..Event::unknown("claude", 0) }
    }

    /// The first answer. Also checks that no second answer follows, even after the watchdog's deadline.
    fn first_answer(work: impl FnOnce(&PendingAnswer) -> Verdict + Send + 'static) -> String {
        let (sender, receiver) = mpsc::channel();
        let send = move |answer: &Answer| drop(sender.send(answer.stdout.clone()));
        let work = |pending: &PendingAnswer| {
            let mut config = Config::default();
            config.deadline = Duration::from_millis(500);
            pending.set_config(&config);
            work(pending)
        };
        thread::spawn(move || with_deadline(Agent::Claude, 0, send, work));
        let first = receiver.recv().expect("an answer");
        assert_eq!(receiver.recv_timeout(Duration::from_millis(700)), Err(mpsc::RecvTimeoutError::Timeout));
        first
    }

    #[test]
    fn a_panic_asks() {
        let answer = first_answer(|pending| {
            pending.set_event(event(EventKind::BeforeTool, "PreToolUse"));
            // `resume_unwind` skips the panic message, which takes long to print.
            std::panic::resume_unwind(Box::new("out of luck"))
        });
        insta::assert_snapshot!(answer, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: Linchpin failed while judging (a bug): out of luck. Linchpin can't tell whether this is allowed, so a person must decide."}}"#);
    }

    #[test]
    fn a_judgement_that_hangs_asks_at_the_deadline() {
        let answer = first_answer(|pending| {
            pending.set_event(event(EventKind::BeforeTool, "PreToolUse"));
            thread::sleep(Duration::from_mins(10));
            Verdict::empty()
        });
        insta::assert_snapshot!(answer, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: The rules were not judged within 500 ms. Linchpin can't tell whether this is allowed, so a person must decide."}}"#);
    }

    #[test]
    fn an_event_that_awaits_no_permission_passes_with_a_notice() {
        let answer = first_answer(|pending| {
            pending.set_event(event(EventKind::Stop, "Stop"));
            std::panic::resume_unwind(Box::new("out of luck"))
        });
        insta::assert_snapshot!(answer, @r#"{"systemMessage":"Linchpin: Linchpin failed while judging (a bug): out of luck; this Stop was not judged"}"#);
    }
}
