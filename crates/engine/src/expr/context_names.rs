//! Names that are available in every expression, and their fields.

pub(super) const EVENT_FIELDS: &[&str] = &[
    "kind", "agent", "session", "tool", "input", "output", "outcome", "command", "commands", "paths", "prompt",
    "message", "cwd", "time",
];
pub(super) const FILES_FIELDS: &[&str] = &["changed", "created", "deleted"];
pub(super) const GIT_FIELDS: &[&str] = &["branch", "default_branch", "head", "dirty"];
pub(super) const WORKFLOW_FIELDS: &[&str] = &["name", "node", "history", "active"];
pub(super) const TASKS_FIELDS: &[&str] = &["open", "ready", "in_progress", "closed", "failed", "claimed"];
pub(super) const PHASE_FIELDS: &[&str] = &["name", "visit", "elapsed", "tokens", "commands", "edits", "commits"];

pub(super) const LOOP_FIELDS: &[&str] =
    &["hat", "iteration", "topics", "elapsed", "tokens", "active", "handed_over", "unfinished", "waits_for"];

/// A name that is available in every expression. Variables cannot shadow this name.
pub(super) struct ContextName {
    pub(super) name: &'static str,
    pub(super) fields: Fields,
}

pub(super) enum Fields {
    Fixed(&'static [&'static str]),
    /// Any field name is accepted, because the value is either a string or the input of a tool call, whose fields are
    /// not known.
    Any,
    /// The fields are the declared variables.
    Variables,
    /// Only the listed fields are accepted. These fields have values only while a workflow is active.
    OfWorkflow(&'static [&'static str]),
    /// The fields are the claims of the workflow. In a workflow, only transitions, `requires`, `on_enter` and `on_exit`
    /// can use them.
    Claims,
}

pub(super) const CONTEXT: &[ContextName] = &[
    ContextName { name: "event", fields: Fields::Fixed(EVENT_FIELDS) },
    ContextName { name: "tool_name", fields: Fields::Any },
    ContextName { name: "tool_input", fields: Fields::Any },
    ContextName { name: "source", fields: Fields::Any },
    ContextName { name: "variables", fields: Fields::Variables },
    ContextName { name: "git", fields: Fields::Fixed(GIT_FIELDS) },
    ContextName { name: "workflow", fields: Fields::OfWorkflow(WORKFLOW_FIELDS) },
    ContextName { name: "phase", fields: Fields::OfWorkflow(PHASE_FIELDS) },
    ContextName { name: "claims", fields: Fields::Claims },
    ContextName { name: "files", fields: Fields::Fixed(FILES_FIELDS) },
    ContextName { name: "loop", fields: Fields::Fixed(LOOP_FIELDS) },
    ContextName { name: "tasks", fields: Fields::Fixed(TASKS_FIELDS) },
];

pub(super) fn context_name(name: &str) -> Option<&'static ContextName> {
    CONTEXT.iter().find(|context| context.name == name)
}

pub(super) fn is_context(name: &str) -> bool {
    context_name(name).is_some()
}
