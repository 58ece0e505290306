//! Finds the agent's session that runs a command. If a person runs the command, there is none.

use std::cmp::Reverse;
use std::time::Duration;

use shell::{self, SimpleCommand};
use store::{RecordedCommand, SessionKey, Store, StoreError};

use super::{AgentSession, hat_sessions};
use crate::Environment;

/// A command that both people and agents run.
pub struct CommandRun<'a> {
    /// The words that the command line contains: the subcommand and its argument.
    pub words: &'a [&'a str],
    /// The session id that the command line names.
    pub session: Option<&'a str>,
    pub environment: &'a Environment,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// The maximum age of an unfinished call that may be the one that runs this command.
const MAX_PENDING_TIME: Duration = Duration::from_mins(1);
/// The maximum time for which an unfinished call counts as running. Agents kill their calls after ten minutes.
const MAX_RUNNING_TIME: Duration = Duration::from_mins(10);
/// The maximum number of sessions that are considered.
const MAX_SESSIONS: usize = 100;
/// The number of recent calls that are considered for each session. A session may make several calls at the same time.
const MAX_CALLS: usize = 20;

impl CommandRun<'_> {
    /// The sessions that may be running this command: the session that the environment variables name; if they name
    /// none, in a run the hat's only session, and outside of runs the sessions whose latest call is an unfinished call
    /// of this command that began within the last minute, newest first. Empty if a person runs the command.
    pub fn candidate_sessions(&self, store: &Store) -> Result<Vec<AgentSession>, StoreError> {
        if let Some(named) = self.session_from_environment() {
            return Ok(vec![named]);
        }
        // In a run, sessions outside of it may have an unfinished call of the same command, so only the hat's own
        // session counts. `store` has that session if it was opened for the run.
        if self.is_in_run() {
            return Ok(hat_sessions::only(&store.workflow_state()?.variables).into_iter().collect());
        }
        let since = self.time_before(MAX_PENDING_TIME);
        let calls = unfinished_calls(store, since, 1)?.into_iter();
        Ok(calls.filter(|(_, call)| self.is_called_in(&call.text)).map(|(session, _)| session).collect())
    }

    /// The first of [`Self::candidate_sessions`].
    pub fn likely_session(&self, store: &Store) -> Result<Option<AgentSession>, StoreError> {
        Ok(self.candidate_sessions(store)?.into_iter().next())
    }

    /// The session whose variables the command uses: the one that its command line names, or the one that runs it. In
    /// doubt, returns `None`. If no environment variable names the session that runs the command, the unfinished calls
    /// are searched, but only if `search_calls` is true and not in a run. The session is found if its call of this
    /// command is the only unfinished call of all sessions, because any other call may be a script that runs this
    /// command. `search_calls` must be false if a person may be running the command.
    pub fn certain_session(&self, store: &Store, search_calls: bool) -> Result<Option<AgentSession>, StoreError> {
        if let Some(named) = self.session {
            let latest = store.latest_session(Some(named))?;
            return Ok(latest.map(|(agent, id)| AgentSession { agent, id }));
        }
        let named = self.session_from_environment();
        if named.is_some() || !search_calls || self.is_in_run() {
            return Ok(named);
        }
        let mut calls = unfinished_calls(store, self.time_before(MAX_RUNNING_TIME), MAX_CALLS)?;
        let only = calls.pop().filter(|(_, call)| calls.is_empty() && self.is_called_in(&call.text));
        Ok(only.map(|(session, _)| session))
    }

    /// The session that the command is about: the session that its command line names, else the one that runs it. If
    /// neither is known, the latest session; in a run, `None`.
    pub fn target_session(&self, store: &Store) -> Result<Option<AgentSession>, StoreError> {
        if self.session.is_none()
            && let Some(running) = self.likely_session(store)?
        {
            return Ok(Some(running));
        }
        if self.session.is_none() && self.is_in_run() {
            // It is uncertain whether the latest session belongs to the run.
            return Ok(None);
        }
        let latest = store.latest_session(self.session)?;
        Ok(latest.map(|(agent, id)| AgentSession { agent, id }))
    }

    /// The session that the environment variables name.
    fn session_from_environment(&self) -> Option<AgentSession> {
        let (agent, id) = agents::environment::session(|name| self.environment.get(name))?;
        Some(AgentSession { agent: agent.name().to_owned(), id })
    }

    fn is_in_run(&self) -> bool {
        self.environment.get(agents::environment::IN_RUN).is_some()
    }

    fn time_before(&self, time: Duration) -> i64 {
        self.now.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// True if the shell text contains this command.
    fn is_called_in(&self, text: &str) -> bool {
        let is_this_command = |command: &SimpleCommand| {
            let has_word = |word: &&str| command.words().iter().any(|other| other.value.as_deref() == Some(word));
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
) -> Result<Vec<(AgentSession, RecordedCommand)>, StoreError> {
    let mut calls = Vec::new();
    for (agent, id) in store.sessions_since(since, MAX_SESSIONS)? {
        let session = AgentSession { agent, id };
        let key = SessionKey { agent: &session.agent, session: &session.id };
        for call in store.commands(key, since, max_calls)?.into_iter().filter(|call| !call.has_ended) {
            if !store.was_idle_after(key, call.event)? {
                calls.push((session.clone(), call));
            }
        }
    }
    calls.sort_by_key(|(_, call)| Reverse(call.event));
    Ok(calls)
}

#[cfg(test)]
mod tests;
