//! Permissions that people gave: allowed calls, pauses, acknowledged rules, trusted policies, and accepted weakenings.
//! Most of them are stored in the user's state directory, where a repository cannot change them. This module also
//! decides whether a verdict is enforced, but it does not judge events.

mod accepted_weakenings;
mod acknowledgement;
mod allowance;
mod enforcement_mode;
mod pause;
#[cfg(test)]
mod tests;
mod trust;

pub use accepted_weakenings::AcceptedWeakenings;
pub(crate) use acknowledgement::is_acknowledged;
pub use acknowledgement::{AcknowledgedBy, Acknowledgement};
pub use allowance::{AllowanceSpan, Allowances, CallDigest};
pub use enforcement_mode::{EnforcementMode, OBSERVE_NOTICE, SWITCHED_OFF_NOTICE, pause_notice};
pub use pause::{MAX_PAUSE, Pause};
pub use trust::{Trust, untrusted_workflow_notice};
