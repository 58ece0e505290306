//! Determines who acknowledges a rule, and in which session.

use engine::rules::{AckBy, Rule};
use guard::Position;
use guard::Project;
use guard::grants::AcknowledgedBy;
use guard::session::{AgentSession, CommandRun, HatPhase};
use store::PERSON_SESSION;

use crate::commands::{Context, journal};
use crate::person;
use crate::problem::Problem;

pub struct Acknowledger {
    pub by: AcknowledgedBy,
    /// The session for which the acknowledgement is recorded.
    pub session: AgentSession,
    /// The current phase, if a workflow is active.
    pub position: Option<Position>,
}

impl Acknowledger {
    /// Determines who runs this command. `named`: the session that the arguments name, if any. Fails if an agent runs
    /// the command, and only a person may acknowledge the rule.
    pub fn of(
        rule: &Rule,
        named: Option<&str>,
        now: i64,
        project: &Project,
        context: &Context,
    ) -> Result<Self, Problem> {
        let environment = &context.environment;
        let command = CommandRun { words: &["ack", &rule.id], session: named, environment, now };
        let has_agent_marker = person::agent_marker(environment).is_some();
        let is_in_run = environment.get(HatPhase::RUN).is_some();
        // Demands for files do not depend on a session, so a person can acknowledge a file rule before any agent runs.
        let is_sessionless = named.is_none() && rule.as_file_rule().is_some() && (!has_agent_marker || is_in_run);
        let has_journal = project.journal_path(environment).exists();
        let store = (has_journal || !is_sessionless).then(|| journal::open(project, context)).transpose()?;
        let is_by_agent = has_agent_marker
            || store.as_ref().map(|store| command.likely_session(store)).transpose()?.flatten().is_some();
        if is_by_agent && rule.ack == AckBy::Human {
            let message = format!(
                "only a person may acknowledge rule `{}` (`ack: human`), and this process was started by an agent",
                rule.id
            );
            return Err(
                Problem::new("NotAPerson", message).help("tell the person why you need it, and let them decide")
            );
        }
        let session = match store.as_ref().map(|store| command.target_session(store)).transpose()?.flatten() {
            Some(session) => session,
            None if is_sessionless => {
                AgentSession { agent: PERSON_SESSION.agent.to_owned(), id: PERSON_SESSION.session.to_owned() }
            }
            None => return Err(unknown_session(named)),
        };
        let state = store.as_ref().and_then(|store| store.workflow_state().ok());
        let position = state.and_then(|state| Position::of(&state.variables));
        Ok(Self { by: if is_by_agent { AcknowledgedBy::Agent } else { AcknowledgedBy::Person }, session, position })
    }
}

fn unknown_session(named: Option<&str>) -> Problem {
    match named {
        Some(session) => journal::unknown_session(session),
        None => Problem::new("NotFound", "the journal has no session yet").help("an agent's first event starts one"),
    }
}
