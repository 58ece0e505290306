//! The policy of one session: the project's, without weakenings that were made during the session.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Event;
use policy::{CompiledPolicy, Config, PinnedPolicy, PolicyMode, SessionPin, Weakening};

use super::root;
use crate::Environment;
use crate::grants::AcceptedWeakenings;
use crate::project::Project;

/// The policy by which an event is judged. Pins the session to this policy, unless the event is a dry run.
pub fn pin_for_event(project: &Project, event: &Event, environment: &Environment) -> PinnedPolicy {
    // A dry run does not update the cache of the policy: the next real event must still notice that the policy is new.
    let policy = if event.is_dry_run {
        project.compiled_policy_read_only(environment)
    } else {
        project.compiled_policy(environment)
    };
    // Without a session id, there is no session to pin.
    if event.session.is_empty() {
        return PinnedPolicy { policy, new_weakenings: Vec::new() };
    }
    let path = pin_path(project, &event.agent, &event.session, environment);
    let accepted = AcceptedWeakenings::of(&project.root, environment);
    let cache = project.cache_path(environment);
    let pin = SessionPin { path: &path, cache: &cache, now: event.time, is_saved: !event.is_dry_run };
    pin.pin_policy(policy, |change, since| accepted.includes(change, since))
}

/// The configuration by which an event is judged. Writes nothing.
pub fn config_read_only(project: &Project, event: &Event, environment: &Environment) -> Arc<Config> {
    let mut config = project.compiled_policy_read_only(environment).config;
    let enforced = policy::enforced_since(&pin_path(project, &event.agent, &event.session, environment));
    let accepted = AcceptedWeakenings::of(&project.root, environment);
    if enforced.is_some_and(|since| !accepted.includes(&Weakening::mode_to_observe(), since)) {
        Arc::make_mut(&mut config).mode = PolicyMode::Enforce;
    }
    config
}

/// True if an event of the session was judged by this project's policy before.
pub fn has_pin(project: &Project, event: &Event, environment: &Environment) -> bool {
    pin_path(project, &event.agent, &event.session, environment).exists()
}

/// Weakenings that do not apply to a session, including those made since its last event.
pub fn weakenings_ignored_by_session(
    project: &Project,
    policy: &CompiledPolicy,
    agent: &str,
    session: &str,
    environment: &Environment,
) -> Vec<Weakening> {
    ignored_by_pin(&pin_path(project, agent, session, environment), project, policy, environment)
}

/// Weakenings of the policy that at least one session of the project ignores, sorted by rule id.
pub fn weakenings_ignored_by_any_session(
    project: &Project,
    policy: &CompiledPolicy,
    environment: &Environment,
) -> Vec<Weakening> {
    let entries = fs::read_dir(pins_directory(project, environment)).into_iter().flatten().filter_map(Result::ok);
    let mut ignored: Vec<Weakening> =
        entries.flat_map(|entry| ignored_by_pin(&entry.path(), project, policy, environment)).collect();
    ignored.sort_by(|a, b| (&a.rule, &a.from, &a.to).cmp(&(&b.rule, &b.from, &b.to)));
    ignored.dedup();
    ignored
}

/// Weakenings that do not apply to the session with this pin.
fn ignored_by_pin(
    path: &Path,
    project: &Project,
    policy: &CompiledPolicy,
    environment: &Environment,
) -> Vec<Weakening> {
    let accepted = AcceptedWeakenings::of(&project.root, environment);
    let pin = SessionPin { path, cache: &project.cache_path(environment), now: 0, is_saved: false };
    let ignored = pin.ignored_weakenings(policy, |change, since| accepted.includes(change, since));
    ignored.into_iter().map(|ignored| ignored.weakening).collect()
}

/// The notice that a weakening does not apply. `directory` is the policy's directory, relative to the session's root.
pub fn ignored_weakening_notice(change: &Weakening, directory: &Path) -> String {
    let place = if directory.as_os_str().is_empty() { String::new() } else { format!(" in {}", directory.display()) };
    format!(
        "{} during this session; the stricter version stays in force until a person runs `linchpin trust`{place}",
        change.describe()
    )
}

/// The directory with the pins of all sessions of a project.
fn pins_directory(project: &Project, environment: &Environment) -> PathBuf {
    environment.project_state(&project.root).join("sessions")
}

fn pin_path(project: &Project, agent: &str, session: &str, environment: &Environment) -> PathBuf {
    pins_directory(project, environment).join(root::session_file_name(agent, session))
}
