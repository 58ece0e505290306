//! Finds the session of the agent that runs a command; there is none if a person runs it.

use std::cmp::Reverse;
use std::time::Duration;

use shell::{self, SimpleCommand};
use store::{RecordedCommand, SessionKey, Store, StoreError};

use crate::Environment;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOwner {
    pub agent: String,
    pub session: String,
}

/// A command that both people and agents run.
pub struct CommandRun<'a> {
    /// Words that the command line of the call must contain: the verb and its object.
    pub words: &'a [&'a str],
    /// The session that is named on its command line.
    pub session: Option<&'a str>,
    pub environment: &'a Environment,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// The maximum time between the hook's event for a call and the command that the call runs.
const PENDING_LIMIT: Duration = Duration::from_mins(1);
/// The maximum time for which a call of another session counts as running. Agents stop their calls after ten minutes.
const RUNNING_LIMIT: Duration = Duration::from_mins(10);
/// The maximum number of sessions that are considered.
const SESSIONS_LIMIT: usize = 100;
/// The number of recent calls that are considered for each session. It is more than one, because a session may make
/// several calls at the same time.
const CALLS_LIMIT: usize = 20;

impl CommandRun<'_> {
    /// The agents' sessions that may be running this command: the session in the environment variables; if there is
    /// none, the sessions with an unfinished call of this command, newest first. Empty if a person runs it.
    pub fn agents(&self, store: &Store) -> Result<Vec<SessionOwner>, StoreError> {
        if let Some(named) = self.named_by_environment() {
            return Ok(vec![named]);
        }
        // In a run, many calls may be waiting for the same command, so only the run itself is certain.
        if self.is_in_run() {
            return Ok(Vec::new());
        }
        let since = self.ago(PENDING_LIMIT);
        let calls = unfinished_calls(store, since, 1)?.into_iter();
        Ok(calls.filter(|(_, call)| self.is_run_by(&call.text)).map(|(owner, _)| owner).collect())
    }

    pub fn agent(&self, store: &Store) -> Result<Option<SessionOwner>, StoreError> {
        Ok(self.agents(store)?.into_iter().next())
    }

    /// The session whose variables apply to the command: the one it names, or the one it runs in. It is never guessed,
    /// so it is `None` in doubt. With `search_calls`, a session that no variable names is also found by its unfinished
    /// call, which must be the only one of all sessions: any other call may be a script that runs this command. A
    /// caller passes false if a person may run the command.
    pub fn known_session(&self, store: &Store, search_calls: bool) -> Result<Option<SessionOwner>, StoreError> {
        if let Some(named) = self.session {
            let found = store.latest_session(Some(named))?;
            return Ok(found.map(|(agent, session)| SessionOwner { agent, session }));
        }
        let named = self.named_by_environment();
        if named.is_some() || !search_calls || self.is_in_run() {
            return Ok(named);
        }
        let mut calls = unfinished_calls(store, self.ago(RUNNING_LIMIT), CALLS_LIMIT)?;
        let only = calls.pop().filter(|(_, call)| calls.is_empty() && self.is_run_by(&call.text));
        Ok(only.map(|(owner, _)| owner))
    }

    /// The session that the command is for: the session that it names, else the one in which it runs, else the latest
    /// session.
    pub fn session(&self, store: &Store) -> Result<Option<SessionOwner>, StoreError> {
        if self.session.is_none()
            && let Some(running) = self.agent(store)?
        {
            return Ok(Some(running));
        }
        if self.session.is_none() && self.is_in_run() {
            // A run starts its own sessions, so the latest session may not belong to it.
            return Ok(None);
        }
        let found = store.latest_session(self.session)?;
        Ok(found.map(|(agent, session)| SessionOwner { agent, session }))
    }

    fn named_by_environment(&self) -> Option<SessionOwner> {
        let (agent, session) = agents::environment::session(|name| self.environment.get(name))?;
        Some(SessionOwner { agent: agent.name().to_owned(), session })
    }

    fn is_in_run(&self) -> bool {
        self.environment.get(agents::environment::IN_RUN).is_some()
    }

    fn ago(&self, time: Duration) -> i64 {
        self.now.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    fn is_run_by(&self, text: &str) -> bool {
        let has_words = |command: &SimpleCommand| {
            let has = |word: &&str| command.words().iter().any(|found| found.value.as_deref() == Some(word));
            command.program() == Some("linchpin") && self.words.iter().all(has)
        };
        shell::parse(text).commands.iter().any(has_words)
    }
}

/// Shell calls without an end, newest first. Only the last `latest` calls of each session are considered.
fn unfinished_calls(
    store: &Store,
    since: i64,
    latest: usize,
) -> Result<Vec<(SessionOwner, RecordedCommand)>, StoreError> {
    let mut calls = Vec::new();
    for (agent, session) in store.sessions_since(since, SESSIONS_LIMIT)? {
        let owner = SessionOwner { agent, session };
        let key = SessionKey { agent: &owner.agent, session: &owner.session };
        for call in store.commands(key, since, latest)?.into_iter().filter(|call| !call.is_over) {
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
