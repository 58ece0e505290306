//! The deadline of a hook.
//!
//! If a hook crashes or hangs, agents run the call. So a watchdog thread answers if judging is not finished in time. A
//! panic is answered too.
//!
//! The event is judged on the main thread. A second thread that allocates memory gets its own heap, which costs a
//! twentieth of a hook's time, so only the watchdog runs on a second thread.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agents::{Agent, Answer};
use engine::{Event, NotEnforced, Verdict};
use policy::{Config, PolicyMode};

use crate::failure::Failure;

/// The state of judging, shared with the watchdog.
#[derive(Default)]
pub(crate) struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    event: Option<Arc<Event>>,
    settings: AnswerSettings,
    /// True once one of the two threads has started to answer.
    is_answered: bool,
}

/// The settings that affect the answer. Defaults apply until the configuration is read.
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

    /// Marks the verdict as not enforced in `observe` mode, which applies to failures too.
    pub(crate) fn mark_not_enforced(self, verdict: Verdict) -> Verdict {
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

impl Progress {
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

    /// Extends the deadline, for a step that may take longer than judging.
    pub(crate) fn extend_deadline(&self, more: Duration) {
        self.state().settings.deadline += more;
        self.changed.notify_one();
    }

    /// The event, if it is decoded, and the settings for the answer.
    pub(crate) fn event_and_settings(&self) -> (Option<Arc<Event>>, AnswerSettings) {
        let state = self.state();
        (state.event.clone(), state.settings)
    }

    /// Returns true only for the first caller, which then answers.
    fn claim_answer(&self) -> bool {
        !std::mem::replace(&mut self.state().is_answered, true)
    }

    /// Waits until the deadline, which may be extended meanwhile, and returns the deadline.
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

/// Runs `work` and gives one answer by the deadline, even if `work` panics or hangs.
pub(crate) fn with_deadline(
    agent: Agent,
    received: i64,
    send: impl Fn(&Answer) + Send + Sync + 'static,
    work: impl FnOnce(&Progress) -> Verdict,
) {
    let started = Instant::now();
    let progress = Arc::new(Progress::default());
    let answer = move |progress: &Progress, outcome: Result<Verdict, Failure>| {
        if !progress.claim_answer() {
            // The other thread is answering and will end the process.
            thread::sleep(ANSWER_TIME);
            return;
        }
        let (event, settings) = progress.event_and_settings();
        let event = event.unwrap_or_else(|| Arc::new(Event::unknown(agent.name(), received)));
        let verdict = outcome.unwrap_or_else(|failure| settings.mark_not_enforced(failure.verdict(&event)));
        send(&agents::encode(agent, &event, &verdict, settings.output_limit));
    };
    let answer = Arc::new(answer);
    let watchdog = {
        let (progress, answer) = (Arc::clone(&progress), Arc::clone(&answer));
        thread::Builder::new().stack_size(WATCHDOG_STACK).spawn(move || {
            let deadline = progress.wait_for_deadline(started);
            answer(&progress, Err(Failure::Deadline(deadline)));
        })
    };
    let outcome = match watchdog {
        Err(error) => Err(Failure::Panicked(format!("the deadline's thread cannot be started: {error}"))),
        Ok(_) => std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&progress)))
            .map_err(|panic| Failure::Panicked(panic_text(panic.as_ref()))),
    };
    answer(&progress, outcome);
}

/// Longer than it takes to write an answer.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// The stack size in bytes. It is small, because the watchdog only waits and writes one answer.
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

    /// The first answer. Waits long enough for the watchdog to give a second one, which it must not do.
    fn first_answer(work: impl FnOnce(&Progress) -> Verdict + Send + 'static) -> String {
        let (sender, receiver) = mpsc::channel();
        let send = move |answer: &Answer| drop(sender.send(answer.stdout.clone()));
        let work = |progress: &Progress| {
            let mut config = Config::default();
            config.deadline = Duration::from_millis(500);
            progress.set_config(&config);
            work(progress)
        };
        thread::spawn(move || with_deadline(Agent::Claude, 0, send, work));
        let first = receiver.recv().expect("an answer");
        assert_eq!(receiver.recv_timeout(Duration::from_millis(700)), Err(mpsc::RecvTimeoutError::Timeout));
        first
    }

    #[test]
    fn a_panic_asks() {
        let answer = first_answer(|progress| {
            progress.set_event(event(EventKind::BeforeTool, "PreToolUse"));
            // `resume_unwind` skips the panic message, which takes long to print.
            std::panic::resume_unwind(Box::new("out of luck"))
        });
        insta::assert_snapshot!(answer, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: Linchpin failed while judging (a bug): out of luck. Linchpin can't tell whether this is allowed, so a person must decide."}}"#);
    }

    #[test]
    fn a_judgement_that_hangs_asks_at_the_deadline() {
        let answer = first_answer(|progress| {
            progress.set_event(event(EventKind::BeforeTool, "PreToolUse"));
            thread::sleep(Duration::from_mins(10));
            Verdict::empty()
        });
        insta::assert_snapshot!(answer, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: The rules were not judged within 500 ms. Linchpin can't tell whether this is allowed, so a person must decide."}}"#);
    }

    #[test]
    fn an_event_that_awaits_no_permission_passes_with_a_notice() {
        let answer = first_answer(|progress| {
            progress.set_event(event(EventKind::Stop, "Stop"));
            std::panic::resume_unwind(Box::new("out of luck"))
        });
        insta::assert_snapshot!(answer, @r#"{"systemMessage":"Linchpin: Linchpin failed while judging (a bug): out of luck; this Stop was not judged"}"#);
    }
}
