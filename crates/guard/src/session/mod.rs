//! One session of an agent: its root, the policy to which it is pinned, and its hat in a run. Also finds the session in
//! which a command runs. This module does not judge.

mod command_run;
mod hat_phase;
pub(crate) mod hat_sessions;
mod keep_alive;
mod notice;
pub mod policy;
pub(crate) mod root;
mod session_owner;
mod task_claims;

pub use command_run::CommandRun;
pub use hat_phase::HatPhase;
pub use notice::SessionNotice;
pub use root::project_of_command;
pub use session_owner::SessionOwner;
pub use task_claims::record_claim;
