//! The entry point of agents' hooks: reads one payload and gives exactly one answer. The watchdog ensures that the
//! answer comes in time.

mod watchdog;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, Answer};
use engine::observers::COLLABORATION_MODE;
use engine::{Event, EventKind, Verdict};
use serde_json::Value;

use self::watchdog::{AnswerSettings, Progress, with_deadline};
use crate::failure::Failure;
use crate::judge::{Judge, SELF_TEST_SESSION};
use crate::{Environment, file_limit, session};

/// Judges the event in `payload` and passes the answer to `send`, exactly once. `received` is the time at which the
/// event arrived, in milliseconds since 1970; `event_argument` is the event's name on the hook's command line. After the
/// deadline, the watchdog's thread calls `send` while this function is still running. `send` must then end the process.
pub fn hook(
    agent: Agent,
    event_argument: Option<&str>,
    payload: impl Read,
    received: i64,
    environment: &Environment,
    send: impl Fn(&Answer) + Send + Sync + 'static,
) {
    with_deadline(agent, received, send, |progress| {
        verdict_of(read_event(agent, event_argument, payload, received), agent, environment, progress)
    });
}

/// The verdict that the event would get if it happened now. It is judged like an event from a hook, but nothing is
/// recorded.
pub(crate) fn dry_run(event: Event, agent: Agent, environment: &Environment) -> Verdict {
    verdict_of(Ok(Event { is_dry_run: true, ..event }), agent, environment, &Progress::default())
}

fn verdict_of(
    decoded: Result<Event, Box<(Event, Failure)>>,
    agent: Agent,
    environment: &Environment,
    progress: &Progress,
) -> Verdict {
    let session_folder = agents::environment::project_dir(agent, |name| environment.get(name));
    let (event, failure) = match decoded {
        Ok(event) => (event, None),
        Err(error) => (error.0, Some(error.1)),
    };
    let is_dry_run = event.is_dry_run || event.session == SELF_TEST_SESSION;
    let event = progress.set_event(Event { is_dry_run, ..event });
    let root = session::root::fix_for_event(&event, session_folder.as_deref(), environment);
    // Without a policy there is nothing to enforce.
    if !root.project.has_policy() {
        return Verdict::empty();
    }
    if file_limit::is_too_low_after_raising() {
        let config = session::policy::config_read_only(&root.project, &event, environment);
        progress.set_config(&config);
        return AnswerSettings::of(&config).mark_not_enforced(failure.unwrap_or(Failure::FileLimit).verdict(&event));
    }
    let judge = Judge::new(&root.project, &event, environment);
    progress.set_config(judge.config());
    if let Some(failure) = failure {
        return judge.record_unjudged(&event, failure.verdict(&event));
    }
    let event = with_transcript_facts(agent, event, judge.config().deadline);
    judge.judge_and_record(&event, root.is_first, &|more| progress.extend_deadline(more)).verdict
}

fn read_event(
    agent: Agent,
    event_argument: Option<&str>,
    payload: impl Read,
    received: i64,
) -> Result<Event, Box<(Event, Failure)>> {
    let mut bytes = Vec::new();
    // Reads one byte more than the limit, so that the decoder can see that the payload is too large.
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

/// The maximum time to wait until an agent has written its transcript, as a fraction of the deadline. Judging needs the
/// rest.
const MAX_TRANSCRIPT_WAIT: f64 = 0.4;

/// Adds facts that only the transcript has: the outcome of a shell call, the agent's last message, the mode of a new
/// turn. Before a tool call, the transcript is not read: such events are the most frequent ones, and the transcript has
/// no new facts for them.
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
        // Only Codex numbers its turns, and only its transcript has their mode.
        let mode = agents::transcript::mode(agent, path, turn).ok().flatten();
        if let Some(mode) = mode {
            Arc::make_mut(&mut event).extra.entry(COLLABORATION_MODE).or_insert(Value::String(mode));
        }
    }
    event
}
