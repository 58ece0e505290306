//! `linchpin ack`: answers the demands of a file rule by hand.

use engine::file_rules::{AttributionMode, Baseline, ChangeScope};
use engine::rules::Rule;
use policy::Config;
use store::{SessionKey, SessionState, Store, StoreError};

use super::attribution::Attribution;
use super::changed_files::ChangedFiles;
use super::demand_tracker::DemandTracker;
use super::prompt_baseline::{PromptBaseline, timestamp};
use super::queue::Queue;
use super::session_baseline::SessionBaseline;
use crate::Environment;
use crate::project::{Project, store_options};
use crate::session::SessionOwner;

/// An answer that a person or an agent gives with `ack`.
pub struct ManualAnswer<'a> {
    pub project: &'a Project,
    pub config: &'a Config,
    pub session_owner: &'a SessionOwner,
    /// The name and time of the tree snapshot that was taken when the hat was activated; `None` outside of runs.
    pub hat_snapshot: Option<(String, i64)>,
    /// The author and the reason of the answer, for the queue entry.
    pub author_and_reason: &'a str,
    /// Milliseconds since 1970.
    pub now: i64,
    pub environment: &'a Environment,
}

impl ManualAnswer<'_> {
    /// Answers all open demands of a file rule in the session, and returns the number of files.
    pub fn answer(&self, rule: &Rule) -> Result<usize, String> {
        let Some(file) = rule.as_file_rule() else { return Ok(0) };
        let session_state = self.session_state()?;
        let tmp = self.project.tmp(self.environment);
        let baseline = SessionBaseline::stored(&session_state.variables);
        let prompt_baseline = PromptBaseline::last_time(&session_state.variables);
        let prompt_baseline = prompt_baseline.map(|time| PromptBaseline::new(&tmp, &self.session_owner.id, time));
        let answered_in_session = self.answer_since(rule, baseline.clone(), prompt_baseline, file.scope)?;
        // `check` has no session, so its baseline moves with each commit. Answers for the session's baseline do not
        // count there.
        let answered_for_check = match baseline {
            Some(_) => {
                self.answer_since(rule, None, None, ChangeScope { attribute: AttributionMode::Tree, ..file.scope })?
            }
            None => 0,
        };
        // Gates of a loop compare with the tree from before the hat was activated.
        let answered_for_gate = match &self.hat_snapshot {
            Some((name, time)) => {
                let hat_baseline = PromptBaseline::new(&tmp, name, *time);
                self.answer_since(
                    rule,
                    baseline,
                    Some(hat_baseline),
                    ChangeScope { compare_to: Baseline::Prompt, ..file.scope },
                )?
            }
            None => 0,
        };
        Ok(answered_in_session.max(answered_for_check).max(answered_for_gate))
    }

    fn answer_since(
        &self,
        rule: &Rule,
        baseline: Option<SessionBaseline>,
        prompt_baseline: Option<PromptBaseline>,
        change_scope: ChangeScope,
    ) -> Result<usize, String> {
        let Some(file) = rule.as_file_rule() else { return Ok(0) };
        let Self { project, environment, session_owner, .. } = self;
        let attribution = self.attribution();
        let default_branch = self.config.branches.default.clone();
        let changes = ChangedFiles::new(&project.root, default_branch, baseline, prompt_baseline, attribution);
        let since = changes.since(change_scope).ok_or("git cannot list what changed")?;
        let found = file.judge(&since.changes).map_err(|error| error.to_string())?;
        let queue = Queue::of(project, environment);
        let demand_tracker = DemandTracker::new(&project.root, queue, &session_owner.id, timestamp(self.now), None);
        let Some(demand) = rule.demand_for(&found) else { return Ok(0) };
        demand_tracker.acknowledge(&demand, &since.baseline_name, self.author_and_reason)
    }

    fn attribution(&self) -> Attribution {
        let SessionOwner { agent, id } = self.session_owner;
        Attribution {
            journal_path: self.project.journal_path(self.environment),
            options: store_options(self.config, self.now, None),
            agent: agent.clone(),
            session: id.clone(),
            home: self.environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
        }
    }

    fn session_state(&self) -> Result<SessionState, String> {
        let SessionOwner { agent, id } = self.session_owner;
        let options = store_options(self.config, self.now, None);
        let store = Store::open_read_only(&self.project.journal_path(self.environment), options);
        match store.and_then(|store| store.session(SessionKey { agent, session: id })) {
            // A person may answer before the first event of any agent.
            Err(StoreError::Missing { .. }) => Ok(SessionState::default()),
            state => state.map_err(|error| error.to_string()),
        }
    }
}
