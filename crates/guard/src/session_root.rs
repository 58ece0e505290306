//! The root of an agent's session, fixed at its first event.
//!
//! An agent must not be able to move its own guard: not with `cd`, not by making a policy folder nearer to itself, not
//! by checking out a branch that has none. So the first event decides, and the user's own folder remembers.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::Event;
use policy::PolicyFolder;

use crate::environment::Environment;
use crate::project::{self, Project};

pub struct SessionRoot {
    pub project: Project,
    /// This is the session's first event, as far as anybody remembers.
    pub is_first: bool,
}

/// `start` is the folder that the agent itself gives as its session's, where it gives one.
pub fn of_event(event: &Event, start: Option<&str>, environment: &Environment) -> SessionRoot {
    let memory = environment.state.join("sessions").join(policy::digest(format!("{}\0{}", event.agent, event.session)));
    // An event that does not say whose it is has no session to remember.
    let known = !event.session.is_empty();
    if let Some(root) = known.then(|| read(&memory)).flatten() {
        let mut project = Project::at(&root, environment);
        if project.tiers.project.is_none() {
            // It had a policy folder once: what was last compiled from it still counts.
            project.tiers.project = Some(PolicyFolder::of_project(&root));
        }
        return SessionRoot { project, is_first: false };
    }
    let start = start.map(Path::new).filter(|start| start.is_dir());
    let start = start.unwrap_or(if event.cwd.is_empty() { &environment.cwd } else { Path::new(&event.cwd) });
    let root = project::nearest_root(start);
    let project = Project::at(root.as_deref().unwrap_or(start), environment);
    // Only a project with a policy has something to be moved away from.
    if known && root.is_some() {
        remember(&memory, &project.root);
    }
    SessionRoot { project, is_first: true }
}

fn read(memory: &Path) -> Option<PathBuf> {
    let root = fs::read_to_string(memory).ok()?;
    let root = PathBuf::from(root.strip_suffix('\n')?);
    root.is_absolute().then_some(root)
}

/// Whole or not at all, and only once: of two first events at the same time, one wins. Where nothing can be written,
/// every event finds its root anew.
fn remember(memory: &Path, root: &Path) {
    let Some(folder) = memory.parent() else { return };
    let written = project::create_private_folder(folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(file, "{}", root.display())?;
        file.persist_noclobber(memory).map_err(|error| error.error)
    });
    drop(written);
}
