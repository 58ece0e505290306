//! The environment variables that agents set for the commands they run. They show that an agent runs a command, and in
//! which session.
//!
//! Callers pass a function for the lookup, so nothing here depends on the environment of this process.

use crate::Agent;

/// The environment variables of one agent.
pub(crate) struct AgentVariables {
    /// If any of these is set, the agent runs the command.
    pub marks: &'static [&'static str],
    /// The first of these that is set has the session id.
    pub session: &'static [&'static str],
    /// In the environment of hooks: the directory in which the session was started.
    pub project_dir: Option<&'static str>,
}

/// Set by several agents to their name. It shows that some agent runs the command.
pub const ANY_AGENT: &str = "AI_AGENT";

/// Set for every agent that a run of the loop starts.
pub const IN_RUN: &str = "LINCHPIN_RUN";

/// Returns every variable that shows that an agent runs a command.
pub fn agent_variables() -> impl Iterator<Item = &'static str> {
    Agent::ALL.into_iter().flat_map(|agent| agent.adapter().environment.marks).copied().chain([ANY_AGENT, IN_RUN])
}

/// Returns the first variable that shows that an agent runs this command.
pub fn detected_variable(lookup: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    agent_variables().find(|name| lookup(name).is_some_and(|value| !value.is_empty()))
}

/// Returns the agent and the session id of this command.
pub fn session(lookup: impl Fn(&str) -> Option<String>) -> Option<(Agent, String)> {
    Agent::ALL.into_iter().find_map(|agent| {
        let names = agent.adapter().environment.session;
        let id = names.iter().find_map(|name| lookup(name).filter(|value| !value.is_empty()))?;
        Some((agent, id))
    })
}

/// Returns the agent that calls a hook. Cursor and Copilot also run the hooks that are installed for Claude Code; their
/// variables tell them apart.
pub fn calling_agent(installed_for: Agent, lookup: impl Fn(&str) -> Option<String>) -> Agent {
    let others = [Agent::Cursor, Agent::Copilot].into_iter().filter(|_| installed_for == Agent::Claude);
    others.into_iter().find(|agent| project_dir(*agent, &lookup).is_some()).unwrap_or(installed_for)
}

/// Returns the session's directory from the environment of a hook, if the agent sets it.
pub fn project_dir(agent: Agent, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
    lookup(agent.adapter().environment.project_dir?).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
