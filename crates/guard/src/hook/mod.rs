//! What an agent calls: one payload in, one answer out, always and in time.
//!
//! That the answer comes in time, whatever becomes of judging, is the watchdog's to see to.

mod watchdog;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, Answer};
use engine::observers::COLLABORATION_MODE;
use engine::{Event, EventKind, Verdict};
use serde_json::Value;

use self::watchdog::{Progress, in_time};
use crate::failure::Failure;
use crate::judge::{Judge, TRIAL_SESSION};
use crate::{Environment, file_limit, session};

/// Judges the event that an agent's hook passes on `payload`, and gives the answer to `tell`, once. `received` is when
/// the event arrived, in milliseconds since 1970; `named` is the event as the hook's command line names it. Where judging
/// does not end in time, `tell` is called from another thread while this function is still at it: it must then end the
/// process.
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

/// What would be said of an event, were it to happen now: the same path, and nothing is kept of it.
pub(crate) fn dry_run(event: Event, agent: Agent, environment: &Environment) -> Verdict {
    judge(Ok(Event { is_dry_run: true, ..event }), agent, environment, &Progress::default())
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
    let is_dry_run = event.is_dry_run || event.session == TRIAL_SESSION;
    let event = progress.decoded(Event { is_dry_run, ..event });
    let root = session::root::of_event(&event, start.as_deref(), environment);
    // Where there is no policy, nobody asked for a guard.
    if !root.project.has_policy() {
        return Verdict::empty();
    }
    if file_limit::is_too_low() {
        progress.configured(&session::policy::config_looked_at(&root.project, &event, environment));
        let (_, terms) = progress.known();
        return terms.lift(failure.unwrap_or(Failure::FileLimit).verdict(&event));
    }
    let judge = Judge::new(&root.project, &event, environment);
    progress.configured(judge.config());
    if let Some(failure) = failure {
        return judge.record_unjudged(&event, failure.verdict(&event));
    }
    let event = with_transcript(agent, event, judge.config().deadline);
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
        return Err(Box::new((Event::unknown(agent.name(), received), Failure::Undecodable(error.to_string()))));
    }
    match agents::decode(agent, named, &bytes, received) {
        Ok(event) if event.name.is_empty() => {
            Err(Box::new((event, Failure::Undecodable("the payload does not name its event".to_owned()))))
        }
        Ok(event) => Ok(event),
        Err(error) => Err(Box::new((error.partial, Failure::Undecodable(error.why)))),
    }
}

/// How long to wait for a transcript that lags: a part of the deadline, so that there is time to judge.
const TRANSCRIPT_PATIENCE: f64 = 0.4;

/// Adds what only the transcript tells: how a shell call went, what the agent last said, and the mode of a turn that
/// begins. Never before a tool call: that is where an agent waits most often, and nothing of this is new there.
fn with_transcript(agent: Agent, mut event: Arc<Event>, deadline: Duration) -> Arc<Event> {
    let Some(path) = event.transcript.as_deref().map(Path::new) else { return event };
    let call = event.tool.as_ref().filter(|call| call.shell.is_some()).and_then(|call| call.id.as_deref());
    if let (EventKind::AfterTool, None, Some(call)) = (event.kind, event.outcome, call) {
        let outcome = agents::transcript::outcome(agent, path, call).ok().flatten();
        if outcome.is_some() {
            Arc::make_mut(&mut event).outcome = outcome;
        }
    } else if event.kind.is_stop() && event.message.is_none() {
        agents::transcript::wait_until_written(agent, path, &event, deadline.mul_f64(TRANSCRIPT_PATIENCE));
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
