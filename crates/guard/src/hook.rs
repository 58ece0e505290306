//! What an agent calls: one payload in, one answer out, always and in time.
//!
//! Judging runs on a thread of its own. Whatever becomes of it (an answer, a panic, nothing within the deadline), this
//! one answers: an agent runs the call when its hook crashes or does not come back.

use std::any::Any;
use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use agents::{Agent, Answer};
use engine::{Event, EventKind, Verdict};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::judge::{FIRST_DEADLINE, Judge};
use crate::session_root;

/// Far more than the depth limits of the parsers leave to be used; only what is touched costs anything.
const STACK: usize = 64 * 1024 * 1024;

/// Judges the event that an agent's hook passes on `payload`. `received` is when, in milliseconds since 1970.
pub fn hook(agent: Agent, payload: impl Read + Send + 'static, received: i64, environment: Environment) -> Answer {
    let (event, verdict) = in_time(agent, received, move |progress| {
        let event = match read_event(agent, payload, received) {
            Ok(event) => progress.decoded(event),
            Err((partial, failure)) => {
                let event = progress.decoded(partial);
                let root = session_root::of_event(&event, start_folder(agent, &environment).as_deref(), &environment);
                // Where there is no policy, nobody asked for a guard.
                return if root.project.has_policy() { failure.verdict(&event) } else { Verdict::silent() };
            }
        };
        let root = session_root::of_event(&event, start_folder(agent, &environment).as_deref(), &environment);
        if !root.project.has_policy() {
            return Verdict::silent();
        }
        let judge = Judge::new(&root.project, &environment);
        progress.deadline(judge.config().deadline);
        judge.judge(&event, root.is_first).verdict
    });
    agents::encode(agent, &event, &verdict)
}

fn start_folder(agent: Agent, environment: &Environment) -> Option<String> {
    agents::environment::project_dir(agent, |name| environment.get(name))
}

fn read_event(agent: Agent, payload: impl Read, received: i64) -> Result<Event, (Event, Failure)> {
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that what is too large shows.
    let limit = u64::try_from(agents::PAYLOAD_LIMIT).unwrap_or(u64::MAX);
    if let Err(error) = payload.take(limit + 1).read_to_end(&mut bytes) {
        return Err((nameless(agent, received), Failure::Undecodable(error.to_string())));
    }
    match agents::decode(agent, &bytes, received) {
        Ok(event) if event.name.is_empty() => {
            Err((event, Failure::Undecodable("the payload does not name its event".to_owned())))
        }
        Ok(event) => Ok(event),
        Err(error) => Err((error.partial, Failure::Undecodable(error.why))),
    }
}

/// An event of which nothing is known.
fn nameless(agent: Agent, received: i64) -> Event {
    Event {
        kind: EventKind::Other,
        name: String::new(),
        agent: agent.name().to_owned(),
        session: String::new(),
        time: received,
        cwd: String::new(),
        tool: None,
        outcome: None,
        prompt: None,
        message: None,
        held_before: false,
        subagent: None,
        transcript: None,
        extra: serde_json::Map::new(),
    }
}

/// How the judging thread tells how far it has come.
struct Progress {
    event: Arc<OnceLock<Arc<Event>>>,
    deadline: Sender<Message>,
}

enum Message {
    Deadline(Duration),
    Done(Verdict),
    Panicked(String),
}

impl Progress {
    fn decoded(&self, event: Event) -> Arc<Event> {
        Arc::clone(self.event.get_or_init(|| Arc::new(event)))
    }

    fn deadline(&self, deadline: Duration) {
        let _ = self.deadline.send(Message::Deadline(deadline));
    }
}

/// Runs the work on a thread of its own and answers by the deadline, whatever becomes of it.
fn in_time(
    agent: Agent,
    received: i64,
    work: impl FnOnce(&Progress) -> Verdict + Send + 'static,
) -> (Arc<Event>, Verdict) {
    let started = Instant::now();
    let event = Arc::new(OnceLock::new());
    let (sender, receiver) = mpsc::channel();
    let progress = Progress { event: Arc::clone(&event), deadline: sender.clone() };
    let judging = thread::Builder::new().stack_size(STACK).spawn(move || {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&progress)));
        let _ = sender.send(match outcome {
            Ok(verdict) => Message::Done(verdict),
            Err(panic) => Message::Panicked(panic_text(panic.as_ref())),
        });
    });
    let known =
        |event: &OnceLock<Arc<Event>>| event.get().cloned().unwrap_or_else(|| Arc::new(nameless(agent, received)));
    let fail = |failure: &Failure| {
        let event = known(&event);
        let verdict = failure.verdict(&event);
        (event, verdict)
    };
    if let Err(error) = judging {
        return fail(&Failure::Panicked(format!("no thread for judging: {error}")));
    }
    let mut deadline = FIRST_DEADLINE;
    loop {
        match receiver.recv_timeout(deadline.saturating_sub(started.elapsed())) {
            Ok(Message::Deadline(configured)) => deadline = configured,
            Ok(Message::Done(verdict)) => return (known(&event), verdict),
            Ok(Message::Panicked(why)) => return fail(&Failure::Panicked(why)),
            Err(RecvTimeoutError::Timeout) => return fail(&Failure::Deadline(deadline)),
            Err(RecvTimeoutError::Disconnected) => return fail(&Failure::Panicked("judging ended early".to_owned())),
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before_tool() -> Event {
        Event { kind: EventKind::BeforeTool, name: "PreToolUse".to_owned(), ..nameless(Agent::Claude, 0) }
    }

    #[test]
    fn a_panic_asks() {
        let (event, verdict) = in_time(Agent::Claude, 0, |progress| {
            progress.decoded(before_tool());
            panic!("out of luck")
        });
        assert_eq!(event.name, "PreToolUse");
        insta::assert_snapshot!(verdict.findings[0].reason, @"Judging failed by a fault in Linchpin: out of luck. Nobody can say whether this is allowed, so a person has to.");
    }

    #[test]
    fn a_judgement_that_does_not_come_back_asks_at_the_deadline() {
        let (event, verdict) = in_time(Agent::Claude, 0, |progress| {
            progress.decoded(before_tool());
            progress.deadline(Duration::from_millis(60));
            thread::sleep(Duration::from_secs(600));
            Verdict::silent()
        });
        assert_eq!(event.name, "PreToolUse");
        insta::assert_snapshot!(verdict.findings[0].reason, @"The rules were not judged within 60 ms. Nobody can say whether this is allowed, so a person has to.");
    }

    #[test]
    fn an_event_that_nobody_waits_on_goes_by_with_a_notice() {
        let (_, verdict) = in_time(Agent::Claude, 0, |progress| {
            progress.decoded(Event { kind: EventKind::Stop, name: "Stop".to_owned(), ..nameless(Agent::Claude, 0) });
            panic!("out of luck")
        });
        assert!(verdict.findings.is_empty());
        insta::assert_snapshot!(verdict.notices.join("\n"), @"judging failed by a fault in Linchpin: out of luck; this Stop went by unjudged");
    }
}
