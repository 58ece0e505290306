//! A session of an agent: its root, the policy to which it is pinned, and its hat in a run. Also finds the session that
//! runs a command. This module does not judge.

mod agent_session;
mod command_run;
mod hat_phase;
pub(crate) mod hat_sessions;
mod keep_alive;
mod notice;
pub mod policy;
pub(crate) mod root;
mod task_claims;
pub(crate) mod touched_directories;

pub use agent_session::AgentSession;
pub use command_run::CommandRun;
pub use hat_phase::HatPhase;
pub use notice::SessionNotice;
pub use root::project_of_command;
pub use task_claims::{TaskEvent, record_task_event};
