//! `linchpin ack`: answers the demands of a file rule by hand.

use engine::file_rules::{AttributionMode, Baseline, ChangeScope};
use engine::rules::Rule;
use policy::Config;
use store::{SessionKey, SessionState, Store, StoreError};

use super::attribution::Attribution;
use super::demand_tracker::DemandTracker;
use super::prompt_baseline::{PromptBaseline, timestamp};
use super::queue::Queue;
use super::session_baseline::SessionBaseline;
use super::session_changes::SessionChanges;
use crate::Environment;
use crate::project::{Project, store_options};
use crate::session::SessionOwner;

/// An answer that a person or an agent gives with `ack`.
pub struct ManualAnswer<'a> {
    pub project: &'a Project,
    pub config: &'a Config,
    pub session: &'a SessionOwner,
    /// The name and time of the tree snapshot that was taken when the hat was put on; `None` outside of runs.
    pub hat_snapshot: Option<(String, i64)>,
    /// The author and the reason of the answer, for the queue entry.
    pub how: &'a str,
    /// Milliseconds since 1970.
    pub now: i64,
    pub environment: &'a Environment,
}

impl ManualAnswer<'_> {
    /// Answers all open demands of a file rule in the session, and returns the number of files.
    pub fn answer(&self, rule: &Rule) -> Result<usize, String> {
        let Some(file) = rule.as_file_rule() else { return Ok(0) };
        let state = self.state()?;
        let tmp = self.project.tmp(self.environment);
        let start = SessionBaseline::of(&state.variables);
        let prompt = PromptBaseline::last(&state.variables);
        let prompt = prompt.map(|time| PromptBaseline::new(&tmp, &self.session.session, time));
        let of_session = self.answer_since(rule, start.clone(), prompt, file.scope)?;
        // `check` has no session, so its baseline moves with each commit. Answers for the session's baseline do not
        // count there.
        let of_check = match start {
            Some(_) => {
                self.answer_since(rule, None, None, ChangeScope { attribute: AttributionMode::Tree, ..file.scope })?
            }
            None => 0,
        };
        // Gates of a loop compare with the tree from before the hat was put on.
        let of_gate = match &self.hat_snapshot {
            Some((name, time)) => {
                let kept = PromptBaseline::new(&tmp, name, *time);
                self.answer_since(rule, start, Some(kept), ChangeScope { compare_to: Baseline::Prompt, ..file.scope })?
            }
            None => 0,
        };
        Ok(of_session.max(of_check).max(of_gate))
    }

    fn answer_since(
        &self,
        rule: &Rule,
        start: Option<SessionBaseline>,
        prompt: Option<PromptBaseline>,
        change_scope: ChangeScope,
    ) -> Result<usize, String> {
        let Some(file) = rule.as_file_rule() else { return Ok(0) };
        let Self { project, environment, session, .. } = self;
        let attribution = self.attribution(start.as_ref());
        let default_branch = self.config.branches.default.clone();
        let changes = SessionChanges::new(&project.root, default_branch, start, prompt, attribution);
        let since = changes.since(change_scope).ok_or("git cannot list what changed")?;
        let found = file.judge(&since.changes).map_err(|error| error.to_string())?;
        let queue = Queue::of(project, environment);
        let demand_tracker = DemandTracker::new(&project.root, queue, &session.session, timestamp(self.now), None);
        let Some(demand) = rule.as_unmet(&found) else { return Ok(0) };
        demand_tracker.acknowledge(&demand, &since.baseline_name, self.how)
    }

    fn attribution(&self, start: Option<&SessionBaseline>) -> Attribution {
        let SessionOwner { agent, session } = self.session;
        Attribution {
            journal_path: self.project.journal_path(self.environment),
            options: store_options(self.config, self.now, None),
            agent: agent.clone(),
            session: session.clone(),
            home: self.environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
            began: start.and_then(SessionBaseline::began),
        }
    }

    fn state(&self) -> Result<SessionState, String> {
        let SessionOwner { agent, session } = self.session;
        let options = store_options(self.config, self.now, None);
        let store = Store::open_existing_read(&self.project.journal_path(self.environment), options);
        match store.and_then(|store| store.session(SessionKey { agent, session })) {
            // A person may answer before the first event of any agent.
            Err(StoreError::Missing { .. }) => Ok(SessionState::default()),
            state => state.map_err(|error| error.to_string()),
        }
    }
}
