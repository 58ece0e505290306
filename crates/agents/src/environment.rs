//! The environment variables that agents set for the commands they run. These variables show which agent runs a
//! command, and in which session.
//!
//! Callers pass a function that looks up a variable. This module does not read the environment of its own process.

use crate::Agent;

/// The environment variables of one agent.
pub(crate) struct AgentVariables {
    /// If any of these variables is set in the environment of a command, this agent runs the command.
    pub detection_variables: &'static [&'static str],
    /// The first of these variables that is set contains the session id.
    pub session: &'static [&'static str],
    /// The variable that contains the directory in which the session was started. The agent sets it for hooks.
    pub project_dir: Option<&'static str>,
}

/// The variable that several agents set to their name.
pub const ANY_AGENT: &str = "AI_AGENT";

/// The variable that is set for every agent that a run of a loop starts.
pub const IN_RUN: &str = "LINCHPIN_RUN";

/// Returns every variable that shows that an agent runs a command.
pub fn agent_variables() -> impl Iterator<Item = &'static str> {
    Agent::ALL
        .into_iter()
        .flat_map(|agent| agent.adapter().environment.detection_variables)
        .copied()
        .chain([ANY_AGENT, IN_RUN])
}

/// Returns the first of the [`agent_variables`] that is set and not empty. Such a variable shows that an agent runs
/// this command.
pub fn detected_variable(lookup: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    agent_variables().find(|name| lookup(name).is_some_and(|value| !value.is_empty()))
}

/// Returns the agent that runs this command, and the id of its session; `None` if no variable contains a session id.
pub fn session(lookup: impl Fn(&str) -> Option<String>) -> Option<(Agent, String)> {
    Agent::ALL.into_iter().find_map(|agent| {
        let names = agent.adapter().environment.session;
        let id = names.iter().find_map(|name| lookup(name).filter(|value| !value.is_empty()))?;
        Some((agent, id))
    })
}

/// Returns the agent that calls a hook. `installed_for`: the agent that the hook's command line names. Cursor and
/// Copilot also run the hooks of Claude Code's settings; each of the two sets a variable for hooks by which it is
/// recognized.
pub fn calling_agent(installed_for: Agent, lookup: impl Fn(&str) -> Option<String>) -> Agent {
    let others = [Agent::Cursor, Agent::Copilot].into_iter().filter(|_| installed_for == Agent::Claude);
    others.into_iter().find(|agent| project_dir(*agent, &lookup).is_some()).unwrap_or(installed_for)
}

/// Returns the directory in which the session was started, from the environment of a hook; `None` if the agent sets no
/// variable with this directory.
pub fn project_dir(agent: Agent, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
    lookup(agent.adapter().environment.project_dir?).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
