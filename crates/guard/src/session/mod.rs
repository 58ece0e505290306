//! One session of an agent: its root, the policy to which it is pinned, and its hat in a run. Also finds the session in
//! which a command runs. This module does not judge.

mod hat_phase;
mod keep_alive;
mod notice;
mod owner;
pub mod policy;
pub(crate) mod root;
mod task_claims;

pub use hat_phase::HatPhase;
pub use notice::SessionNotice;
pub use owner::{CommandRun, SessionOwner};
pub use root::project_of_command;
pub use task_claims::note_claim;
