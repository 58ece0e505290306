//! The policy that counts for one session: the project's, with what a change during the session would take away.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Event;
use policy::{Config, Held, Holding, Kept, Mode, Weakened};

use crate::acceptance::Acceptance;
use crate::environment::Environment;
use crate::project::Project;
use crate::session_root;

/// The policy that an event is judged by.
pub fn of_event(project: &Project, event: &Event, environment: &Environment) -> Held {
    // A dry run leaves the cache alone too: whoever judges next is to learn that a policy is new.
    let policy = if event.is_dry_run { project.looked_at(environment) } else { project.compiled(environment) };
    // An event that does not say whose it is has no session that remembers.
    if event.session.is_empty() {
        return Held { policy, news: Vec::new() };
    }
    let pin = pin(project, &event.agent, &event.session, environment);
    let acceptance = Acceptance::of(&project.root, environment);
    let cache = project.cache(environment);
    let holding = Holding { pin: &pin, cache: &cache, now: event.time, is_kept: !event.is_dry_run };
    holding.hold(policy, |change, since| acceptance.includes(change, since))
}

/// The configuration that counts for an event, where nothing may be written.
pub fn config_looked_at(project: &Project, event: &Event, environment: &Environment) -> Arc<Config> {
    let mut config = project.looked_at(environment).config;
    let enforced = policy::enforced_since(&pin(project, &event.agent, &event.session, environment));
    let acceptance = Acceptance::of(&project.root, environment);
    if enforced.is_some_and(|since| !acceptance.includes(&Weakened::observing(), since)) {
        Arc::make_mut(&mut config).mode = Mode::Enforce;
    }
    config
}

/// Whether a session was ever judged by this project's policy.
pub fn knows(project: &Project, event: &Event, environment: &Environment) -> bool {
    pin(project, &event.agent, &event.session, environment).exists()
}

/// What a session keeps.
pub fn kept(project: &Project, agent: &str, session: &str, environment: &Environment) -> Vec<Kept> {
    let acceptance = Acceptance::of(&project.root, environment);
    let mut kept = policy::kept(&pin(project, agent, session, environment));
    // What a person has accepted since ends with the next event.
    kept.retain(|kept| !acceptance.includes(&kept.change, kept.since));
    kept
}

/// What any session of the project keeps.
pub fn kept_by_any(project: &Project, environment: &Environment) -> Vec<Kept> {
    let pins = fs::read_dir(pins(project, environment)).into_iter().flatten();
    let mut kept: Vec<Kept> = pins.filter_map(Result::ok).flat_map(|pin| policy::kept(&pin.path())).collect();
    kept.sort_by(|a, b| a.change.rule.cmp(&b.change.rule));
    kept
}

/// `folder`: where the policy lies, below the session's root.
pub fn kept_notice(change: &Weakened, folder: &Path) -> String {
    let there = if folder.as_os_str().is_empty() { String::new() } else { format!(" in {}", folder.display()) };
    format!("{} during this session; it stays as it was until a person runs `linchpin trust`{there}", change.what())
}

fn pins(project: &Project, environment: &Environment) -> PathBuf {
    environment.project_state(&project.root).join("sessions")
}

fn pin(project: &Project, agent: &str, session: &str, environment: &Environment) -> PathBuf {
    pins(project, environment).join(session_root::digest(agent, session))
}
