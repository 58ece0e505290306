//! The root of an agent's session.
//!
//! An agent must not be able to change its root: not with `cd`, not by creating a policy in a subdirectory, and not by
//! checking out a branch without a policy. So the root is determined at the session's first event and, if a policy
//! applies there, stored in the user's state directory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::Event;
use policy::PolicyFolder;

use crate::project::{Project, outermost_root};
use crate::{Environment, file_size_limit};

/// The root of a session.
pub struct SessionRoot {
    pub project: Project,
    /// True if no root was stored for the session yet, so that the event counts as its first.
    pub is_first_event: bool,
}

/// The root of the event's session. If none is stored yet, determines the root, and stores it if a policy applies.
/// `session_directory` is the session's directory, if the agent's environment variables name it.
pub fn pin_root(event: &Event, session_directory: Option<&str>, environment: &Environment) -> SessionRoot {
    // An event without a session id has no session whose root could be stored.
    let has_session = !event.session.is_empty();
    if has_session && let Some(project) = stored_root(&event.agent, &event.session, environment) {
        return SessionRoot { project, is_first_event: false };
    }
    let from_event = event.session_directories.iter().map(String::as_str).chain([event.cwd.as_str()]);
    let start_directories =
        session_directory.into_iter().chain(from_event).map(Path::new).filter(|directory| directory.is_absolute());
    // Symlinks are resolved, so that rules cannot be evaded by another spelling of a path. A deleted directory is
    // replaced by its nearest existing ancestor. If no directory is known, the working directory of the process is
    // used.
    let real = |directory: &Path| directory.ancestors().find_map(|directory| directory.canonicalize().ok());
    let mut real_directories = start_directories.filter_map(real);
    let start = real_directories.next().unwrap_or_else(|| environment.cwd.clone());
    let mut root = outermost_root(&start);
    let mut project = Project::at(root.as_deref().unwrap_or(&start), environment);
    // If no policy applies in the first of these directories, the root is determined by the next one that is in a
    // project.
    if !project.has_policy()
        && let Some(first) =
            real_directories.filter(|directory| *directory != start).find_map(|directory| outermost_root(&directory))
    {
        project = Project::at(&first, environment);
        root = Some(first);
    }
    // Without a policy there is no root to protect.
    if has_session && !event.is_dry_run && project.has_policy() && !file_size_limit::is_too_low_after_raising() {
        store_root(&root_file(&event.agent, &event.session, environment), &project.root, root.is_some());
    }
    SessionRoot { project, is_first_event: true }
}

/// The root that was stored at the session's first event.
pub fn stored_root(agent: &str, session: &str, environment: &Environment) -> Option<Project> {
    let (root, had_project_policy) = read_root(&root_file(agent, session, environment))?;
    let mut project = Project::at(&root, environment);
    if had_project_policy && project.tiers.project.is_none() {
        // The project's policy was deleted after the session began. Its last compiled form still applies.
        project.tiers.project = Some(PolicyFolder::of_project(&root));
    }
    Some(project)
}

/// The file that stores the root of a session.
fn root_file(agent: &str, session: &str, environment: &Environment) -> PathBuf {
    environment.state.join("sessions").join(session_file_name(agent, session))
}

/// The name of the files that store something about a session.
pub fn session_file_name(agent: &str, session: &str) -> String {
    policy::digest(format!("{agent}\0{session}"))
}

/// Prefixes of the stored root. The path follows.
const WITH_POLICY: &[u8] = b"policy ";
/// Must be as long as [`WITH_POLICY`].
const WITHOUT_POLICY: &[u8] = b"bare   ";

/// The stored root, and whether the project had a policy of its own.
fn read_root(root_file: &Path) -> Option<(PathBuf, bool)> {
    let bytes = fs::read(root_file).ok()?;
    let had_project_policy = bytes.starts_with(WITH_POLICY);
    let root = path_of(bytes.get(WITH_POLICY.len()..)?)?;
    root.is_absolute().then_some((root, had_project_policy))
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

/// Stores the root atomically, unless one is stored already: of two concurrent first events, one wins. If the write
/// fails, the next event determines the root again.
fn store_root(root_file: &Path, root: &Path, has_project_policy: bool) {
    let Some(directory) = root_file.parent() else { return };
    let result = policy::create_private_directory(directory).and_then(|()| {
        policy::delete_old_files_daily(directory);
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(if has_project_policy { WITH_POLICY } else { WITHOUT_POLICY })?;
        file.write_all(root.as_os_str().as_encoded_bytes())?;
        file.persist_noclobber(root_file).map_err(|error| error.error)
    });
    drop(result);
}

/// The project of a command that both people and agents may run: the root of the session that the environment variables
/// name; if there is none, [`Project::of_sessions`].
pub fn project_of_command(environment: &Environment) -> Project {
    let running = agents::environment::session(|name| environment.get(name));
    running
        .and_then(|(agent, session)| stored_root(agent.name(), &session, environment))
        .unwrap_or_else(|| Project::of_sessions(environment))
}

#[cfg(test)]
mod tests;
