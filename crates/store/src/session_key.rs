//! The keys under which state is stored: sessions, the workflow, runs and phases.

/// Identifies a session. Session ids are unique only per agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionKey<'a> {
    pub agent: &'a str,
    pub session: &'a str,
}

/// The agent in the keys of workflows, runs and phases.
pub(crate) const WORKFLOW_AGENT: &str = "workflow";
/// The prefix of a run's number in the run's key. No phase has a name with this prefix.
pub(crate) const RUN_PREFIX: &str = "run:";

/// Returns the session name under which the state of a run's hat or, without a run, of the project's workflow is
/// stored.
pub(crate) fn workflow_session_name(run: Option<u64>) -> String {
    run.map_or_else(String::new, |run| format!("{RUN_PREFIX}{run}"))
}

/// Returns the key under which the counts of a phase are stored.
pub fn phase_key(phase: &str) -> SessionKey<'_> {
    SessionKey { agent: WORKFLOW_AGENT, session: phase }
}
