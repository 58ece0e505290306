//! The context of commands that move a workflow. The commands are methods in the other files of this directory.

use std::sync::Arc;

use policy::CompiledPolicy;

use super::Outside;
use crate::Environment;
use crate::project::Project;
use crate::session::{SessionOwner, Stage};

pub struct Moves<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// The project's policy when the command began.
    pub policy: Arc<CompiledPolicy>,
    /// Milliseconds since 1970.
    pub now: i64,
    /// The session whose variables are used.
    pub session: Option<SessionOwner>,
    /// The current hat, in a run of a loop.
    pub stage: Option<Arc<Stage>>,
    /// True if an agent runs the command.
    pub is_agents: bool,
    pub outside: Outside,
}
