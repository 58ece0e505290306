//! One session of an agent: its root, the policy that it is pinned to, its hat in a run, and which session a command
//! runs in. This module does not judge.

mod notice;
mod owner;
pub mod policy;
pub(crate) mod root;
mod sign_of_life;
mod stage;
mod task_claims;

pub use notice::SessionNotice;
pub use owner::{CommandRun, SessionOwner};
pub use root::project_of_command;
pub use stage::Stage;
pub use task_claims::note_claim;
