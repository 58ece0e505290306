//! `linchpin ack`: answers the demands of a file rule by hand.

use engine::file_rules::{AttributionMode, Baseline, ChangeScope};
use engine::rules::Rule;
use policy::Config;
use store::{SessionKey, Store, StoreError, StoredState};

use super::attribution::Attribution;
use super::changed_files::ChangedFiles;
use super::demand_tracker::DemandTracker;
use super::prompt_baseline::PromptBaseline;
use super::queue::Queue;
use super::session_baseline::SessionBaseline;
use crate::Environment;
use crate::project::{Project, store_options};
use crate::session::AgentSession;
use crate::timestamp::timestamp;

/// An answer that a person or an agent gives with `linchpin ack`.
pub struct ManualAnswer<'a> {
    pub project: &'a Project,
    pub config: &'a Config,
    pub agent_session: &'a AgentSession,
    /// The name and time of the tree snapshot that was taken when the hat was activated; `None` outside of runs.
    pub hat_snapshot: Option<(String, i64)>,
    /// The author and the reason of the answer, for the queue entry.
    pub author_and_reason: &'a str,
    /// Milliseconds since 1970.
    pub now: i64,
    pub environment: &'a Environment,
}

/// The result of an answer, in the order of precedence if there are several demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerOutcome {
    /// The rule demands nothing.
    NoDemand,
    /// The rule's demand was answered before.
    AlreadyAnswered,
    /// The demand is answered now, for this number of files.
    Answered(usize),
}

impl ManualAnswer<'_> {
    /// Answers all open demands of a file rule: in the session, for `linchpin check`, and for gates of the hat. Returns
    /// the outcome with the highest precedence.
    pub fn answer(&self, rule: &Rule) -> Result<AnswerOutcome, String> {
        let Some(file_rule) = rule.as_file_rule() else { return Ok(AnswerOutcome::NoDemand) };
        let session_state = self.read_session_state()?;
        let tmp = self.project.tmp(self.environment);
        let baseline = SessionBaseline::stored(&session_state.variables, &self.project.root);
        let prompt_baseline = PromptBaseline::last_time(&session_state.variables);
        let prompt_baseline = prompt_baseline.map(|time| PromptBaseline::new(&tmp, &self.agent_session.id, time));
        let answered_in_session = self.answer_since(rule, baseline.clone(), prompt_baseline, file_rule.scope)?;
        // `linchpin check` has no session, so it uses another baseline, for which the session's answers do not count.
        let answered_for_check = match baseline {
            Some(_) => self.answer_since(
                rule,
                None,
                None,
                ChangeScope { attribute: AttributionMode::Tree, ..file_rule.scope },
            )?,
            None => AnswerOutcome::NoDemand,
        };
        // Gates of a loop compare with the tree from before the hat was activated.
        let answered_for_gate = match &self.hat_snapshot {
            Some((name, time)) => {
                let hat_baseline = PromptBaseline::new(&tmp, name, *time);
                self.answer_since(
                    rule,
                    baseline,
                    Some(hat_baseline),
                    ChangeScope { compare_to: Baseline::Prompt, ..file_rule.scope },
                )?
            }
            None => AnswerOutcome::NoDemand,
        };
        Ok(answered_in_session.max(answered_for_check).max(answered_for_gate))
    }

    /// Answers the open demand that the rule makes with these baselines.
    fn answer_since(
        &self,
        rule: &Rule,
        baseline: Option<SessionBaseline>,
        prompt_baseline: Option<PromptBaseline>,
        change_scope: ChangeScope,
    ) -> Result<AnswerOutcome, String> {
        let Some(file_rule) = rule.as_file_rule() else { return Ok(AnswerOutcome::NoDemand) };
        let Self { project, environment, agent_session, .. } = self;
        let attribution = self.attribution();
        let default_branch = self.config.branches.default.clone();
        let changes = ChangedFiles::new(&project.root, default_branch, baseline, prompt_baseline, attribution);
        let since = changes.in_scope(change_scope).ok_or("git cannot list what changed")?;
        let file_match = file_rule.judge(&since.changes).map_err(|error| error.to_string())?;
        let queue = Queue::of(project, environment);
        let demand_tracker = DemandTracker::new(&project.root, queue, &agent_session.id, timestamp(self.now), None);
        let Some(demand) = rule.possible_demand(&file_match) else { return Ok(AnswerOutcome::NoDemand) };
        Ok(match demand_tracker.acknowledge(&demand, &since.baseline_id, self.author_and_reason)? {
            0 if file_match.is_unmet() => AnswerOutcome::AlreadyAnswered,
            0 => AnswerOutcome::NoDemand,
            files => AnswerOutcome::Answered(files),
        })
    }

    fn attribution(&self) -> Attribution {
        let AgentSession { agent, id } = self.agent_session;
        Attribution {
            journal_path: self.project.journal_path(self.environment),
            options: store_options(self.config, self.now, None),
            agent: agent.clone(),
            session: id.clone(),
            home: self.environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
        }
    }

    fn read_session_state(&self) -> Result<StoredState, String> {
        let AgentSession { agent, id } = self.agent_session;
        let options = store_options(self.config, self.now, None);
        let store = Store::open_read_only(&self.project.journal_path(self.environment), options);
        match store.and_then(|store| store.session_state(SessionKey { agent, session: id })) {
            // A person may answer before the first event of any agent.
            Err(StoreError::Missing { .. }) => Ok(StoredState::default()),
            state => state.map_err(|error| error.to_string()),
        }
    }
}
