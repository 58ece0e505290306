//! The event that is being judged, and results that are computed only once for an event, even if the event is judged
//! several times.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use engine::{Event, NotEnforced};
use policy::PinnedPolicy;
use store::StoredState;

use super::observer_programs::ObserverPrograms;
use crate::file_rules::{CommandResults, FileRulePreparation};
use crate::project::Project;

/// The event that is being judged, and what is needed to judge it.
pub(super) struct EventContext<'a> {
    pub(super) event: &'a Arc<Event>,
    /// True for the first event of the session.
    pub(super) is_first_event: bool,
    pub(super) observer_programs: ObserverPrograms<'a>,
    pub(super) once_per_event: OncePerEvent,
    /// Extends the deadline for git or for a rule's command.
    pub(super) extend_deadline: &'a dyn Fn(Duration),
}

/// The results of steps that are not repeated when the event is judged again.
#[derive(Default)]
pub(super) struct OncePerEvent {
    /// The policies of directories below the root.
    pub(super) nested_policies: OnceCell<Vec<(Project, PinnedPolicy)>>,
    pub(super) file_rule_preparation: OnceCell<FileRulePreparation>,
    pub(super) command_results: CommandResults,
    /// Notices about damaged files of the queue. The files were removed when the event was first judged.
    pub(super) damaged_queue_notices: RefCell<Vec<String>>,
    /// A person's allowance for this call, if there is one.
    pub(super) allowance: OnceCell<Option<NotEnforced>>,
}

/// The stored states of the session and the workflow. A field is `None` if this state could not be read.
#[derive(Clone, Copy)]
pub(super) struct StoredStates<'a> {
    pub(super) session: Option<&'a StoredState>,
    pub(super) workflow: Option<&'a StoredState>,
}
