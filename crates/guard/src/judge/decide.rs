//! Stage 3: the rules of one policy judge the event.

use engine::{Decision, DecisionRequest};

use super::load::{ApplicablePolicy, PolicyOrigin};
use crate::Environment;
use crate::failure::Failure;

/// Judges the event by the rules of one policy.
pub(super) fn decide(applicable: &ApplicablePolicy<'_>, environment: &Environment) -> Result<Decision, Failure> {
    let request =
        DecisionRequest { situation: &applicable.situation, rules: &applicable.policy.rules, evaluate_all: false };
    engine::decide(&request).map_err(|_| {
        // The cached policy does not contain the rules of workflows. So if the rules of a workflow cannot be read, the
        // cached policy is kept.
        if !matches!(applicable.origin, PolicyOrigin::Workflow(_)) {
            applicable.project.delete_compiled_policy(environment);
        }
        Failure::UnreadablePolicy
    })
}
