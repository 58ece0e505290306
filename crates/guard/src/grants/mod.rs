//! What a person allowed: one call, a pause, a rule acknowledged, a repository's policy trusted, a change accepted; and the
//! mode that follows for a verdict. Kept in the user's own folder, out of reach of the repository. Nothing here judges.

mod acceptance;
mod acknowledgement;
mod allowance;
mod enforcement_mode;
mod pause;
mod trust;

pub use acceptance::Acceptance;
pub(crate) use acknowledgement::is_acknowledged;
pub use acknowledgement::{AcknowledgedBy, Acknowledgement};
pub use allowance::{Allowances, Call, Span};
pub use enforcement_mode::{EnforcementMode, OBSERVING, paused};
pub use pause::{LONGEST_PAUSE, Pause};
pub use trust::{Trust, workflow_notice};
