//! Who acknowledges a rule, and in which session.

use engine::rules::{AckBy, Rule};
use guard::Project;
use guard::facts::Position;
use guard::grants::AcknowledgedBy;
use guard::session::{CommandRun, HatPhase, SessionOwner};
use store::PERSON_SESSION;

use crate::commands::{Context, log};
use crate::person;
use crate::problem::Problem;

pub struct Acknowledger {
    pub by: AcknowledgedBy,
    /// The session that the acknowledgement counts in.
    pub session: SessionOwner,
    /// Where the workflow stands, if one is active.
    pub position: Option<Position>,
}

impl Acknowledger {
    /// `named`: the session that the arguments name. Refused where only a person may acknowledge the rule and an agent runs this.
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
        // Files belong to no session: a person can answer for them before the first agent was started.
        let is_sessionless = named.is_none() && rule.as_file_rule().is_some() && (!is_marked || is_in_run);
        let has_journal = project.journal_path(environment).exists();
        let store = (has_journal || !is_sessionless).then(|| log::open(project, context)).transpose()?;
        let is_agents = is_marked || store.as_ref().map(|store| command.agent(store)).transpose()?.flatten().is_some();
        if is_agents && rule.ack == AckBy::Human {
            let message =
                format!("rule `{}` is acknowledged by people (`ack: human`), and an agent runs this", rule.id);
            return Err(Problem::new("NotAPerson", message).help("say why it should be, and let a person decide"));
        }
        let session = match store.as_ref().map(|store| command.session(store)).transpose()?.flatten() {
            Some(session) => session,
            None if is_sessionless => {
                SessionOwner { agent: PERSON_SESSION.agent.to_owned(), session: PERSON_SESSION.session.to_owned() }
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
        Some(session) => Problem::new("NotFound", format!("the journal knows no session `{session}`"))
            .help("`linchpin log --json` names the sessions"),
        None => Problem::new("NotFound", "no session was heard of yet").help("it begins with an agent's first event"),
    }
}
