//! The session that a command is run in: one that an agent's shell may be running, or a person.

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

/// A command that people and agents run alike.
pub struct CommandRun<'a> {
    /// Words that its command line is sure to have: the verb, and what it is about.
    pub words: &'a [&'a str],
    /// The session that it names itself.
    pub session: Option<&'a str>,
    pub environment: &'a Environment,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// How long ago an agent that waits for this command told of it, at most.
const PENDING: Duration = Duration::from_mins(1);
/// How long a call of another session may have been running and still be the caller: agents end their calls after ten minutes.
const AT_WORK: Duration = Duration::from_mins(10);
/// How many sessions can be at work at once.
const SESSIONS_LIMIT: usize = 100;
/// How many of the latest calls of a session are looked at: it can make several at once.
const CALLS_LIMIT: usize = 20;

impl CommandRun<'_> {
    /// The sessions of agents that may run it: the one that the agents' variables name, else those with a call that waits for it
    /// to end, newest first. None where a person runs it.
    pub fn agents(&self, store: &Store) -> Result<Vec<SessionOwner>, StoreError> {
        if let Some(named) = self.by_variables() {
            return Ok(vec![named]);
        }
        // Many calls may wait for one command in a run; only the run itself is known.
        if self.is_in_run() {
            return Ok(Vec::new());
        }
        let since = self.ago(PENDING);
        let calls = unfinished(store, since, 1)?.into_iter();
        Ok(calls.filter(|(_, call)| self.is_in(&call.text)).map(|(whose, _)| whose).collect())
    }

    pub fn agent(&self, store: &Store) -> Result<Option<SessionOwner>, StoreError> {
        Ok(self.agents(store)?.into_iter().next())
    }

    /// The session whose variables count for it: the one it names, or the one it runs in. None where that is not known: it is
    /// never guessed. `is_agents`: the environment, or a process above this one, shows that an agent runs it. Without a variable
    /// that names the session, its unfinished call has to be the only one of all sessions: any other call may be a script that
    /// runs this command.
    pub fn known_session(&self, store: &Store, is_agents: bool) -> Result<Option<SessionOwner>, StoreError> {
        if let Some(named) = self.session {
            let found = store.latest_session(Some(named))?;
            return Ok(found.map(|(agent, session)| SessionOwner { agent, session }));
        }
        let named = self.by_variables();
        if named.is_some() || !is_agents || self.is_in_run() {
            return Ok(named);
        }
        let mut calls = unfinished(store, self.ago(AT_WORK), CALLS_LIMIT)?;
        let only = calls.pop().filter(|(_, call)| calls.is_empty() && self.is_in(&call.text));
        Ok(only.map(|(whose, _)| whose))
    }

    /// The session that it is about: the one it names, the one it runs in, or the one that was heard of last.
    pub fn session(&self, store: &Store) -> Result<Option<SessionOwner>, StoreError> {
        if self.session.is_none()
            && let Some(running) = self.agent(store)?
        {
            return Ok(Some(running));
        }
        if self.session.is_none() && self.is_in_run() {
            // A run starts sessions of its own; what was heard of last may be anybody's.
            return Ok(None);
        }
        let found = store.latest_session(self.session)?;
        Ok(found.map(|(agent, session)| SessionOwner { agent, session }))
    }

    fn by_variables(&self) -> Option<SessionOwner> {
        let (agent, session) = agents::environment::session(|name| self.environment.get(name))?;
        Some(SessionOwner { agent: agent.name().to_owned(), session })
    }

    fn is_in_run(&self) -> bool {
        self.environment.get(agents::environment::IN_RUN).is_some()
    }

    fn ago(&self, time: Duration) -> i64 {
        self.now.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    fn is_in(&self, text: &str) -> bool {
        let has_words = |command: &SimpleCommand| {
            let has = |word: &&str| command.words().iter().any(|found| found.value.as_deref() == Some(word));
            command.program() == Some("linchpin") && self.words.iter().all(has)
        };
        shell::parse(text).commands.iter().any(has_words)
    }
}

/// The shell calls of which no end was seen, newest first: of the last `latest` calls of each session.
fn unfinished(store: &Store, since: i64, latest: usize) -> Result<Vec<(SessionOwner, RecordedCommand)>, StoreError> {
    let mut calls = Vec::new();
    for (agent, session) in store.sessions_since(since, SESSIONS_LIMIT)? {
        let whose = SessionOwner { agent, session };
        let key = SessionKey { agent: &whose.agent, session: &whose.session };
        for call in store.commands(key, since, latest)?.into_iter().filter(|call| !call.is_over) {
            if !store.is_idle_after(key, call.event)? {
                calls.push((whose.clone(), call));
            }
        }
    }
    calls.sort_by_key(|(_, call)| Reverse(call.event));
    Ok(calls)
}
