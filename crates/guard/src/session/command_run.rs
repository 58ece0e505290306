//! Finds the session of the agent that runs a command; there is none if a person runs it.

use std::cmp::Reverse;
use std::time::Duration;

use shell::{self, SimpleCommand};
use store::{RecordedCommand, SessionKey, Store, StoreError};

use super::{SessionOwner, hat_sessions};
use crate::Environment;

/// A command that both people and agents run.
pub struct CommandRun<'a> {
    /// Words that the command line of the call must contain: the subcommand and its argument.
    pub words: &'a [&'a str],
    /// The session id on its command line.
    pub session: Option<&'a str>,
    pub environment: &'a Environment,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// The maximum time between the hook's event for a call and the command that the call runs.
const MAX_PENDING_TIME: Duration = Duration::from_mins(1);
/// The maximum time for which a call of another session counts as running. Agents stop their calls after ten minutes.
const MAX_RUNNING_TIME: Duration = Duration::from_mins(10);
/// The maximum number of sessions that are considered.
const MAX_SESSIONS: usize = 100;
/// The number of recent calls that are considered for each session. It is more than one, because a session may make
/// several calls at the same time.
const MAX_CALLS: usize = 20;

impl CommandRun<'_> {
    /// The agents' sessions that may be running this command: the session in the environment variables; if there is
    /// none, the sessions with an unfinished call of this command, newest first. Empty if a person runs it.
    pub fn candidate_sessions(&self, store: &Store) -> Result<Vec<SessionOwner>, StoreError> {
        if let Some(named) = self.session_from_environment() {
            return Ok(vec![named]);
        }
        // In a run, calls of several sessions may be waiting for the same command, so only the hat's own session is
        // certain. `store` has it if it was opened for the run.
        if self.is_in_run() {
            return Ok(hat_sessions::only(&store.workflow()?.variables).into_iter().collect());
        }
        let since = self.time_before(MAX_PENDING_TIME);
        let calls = unfinished_calls(store, since, 1)?.into_iter();
        Ok(calls.filter(|(_, call)| self.is_called_in(&call.text)).map(|(owner, _)| owner).collect())
    }

    /// The first of [`Self::candidate_sessions`].
    pub fn likely_session(&self, store: &Store) -> Result<Option<SessionOwner>, StoreError> {
        Ok(self.candidate_sessions(store)?.into_iter().next())
    }

    /// The session whose variables apply to the command: the one it names, or the one it runs in. It is never guessed,
    /// so it is `None` in doubt. With `search_calls`, a session that no variable names is also found by its unfinished
    /// call, which must be the only one of all sessions: any other call may be a script that runs this command. A
    /// caller passes false if a person may run the command.
    pub fn certain_session(&self, store: &Store, search_calls: bool) -> Result<Option<SessionOwner>, StoreError> {
        if let Some(named) = self.session {
            let found = store.latest_session(Some(named))?;
            return Ok(found.map(|(agent, id)| SessionOwner { agent, id }));
        }
        let named = self.session_from_environment();
        if named.is_some() || !search_calls || self.is_in_run() {
            return Ok(named);
        }
        let mut calls = unfinished_calls(store, self.time_before(MAX_RUNNING_TIME), MAX_CALLS)?;
        let only = calls.pop().filter(|(_, call)| calls.is_empty() && self.is_called_in(&call.text));
        Ok(only.map(|(owner, _)| owner))
    }

    /// The session that the command is for: the session that it names, else the one in which it runs, else the latest
    /// session.
    pub fn target_session(&self, store: &Store) -> Result<Option<SessionOwner>, StoreError> {
        if self.session.is_none()
            && let Some(running) = self.likely_session(store)?
        {
            return Ok(Some(running));
        }
        if self.session.is_none() && self.is_in_run() {
            // A run starts its own sessions, so the latest session may not belong to it.
            return Ok(None);
        }
        let found = store.latest_session(self.session)?;
        Ok(found.map(|(agent, id)| SessionOwner { agent, id }))
    }

    fn session_from_environment(&self) -> Option<SessionOwner> {
        let (agent, id) = agents::environment::session(|name| self.environment.get(name))?;
        Some(SessionOwner { agent: agent.name().to_owned(), id })
    }

    fn is_in_run(&self) -> bool {
        self.environment.get(agents::environment::IN_RUN).is_some()
    }

    fn time_before(&self, time: Duration) -> i64 {
        self.now.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    fn is_called_in(&self, text: &str) -> bool {
        let is_this_command = |command: &SimpleCommand| {
            let has_word = |word: &&str| command.words().iter().any(|found| found.value.as_deref() == Some(word));
            command.program() == Some("linchpin") && self.words.iter().all(has_word)
        };
        shell::parse(text).commands.iter().any(is_this_command)
    }
}

/// Shell calls without an end, newest first. Only the last `max_calls` calls of each session are considered.
fn unfinished_calls(
    store: &Store,
    since: i64,
    max_calls: usize,
) -> Result<Vec<(SessionOwner, RecordedCommand)>, StoreError> {
    let mut calls = Vec::new();
    for (agent, id) in store.sessions_since(since, MAX_SESSIONS)? {
        let owner = SessionOwner { agent, id };
        let key = SessionKey { agent: &owner.agent, session: &owner.id };
        for call in store.commands(key, since, max_calls)?.into_iter().filter(|call| !call.has_ended) {
            if !store.is_idle_after(key, call.event)? {
                calls.push((owner.clone(), call));
            }
        }
    }
    calls.sort_by_key(|(_, call)| Reverse(call.event));
    Ok(calls)
}

#[cfg(test)]
mod tests;
