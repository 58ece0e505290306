//! The event that is judged, what is stored of its session, and what is done once for it.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use engine::{Event, NotEnforced};
use policy::Held;
use store::SessionState;

use super::programs::Programs;
use crate::file_rules::{KeptBaselines, Ran};
use crate::project::Project;

/// An event that is being judged, and what is done for it once, however often it is judged.
pub(super) struct Occasion<'a> {
    pub(super) event: &'a Arc<Event>,
    /// Nothing was heard of the session before.
    pub(super) is_first: bool,
    /// The policies of folders below the root, once somebody has looked.
    pub(super) nested: OnceCell<Vec<(Project, Held)>>,
    /// How trees were, once somebody has looked.
    pub(super) kept: OnceCell<KeptBaselines>,
    pub(super) programs: Programs<'a>,
    pub(super) ran: Ran,
    /// What was put away of the queue because it could not be used.
    pub(super) damaged: RefCell<Vec<String>>,
    /// Whether a person let this very call through, once somebody has looked.
    pub(super) allowed: OnceCell<Option<NotEnforced>>,
    pub(super) more_time: &'a dyn Fn(Duration),
}

/// What is stored between events; none of what cannot be had.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) session: Option<&'a SessionState>,
    pub(super) workflow: Option<&'a SessionState>,
}
