//! The context of commands that move a workflow. The commands are methods in the other files of this directory.

use std::sync::Arc;

use policy::CompiledPolicy;

use super::GateRunners;
use crate::Environment;
use crate::project::Project;
use crate::session::{HatPhase, SessionOwner};

pub struct WorkflowCommands<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// The project's policy when the command began.
    pub policy: Arc<CompiledPolicy>,
    /// Milliseconds since 1970.
    pub now: i64,
    /// The session whose variables are used.
    pub session_owner: Option<SessionOwner>,
    /// The current hat, in a run of a loop.
    pub hat_phase: Option<Arc<HatPhase>>,
    /// True if an agent runs the command.
    pub is_by_agent: bool,
    pub gate_runners: GateRunners,
}
