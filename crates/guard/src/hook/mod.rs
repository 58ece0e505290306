//! The entry point of agents' hooks: reads one payload and gives exactly one answer. The watchdog ensures that the
//! answer is given at the deadline at the latest.

mod watchdog;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, Answer};
use engine::observers::COLLABORATION_MODE;
use engine::{Event, EventKind, Verdict};
use serde_json::Value;

use self::watchdog::{AnswerSettings, PendingAnswer, with_deadline};
use crate::failure::Failure;
use crate::judge::{Judge, SELF_TEST_SESSION};
use crate::{Environment, file_size_limit, session};

/// Judges the event in `payload` and calls `send` with the answer, exactly once. `received` is the time at which the
/// event arrived, in milliseconds since 1970; `event_argument` is the event's name on the hook's command line. If the
/// event is not judged by the deadline, the watchdog's thread calls `send` while this function is still running. So
/// `send` must end the process.
pub fn hook(
    agent: Agent,
    event_argument: Option<&str>,
    payload: impl Read,
    received: i64,
    environment: &Environment,
    send: impl Fn(&Answer) + Send + Sync + 'static,
) {
    with_deadline(agent, received, send, |pending| {
        verdict_of(read_event(agent, event_argument, payload, received), agent, environment, pending)
    });
}

/// The verdict that the event would get if it happened now. The event is judged like one from a hook, but nothing is
/// recorded.
pub(crate) fn dry_run(event: Event, agent: Agent, environment: &Environment) -> Verdict {
    verdict_of(Ok(Event { is_dry_run: true, ..event }), agent, environment, &PendingAnswer::default())
}

/// The verdict on an event, whether or not its payload could be decoded.
fn verdict_of(
    decoded: Result<Event, Box<(Event, Failure)>>,
    agent: Agent,
    environment: &Environment,
    pending: &PendingAnswer,
) -> Verdict {
    let session_directory = agents::environment::project_dir(agent, |name| environment.get(name));
    let (event, failure) = match decoded {
        Ok(event) => (event, None),
        Err(error) => (error.0, Some(error.1)),
    };
    let is_dry_run = event.is_dry_run || event.session == SELF_TEST_SESSION;
    let event = pending.set_event(Event { is_dry_run, ..event });
    let root = session::root::pin_root(&event, session_directory.as_deref(), environment);
    // Without a policy there is nothing to enforce.
    if !root.project.has_policy() {
        return Verdict::empty();
    }
    if file_size_limit::is_too_low_after_raising() {
        let config = session::policy::config_read_only(&root.project, &event, environment);
        pending.set_config(&config);
        return AnswerSettings::of(&config)
            .apply_observe_mode(failure.unwrap_or(Failure::FileSizeLimit).verdict(&event));
    }
    let judge = Judge::new(&root.project, &event, environment);
    pending.set_config(judge.config());
    if let Some(failure) = failure {
        return judge.record_unjudged(&event, failure.verdict(&event));
    }
    let event = with_transcript_facts(agent, event, judge.config().deadline);
    judge.judge_and_record(&event, root.is_first_event, &|more| pending.extend_deadline(more)).verdict
}

/// Reads and decodes the payload.
fn read_event(
    agent: Agent,
    event_argument: Option<&str>,
    payload: impl Read,
    received: i64,
) -> Result<Event, Box<(Event, Failure)>> {
    let mut bytes = Vec::new();
    // At most one byte more than the limit is read. With this byte, the decoder sees that a payload is too large.
    let limit = u64::try_from(agents::PAYLOAD_LIMIT).unwrap_or(u64::MAX);
    if let Err(error) = payload.take(limit + 1).read_to_end(&mut bytes) {
        return Err(Box::new((Event::unknown(agent.name(), received), Failure::Undecodable(error.to_string()))));
    }
    match agents::decode(agent, event_argument, &bytes, received) {
        Ok(event) if event.name.is_empty() => {
            Err(Box::new((event, Failure::Undecodable("the payload does not name its event".to_owned()))))
        }
        Ok(event) => Ok(event),
        Err(error) => Err(Box::new((error.partial, Failure::Undecodable(error.why)))),
    }
}

/// The maximum time to wait until an agent has written its transcript, as a fraction of the deadline. The rest of the
/// time is needed to judge the event.
const MAX_TRANSCRIPT_WAIT: f64 = 0.4;

/// Adds information that the payload lacks to the event, from the transcript: after a shell call, its outcome; at a
/// stop, the agent's last message; at a prompt of Codex, the collaboration mode (such as `plan`) of the new turn. At
/// the event before a tool call, the transcript is not read: it says nothing about the call yet, and this event is the
/// most frequent one.
fn with_transcript_facts(agent: Agent, mut event: Arc<Event>, deadline: Duration) -> Arc<Event> {
    let Some(path) = event.transcript.as_deref().map(Path::new) else { return event };
    let call = event.tool.as_ref().filter(|call| call.shell.is_some()).and_then(|call| call.id.as_deref());
    if let (EventKind::AfterTool, None, Some(call)) = (event.kind, event.outcome, call) {
        let outcome = agents::transcript::outcome(agent, path, call).ok().flatten();
        if outcome.is_some() {
            Arc::make_mut(&mut event).outcome = outcome;
        }
    } else if event.kind.is_stop() && event.message.is_none() {
        agents::transcript::wait_until_written(agent, path, &event, deadline.mul_f64(MAX_TRANSCRIPT_WAIT));
        let message = agents::transcript::last_message(agent, path).ok().flatten();
        if message.is_some() {
            Arc::make_mut(&mut event).message = message;
        }
    } else if let (EventKind::Prompt, Some(turn)) = (event.kind, event.extra.get("turn_id").and_then(Value::as_str)) {
        // Only payloads of Codex contain the id of a turn, and the mode of a turn is only in the transcript.
        let mode = agents::transcript::mode(agent, path, turn).ok().flatten();
        if let Some(mode) = mode {
            Arc::make_mut(&mut event).extra.entry(COLLABORATION_MODE).or_insert(Value::String(mode));
        }
    }
    event
}
