//! The root of an agent's session, fixed at its first event.
//!
//! An agent must not be able to change its root: not with `cd`, not by creating a policy in a subdirectory, not by
//! checking out a branch without a policy. So the root is fixed at the first event and stored in the user's state
//! directory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::Event;
use policy::PolicyFolder;

use crate::project::{Project, outermost_root};
use crate::{Environment, file_limit};

pub struct SessionRoot {
    pub project: Project,
    /// True for the session's first event, as far as is known.
    pub is_first: bool,
}

/// The root of the event's session. At the session's first event, fixes it by storing it.
/// `start` is the directory of the session, if the agent's environment variables name it.
pub fn fix_for_event(event: &Event, start: Option<&str>, environment: &Environment) -> SessionRoot {
    // An event without a session id has no session whose root could be stored.
    let has_session = !event.session.is_empty();
    if has_session && let Some(project) = stored_root(&event.agent, &event.session, environment) {
        return SessionRoot { project, is_first: false };
    }
    let from_event = event.session_folders.iter().map(String::as_str).chain([event.cwd.as_str()]);
    let start_folders = start.into_iter().chain(from_event).map(Path::new).filter(|folder| folder.is_absolute());
    // Symlinks are resolved, so that another spelling of a path cannot evade the rules. A deleted directory is replaced
    // by its nearest existing ancestor. If no directory is given, the working directory of the process is used.
    let real = |folder: &Path| folder.ancestors().find_map(|folder| folder.canonicalize().ok());
    let mut real_folders = start_folders.filter_map(real);
    let start = real_folders.next().unwrap_or_else(|| environment.cwd.clone());
    let mut root = outermost_root(&start);
    let mut project = Project::at(root.as_deref().unwrap_or(&start), environment);
    // If the session starts outside of any project, or in several folders, its root is the first project among them.
    if !project.has_policy()
        && let Some(first) = real_folders.filter(|folder| *folder != start).find_map(|folder| outermost_root(&folder))
    {
        project = Project::at(&first, environment);
        root = Some(first);
    }
    // Without a policy there is no root to protect.
    if has_session && !event.is_dry_run && project.has_policy() && !file_limit::is_too_low_after_raising() {
        store_root(&root_file(&event.agent, &event.session, environment), &project.root, root.is_some());
    }
    SessionRoot { project, is_first: true }
}

/// The root that was fixed at the session's first event.
pub fn stored_root(agent: &str, session: &str, environment: &Environment) -> Option<Project> {
    let (root, had_policy) = read_root(&root_file(agent, session, environment))?;
    let mut project = Project::at(&root, environment);
    if had_policy && project.tiers.project.is_none() {
        // The policy was deleted meanwhile. Its last compiled form still applies.
        project.tiers.project = Some(PolicyFolder::of_project(&root));
    }
    Some(project)
}

/// The file that stores the root of a session.
fn root_file(agent: &str, session: &str, environment: &Environment) -> PathBuf {
    environment.state.join("sessions").join(digest(agent, session))
}

/// The name of the files that store information about a session.
pub fn digest(agent: &str, session: &str) -> String {
    policy::digest(format!("{agent}\0{session}"))
}

/// Prefix of the file's text. Its length is fixed, so that any path can follow.
const WITH_POLICY: &[u8] = b"policy ";
const WITHOUT_POLICY: &[u8] = b"bare   ";

fn read_root(root_file: &Path) -> Option<(PathBuf, bool)> {
    let bytes = fs::read(root_file).ok()?;
    let had_policy = bytes.starts_with(WITH_POLICY);
    let root = path_of(bytes.get(WITH_POLICY.len()..)?)?;
    root.is_absolute().then_some((root, had_policy))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path is text")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Writes atomically and only once: of two concurrent first events, one wins. If writing fails, every event determines
/// its root again.
fn store_root(root_file: &Path, root: &Path, has_policy: bool) {
    let Some(folder) = root_file.parent() else { return };
    let result = policy::create_private_folder(folder).and_then(|()| {
        policy::delete_old_files(folder);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(if has_policy { WITH_POLICY } else { WITHOUT_POLICY })?;
        file.write_all(root.as_os_str().as_encoded_bytes())?;
        file.persist_noclobber(root_file).map_err(|error| error.error)
    });
    drop(result);
}

/// The project of a command that both people and agents may run: the root of the session that runs it; if there is
/// none, the project to which sessions in this directory belong.
pub fn project_of_command(environment: &Environment) -> Project {
    let running = agents::environment::session(|name| environment.get(name));
    running
        .and_then(|(agent, session)| stored_root(agent.name(), &session, environment))
        .unwrap_or_else(|| Project::of_sessions(environment))
}

#[cfg(test)]
mod tests;
