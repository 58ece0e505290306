//! Answering for what a file rule asks of a session, by hand.

use engine::file_rules::{Attribute, Baseline, Reach};
use engine::rules::Rule;
use policy::Config;

use super::attribution::Attribution;
use super::changed::Changed;
use super::prompt_baseline::{PromptBaseline, timestamp};
use super::session_start::SessionStart;
use super::settlement::Settlement;
use crate::environment::Environment;
use crate::judge::STORE_PATIENCE;
use crate::loops::Stage;
use crate::project::Project;
use crate::whose_session::Whose;

/// Settles all that is open of a file rule in a session; how many files that were. `how`: for people, who did it and why.
pub fn acknowledge(
    rule: &Rule,
    project: &Project,
    config: &Config,
    whose: &Whose,
    how: &str,
    now: i64,
    environment: &Environment,
) -> Result<usize, String> {
    let Some(file) = rule.as_file_rule() else { return Ok(0) };
    let options = store::Options { busy: config.deadline.mul_f64(STORE_PATIENCE), now, run: None };
    let store = project.store(environment);
    let key = store::SessionKey { agent: &whose.agent, session: &whose.session };
    let state = store::Store::open_existing_read(&store, options).and_then(|store| store.session(key));
    let state = match state {
        // A person can answer before any agent was heard of.
        Err(store::StoreError::Missing { .. }) => store::SessionState::default(),
        state => state.map_err(|error| error.to_string())?,
    };
    let tmp = project.tmp(environment);
    let start = SessionStart::of(&state.variables);
    let attribution = Attribution {
        store,
        options,
        agent: whose.agent.clone(),
        session: whose.session.clone(),
        home: environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
        began: start.as_ref().and_then(SessionStart::began),
    };
    let prompt = PromptBaseline::last(&state.variables);
    let prompt = prompt.map(|time| PromptBaseline::new(&tmp, &whose.session, time));
    let settlement = Settlement::new(&project.root, project.queue(environment), &whose.session, timestamp(now), None);
    let settle = |start: Option<SessionStart>, prompt: Option<PromptBaseline>, reach: Reach| {
        let changed = Changed::new(&project.root, config.default_branch.clone(), start, prompt, attribution.clone());
        let since = changed.since(reach).ok_or("git does not say what changed")?;
        let found = file.judge(&since.changes).map_err(|error| error.to_string())?;
        settlement.acknowledge(rule, &found, &since.reference, how)
    };
    let of_session = settle(start.clone(), prompt, file.reach)?;
    // `check` knows nothing of sessions: a commit moves its baseline, and answers to the session's do not count there.
    let of_check = match start {
        Some(_) => settle(None, None, Reach { attribute: Attribute::Tree, ..file.reach })?,
        None => 0,
    };
    // Gates of a loop look at what changed since the hat was put on.
    let of_gate = match Stage::of_process(project, environment).and_then(|stage| stage.kept_tree()) {
        Some((name, time)) => {
            let kept = PromptBaseline::new(&tmp, &name, time);
            settle(start, Some(kept), Reach { compare_to: Baseline::Prompt, ..file.reach })?
        }
        None => 0,
    };
    Ok(of_session.max(of_check).max(of_gate))
}
