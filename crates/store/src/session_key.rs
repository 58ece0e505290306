//! The keys under which state is kept: of sessions, of the workflow, of runs and of phases.

/// Which session: the ids of two agents may coincide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionKey<'a> {
    pub agent: &'a str,
    pub session: &'a str,
}

/// The agent of keys that belong to the workflow of a project and to runs of a loop.
pub(crate) const WORKFLOW_AGENT: &str = "workflow";
/// Stands before the number of a run, in the name of its state. (Phases have names that begin otherwise.)
pub(crate) const RUN_PREFIX: &str = "run:";

/// The name under which the state of the workflow is kept, or that of a run.
pub(crate) fn stage_name(run: Option<u64>) -> String {
    run.map_or_else(String::new, |run| format!("{RUN_PREFIX}{run}"))
}

/// The key under which the counts of a phase are kept.
pub fn phase_key(phase: &str) -> SessionKey<'_> {
    SessionKey { agent: WORKFLOW_AGENT, session: phase }
}
