//! The environment variables that agents set for the commands they run: whose session a command belongs to, and
//! whether it is an agent's command at all.
//!
//! Callers pass the lookup, so that nothing here depends on the process it runs in.

use crate::Agent;

/// The variables of one agent.
pub(crate) struct Variables {
    /// Any of these set means that the agent runs the command.
    pub marks: &'static [&'static str],
    /// The first of these that is set names the session.
    pub session: &'static [&'static str],
    /// The folder that the session was started in, in the environment of hooks.
    pub project_dir: Option<&'static str>,
}

/// Set by several agents, to a name that says which; a mark, but of no particular agent.
pub const ANY_AGENT: &str = "AI_AGENT";

/// Set for every agent that a run of the loop starts.
pub const IN_RUN: &str = "LINCHPIN_RUN";

/// Every variable that marks a command as an agent's.
pub fn marks() -> impl Iterator<Item = &'static str> {
    Agent::ALL.into_iter().flat_map(|agent| agent.adapter().environment.marks).copied().chain([ANY_AGENT, IN_RUN])
}

/// The variable that shows that an agent runs this command, if one does.
pub fn mark(lookup: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    marks().find(|name| lookup(name).is_some_and(|value| !value.is_empty()))
}

/// The agent and the session that this command belongs to.
pub fn session(lookup: impl Fn(&str) -> Option<String>) -> Option<(Agent, String)> {
    Agent::ALL.into_iter().find_map(|agent| {
        let names = agent.adapter().environment.session;
        let id = names.iter().find_map(|name| lookup(name).filter(|value| !value.is_empty()))?;
        Some((agent, id))
    })
}

/// Who calls a hook that `named` was to call. Some agents read Claude Code's settings too, and tell by a variable who they are.
pub fn caller(named: Agent, lookup: impl Fn(&str) -> Option<String>) -> Agent {
    let others = [Agent::Cursor, Agent::Copilot].into_iter().filter(|_| named == Agent::Claude);
    others.into_iter().find(|agent| project_dir(*agent, &lookup).is_some()).unwrap_or(named)
}

/// The folder that the agent says its session belongs to, in the environment of a hook.
pub fn project_dir(agent: Agent, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
    lookup(agent.adapter().environment.project_dir?).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
