//! Stage 3: the rules of one policy judge the event.

use engine::{Decision, DecisionRequest};

use super::load::{ApplicablePolicy, PolicyOrigin};
use crate::Environment;
use crate::failure::Failure;

pub(super) fn decide(applicable: &ApplicablePolicy<'_>, environment: &Environment) -> Result<Decision, Failure> {
    let request =
        DecisionRequest { situation: &applicable.situation, rules: &applicable.policy.rules, evaluate_all: false };
    engine::decide(&request).map_err(|_| {
        // A workflow's rules are not in the compiled policy.
        if !matches!(applicable.origin, PolicyOrigin::Workflow(_)) {
            applicable.project.delete_compiled(environment);
        }
        Failure::UnreadablePolicy
    })
}
