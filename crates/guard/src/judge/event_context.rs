//! The event that is being judged, and results that are computed once even if it is judged several times.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use engine::{Event, NotEnforced};
use policy::PinnedPolicy;
use store::SessionState;

use super::observer_programs::ObserverPrograms;
use crate::file_rules::{CommandResults, FileRulePreparation};
use crate::project::Project;

/// An event that is being judged.
pub(super) struct EventContext<'a> {
    pub(super) event: &'a Arc<Event>,
    /// True for the first event of the session.
    pub(super) is_first: bool,
    pub(super) observer_programs: ObserverPrograms<'a>,
    pub(super) once_per_event: OncePerEvent,
    /// Extends the deadline for git or for a rule's command.
    pub(super) extend_deadline: &'a dyn Fn(Duration),
}

/// Results of steps that are not repeated if the event is judged again.
#[derive(Default)]
pub(super) struct OncePerEvent {
    /// The policies of directories below the root.
    pub(super) nested_policies: OnceCell<Vec<(Project, PinnedPolicy)>>,
    pub(super) file_rule_preparation: OnceCell<FileRulePreparation>,
    pub(super) command_results: CommandResults,
    /// Notices about damaged queue files, which were discarded.
    pub(super) damaged_queue_notices: RefCell<Vec<String>>,
    /// A person's allowance for this call, if there is one.
    pub(super) allowance: OnceCell<Option<NotEnforced>>,
}

/// The stored state. A field is `None` if it could not be read.
#[derive(Clone, Copy)]
pub(super) struct StoredStates<'a> {
    pub(super) session: Option<&'a SessionState>,
    pub(super) workflow: Option<&'a SessionState>,
}
