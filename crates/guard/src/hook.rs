//! What an agent calls: one payload in, one answer out, always and in time.
//!
//! An agent runs the call when its hook crashes or does not come back. So whatever becomes of judging (an answer, a
//! panic, nothing within the deadline), an answer is given: a watchdog on a thread of its own gives it where judging
//! does not. (Judging has the main thread, not the other way round: a second thread that allocates costs a heap of its
//! own, a twentieth of a hook.)

use std::any::Any;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agents::{Agent, Answer};
use engine::observers::COLLABORATION_MODE;
use engine::{Event, EventKind, Lifted, Verdict};
use policy::{Config, Mode};
use serde_json::Value;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::file_limit;
use crate::judge::Judge;
use crate::session_policy;
use crate::session_root;

/// Judges the event that an agent's hook passes on `payload`, and gives the answer to `tell`, once. `received` is when
/// the event arrived, in milliseconds since 1970; `named` is the event as the hook's command line names it. Where judging does not end in time, `tell` is called from another
/// thread while this function is still at it: it must then end the process.
pub fn hook(
    agent: Agent,
    named: Option<&str>,
    payload: impl Read,
    received: i64,
    environment: &Environment,
    tell: impl Fn(&Answer) + Send + Sync + 'static,
) {
    in_time(agent, received, tell, |progress| {
        judge(read_event(agent, named, payload, received), agent, environment, progress)
    });
}

fn judge(
    read: Result<Event, Box<(Event, Failure)>>,
    agent: Agent,
    environment: &Environment,
    progress: &Progress,
) -> Verdict {
    let start = agents::environment::project_dir(agent, |name| environment.get(name));
    let (event, failure) = match read {
        Ok(event) => (event, None),
        Err(unread) => (unread.0, Some(unread.1)),
    };
    let event = progress.decoded(event);
    let start = start.as_deref().or(event.session_folder.as_deref());
    let root = session_root::of_event(&event, start, environment);
    // Where there is no policy, nobody asked for a guard.
    if !root.project.has_policy() {
        return Verdict::silent();
    }
    if file_limit::is_too_low() {
        progress.configured(&session_policy::config_looked_at(&root.project, &event, environment));
        let (_, terms) = progress.known();
        return terms.lift(failure.unwrap_or(Failure::FileLimit).verdict(&event));
    }
    let judge = Judge::new(&root.project, &event, environment);
    progress.configured(judge.config());
    if let Some(failure) = failure {
        return judge.record_unjudged(&event, failure.verdict(&event));
    }
    let event = with_transcript(agent, event);
    judge.judge(&event, root.is_first, &|more| progress.needs(more)).verdict
}

fn read_event(
    agent: Agent,
    named: Option<&str>,
    payload: impl Read,
    received: i64,
) -> Result<Event, Box<(Event, Failure)>> {
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that what is too large shows.
    let limit = u64::try_from(agents::PAYLOAD_LIMIT).unwrap_or(u64::MAX);
    if let Err(error) = payload.take(limit + 1).read_to_end(&mut bytes) {
        return Err(Box::new((Event::unnamed(agent.name(), received), Failure::Undecodable(error.to_string()))));
    }
    match agents::decode(agent, named, &bytes, received) {
        Ok(event) if event.name.is_empty() => {
            Err(Box::new((event, Failure::Undecodable("the payload does not name its event".to_owned()))))
        }
        Ok(event) => Ok(event),
        Err(error) => Err(Box::new((error.partial, Failure::Undecodable(error.why)))),
    }
}

/// Adds what only the transcript tells: how a shell call went, what the agent last said, and the mode of a turn that
/// begins. Never before a tool call: that is where an agent waits most often, and nothing of this is new there.
fn with_transcript(agent: Agent, mut event: Arc<Event>) -> Arc<Event> {
    let Some(path) = event.transcript.as_deref().map(Path::new) else { return event };
    let call = event.tool.as_ref().filter(|call| call.shell.is_some()).and_then(|call| call.id.as_deref());
    if let (EventKind::AfterTool, None, Some(call)) = (event.kind, event.outcome, call) {
        let outcome = agents::transcript::outcome(agent, path, call).ok().flatten();
        if outcome.is_some() {
            Arc::make_mut(&mut event).outcome = outcome;
        }
    } else if event.kind.is_stop() && event.message.is_none() {
        agents::transcript::catch_up(agent, path, &event);
        let message = agents::transcript::last_message(agent, path).ok().flatten();
        if message.is_some() {
            Arc::make_mut(&mut event).message = message;
        }
    } else if let (EventKind::Prompt, Some(turn)) = (event.kind, event.extra.get("turn_id").and_then(Value::as_str)) {
        // Only Codex names its turns, and only its transcript says which of them are for planning.
        let mode = agents::transcript::mode(agent, path, turn).ok().flatten();
        if let Some(mode) = mode {
            Arc::make_mut(&mut event).extra.entry(COLLABORATION_MODE).or_insert(Value::String(mode));
        }
    }
    event
}

/// How far judging has come, for the watchdog.
#[derive(Default)]
struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    event: Option<Arc<Event>>,
    terms: Terms,
    /// Somebody has answered, or is at it.
    is_answered: bool,
}

/// What the configuration says about answering; until it is read, what it says mostly.
#[derive(Clone, Copy)]
struct Terms {
    deadline: Duration,
    output_limit: usize,
    mode: Mode,
}

impl Terms {
    fn of(config: &Config) -> Self {
        Self { deadline: config.deadline, output_limit: config.output_limit, mode: config.mode }
    }

    /// Who only observes stops nothing, even where judging fails.
    fn lift(self, verdict: Verdict) -> Verdict {
        let lifted = (self.mode == Mode::Observe && verdict.stops()).then_some(Lifted::Observe);
        Verdict { lifted, ..verdict }
    }
}

/// How long reading the configuration may take. Longer than judging usually may, so that on a very busy machine what the
/// configuration says still counts, and far shorter than any agent waits.
const FIRST_DEADLINE: Duration = Duration::from_secs(10);

impl Default for Terms {
    fn default() -> Self {
        Self { deadline: FIRST_DEADLINE, ..Self::of(&Config::default()) }
    }
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decoded(&self, event: Event) -> Arc<Event> {
        Arc::clone(self.state().event.insert(Arc::new(event)))
    }

    fn configured(&self, config: &Config) {
        self.state().terms = Terms::of(config);
        self.changed.notify_one();
    }

    /// Something has to be waited for that takes longer than judging may.
    fn needs(&self, more: Duration) {
        self.state().terms.deadline += more;
        self.changed.notify_one();
    }

    /// The event, if it was read by now, and how to answer it.
    fn known(&self) -> (Option<Arc<Event>>, Terms) {
        let state = self.state();
        (state.event.clone(), state.terms)
    }

    /// True for the first who asks: the one who answers.
    fn take_turn(&self) -> bool {
        !std::mem::replace(&mut self.state().is_answered, true)
    }

    /// Waits until the deadline, which may still move, and says what it was.
    fn wait_for_deadline(&self, started: Instant) -> Duration {
        let mut state = self.state();
        loop {
            let deadline = state.terms.deadline;
            let left = deadline.saturating_sub(started.elapsed());
            if left.is_zero() {
                return deadline;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Runs the work and gives one answer by the deadline, whatever becomes of it.
fn in_time(
    agent: Agent,
    received: i64,
    tell: impl Fn(&Answer) + Send + Sync + 'static,
    work: impl FnOnce(&Progress) -> Verdict,
) {
    let started = Instant::now();
    let progress = Arc::new(Progress::default());
    let answer = move |progress: &Progress, outcome: Result<Verdict, Failure>| {
        if !progress.take_turn() {
            // The other one is answering, and will end the process.
            thread::sleep(TIME_TO_ANSWER);
            return;
        }
        let (event, terms) = progress.known();
        let event = event.unwrap_or_else(|| Arc::new(Event::unnamed(agent.name(), received)));
        let verdict = outcome.unwrap_or_else(|failure| terms.lift(failure.verdict(&event)));
        tell(&agents::encode(agent, &event, &verdict, terms.output_limit));
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
        Err(error) => Err(Failure::Panicked(format!("no thread for the deadline: {error}"))),
        Ok(_) => std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&progress)))
            .map_err(|panic| Failure::Panicked(panic_text(panic.as_ref()))),
    };
    answer(&progress, outcome);
}

/// More than it takes to write an answer.
const TIME_TO_ANSWER: Duration = Duration::from_secs(2);

/// It only waits, and says one thing.
const WATCHDOG_STACK: usize = 256 * 1024;

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn event(kind: EventKind, name: &str) -> Event {
        Event { kind, name: name.to_owned(), ..Event::unnamed("claude", 0) }
    }

    /// The one answer that is given: the watchdog would have one too, soon after.
    fn told(work: impl FnOnce(&Progress) -> Verdict + Send + 'static) -> String {
        let (sender, receiver) = mpsc::channel();
        let tell = move |answer: &Answer| drop(sender.send(answer.stdout.clone()));
        let work = |progress: &Progress| {
            let mut config = Config::default();
            config.deadline = Duration::from_millis(500);
            progress.configured(&config);
            work(progress)
        };
        thread::spawn(move || in_time(Agent::Claude, 0, tell, work));
        let first = receiver.recv().expect("an answer");
        assert_eq!(receiver.recv_timeout(Duration::from_millis(700)), Err(mpsc::RecvTimeoutError::Timeout));
        first
    }

    #[test]
    fn a_panic_asks() {
        let answer = told(|progress| {
            progress.decoded(event(EventKind::BeforeTool, "PreToolUse"));
            // Without the report that a panic prints, which takes its time.
            std::panic::resume_unwind(Box::new("out of luck"))
        });
        insta::assert_snapshot!(answer, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: Judging failed by a fault in Linchpin: out of luck. Nobody can say whether this is allowed, so a person has to."}}"#);
    }

    #[test]
    fn a_judgement_that_does_not_come_back_asks_at_the_deadline() {
        let answer = told(|progress| {
            progress.decoded(event(EventKind::BeforeTool, "PreToolUse"));
            thread::sleep(Duration::from_mins(10));
            Verdict::silent()
        });
        insta::assert_snapshot!(answer, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Approval required by Linchpin: The rules were not judged within 500 ms. Nobody can say whether this is allowed, so a person has to."}}"#);
    }

    #[test]
    fn an_event_that_nobody_waits_on_goes_by_with_a_notice() {
        let answer = told(|progress| {
            progress.decoded(event(EventKind::Stop, "Stop"));
            std::panic::resume_unwind(Box::new("out of luck"))
        });
        insta::assert_snapshot!(answer, @r#"{"systemMessage":"Linchpin: judging failed by a fault in Linchpin: out of luck; this Stop went by unjudged"}"#);
    }
}
