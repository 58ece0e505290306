//! Whose session a command is run in: one that an agent's shell may be running, or a person.

use std::time::Duration;

use engine::shell::{self, SimpleCommand};
use store::{Filter, SessionKey, Store, StoreError};

use crate::environment::Environment;
use crate::loops::Stage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whose {
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

/// An agent that waits for its command has told of it not long ago.
const PENDING: Duration = Duration::from_mins(1);
/// How many sessions can be at work at once.
const SESSIONS_LIMIT: usize = 100;

impl CommandRun<'_> {
    /// The session of the agent that runs it: by the agents' variables, else by the call that waits for it to end. None
    /// where a person runs it.
    pub fn agent(&self, store: &Store) -> Result<Option<Whose>, StoreError> {
        let by_variables = agents::environment::session(|name| self.environment.get(name));
        match by_variables {
            Some((agent, session)) => Ok(Some(Whose { agent: agent.name().to_owned(), session })),
            // Many may wait for one command in a run; what is known of it is the run itself.
            None if self.environment.get(Stage::RUN).is_some() => Ok(None),
            None => self.pending(store),
        }
    }

    /// The session whose variables count for it: the one it names, or the one it runs in. None where that is not known: it is
    /// never guessed.
    pub fn known_session(&self, store: &Store) -> Result<Option<Whose>, StoreError> {
        let Some(named) = self.session else { return self.agent(store) };
        let found = store.latest_session(Some(named))?;
        Ok(found.map(|(agent, session)| Whose { agent, session }))
    }

    /// The session that it is about: the one it names, the one it runs in, or the one that was heard of last.
    pub fn session(&self, store: &Store) -> Result<Option<Whose>, StoreError> {
        if self.session.is_none()
            && let Some(running) = self.agent(store)?
        {
            return Ok(Some(running));
        }
        if self.session.is_none() && self.environment.get(Stage::RUN).is_some() {
            // A run starts sessions of its own; what was heard of last may be anybody's.
            return Ok(None);
        }
        let found = store.latest_session(self.session)?;
        Ok(found.map(|(agent, session)| Whose { agent, session }))
    }

    fn pending(&self, store: &Store) -> Result<Option<Whose>, StoreError> {
        let since = self.now.saturating_sub(i64::try_from(PENDING.as_millis()).unwrap_or(i64::MAX));
        let filter = Filter {
            kind: Some("before_tool".to_owned()),
            since: Some(since),
            limit: SESSIONS_LIMIT,
            ..Filter::default()
        };
        let mut seen = Vec::new();
        for entry in store.entries(&filter)?.into_iter().rev().filter(|entry| entry.command.is_some()) {
            let whose = Whose { agent: entry.agent, session: entry.session };
            if seen.contains(&whose) {
                continue;
            }
            let key = SessionKey { agent: &whose.agent, session: &whose.session };
            let newest = store.commands(key, since, 1)?.pop();
            if newest.is_some_and(|command| !command.is_over && self.is_in(&command.text)) {
                return Ok(Some(whose));
            }
            seen.push(whose);
        }
        Ok(None)
    }

    fn is_in(&self, text: &str) -> bool {
        let has_words = |command: &SimpleCommand| {
            let has = |word: &&str| command.words.iter().any(|found| found.value.as_deref() == Some(word));
            command.program() == Some("linchpin") && self.words.iter().all(has)
        };
        shell::parse(text).commands.iter().any(has_words)
    }
}
