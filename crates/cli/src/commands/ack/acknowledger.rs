//! Determines who acknowledges a rule, and in which session.

use engine::rules::{AckBy, Rule};
use guard::Position;
use guard::Project;
use guard::grants::AcknowledgedBy;
use guard::session::{CommandRun, HatPhase, SessionOwner};
use store::PERSON_SESSION;

use crate::commands::{Context, log};
use crate::person;
use crate::problem::Problem;

pub struct Acknowledger {
    pub by: AcknowledgedBy,
    /// The session in which the acknowledgement counts.
    pub session: SessionOwner,
    /// The current phase, if a workflow is active.
    pub position: Option<Position>,
}

impl Acknowledger {
    /// `named`: the session from the arguments. Fails if only a person may acknowledge the rule and an agent runs this
    /// command.
    pub fn of(
        rule: &Rule,
        named: Option<&str>,
        now: i64,
        project: &Project,
        context: &Context,
    ) -> Result<Self, Problem> {
        let environment = &context.environment;
        let command = CommandRun { words: &["ack", &rule.id], session: named, environment, now };
        let is_marked = person::required("ack", environment).is_err();
        let is_in_run = environment.get(HatPhase::RUN).is_some();
        // Demands for files do not depend on a session, so a person can settle them before any agent was started.
        let is_sessionless = named.is_none() && rule.as_file_rule().is_some() && (!is_marked || is_in_run);
        let has_journal = project.journal_path(environment).exists();
        let store = (has_journal || !is_sessionless).then(|| log::open(project, context)).transpose()?;
        let is_agents =
            is_marked || store.as_ref().map(|store| command.likely_session(store)).transpose()?.flatten().is_some();
        if is_agents && rule.ack == AckBy::Human {
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
                SessionOwner { agent: PERSON_SESSION.agent.to_owned(), id: PERSON_SESSION.session.to_owned() }
            }
            None => return Err(unknown_session(named)),
        };
        let state = store.as_ref().and_then(|store| store.workflow().ok());
        let position = state.and_then(|state| Position::of(&state.variables));
        Ok(Self { by: if is_agents { AcknowledgedBy::Agent } else { AcknowledgedBy::Person }, session, position })
    }
}

fn unknown_session(named: Option<&str>) -> Problem {
    match named {
        Some(session) => Problem::new("NotFound", format!("the journal has no session `{session}`"))
            .help("`linchpin log --json` lists the sessions"),
        None => Problem::new("NotFound", "the journal has no session yet").help("an agent's first event starts one"),
    }
}
