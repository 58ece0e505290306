//! Who moves a workflow, where and when. The commands are methods of [`Moves`] in the files beside this one.

use std::sync::Arc;

use policy::Compiled;

use super::Outside;
use crate::Environment;
use crate::project::Project;
use crate::session::{SessionOwner, Stage};

pub struct Moves<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// The project's, as it was when the command began.
    pub policy: Arc<Compiled>,
    /// Milliseconds since 1970.
    pub now: i64,
    /// The session whose variables count.
    pub session: Option<SessionOwner>,
    /// The hat that is on, where it is about a run of a loop.
    pub stage: Option<Arc<Stage>>,
    /// Whether an agent makes the move.
    pub is_agents: bool,
    pub outside: Outside,
}
