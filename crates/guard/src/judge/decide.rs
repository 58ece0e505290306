//! Stage 3: the rules of one policy judge the event.

use engine::{Decision, DecisionRequest};

use super::applicable::{ApplicablePolicy, PolicyScope};
use crate::Environment;
use crate::failure::Failure;

pub(super) fn decide(applicable: &ApplicablePolicy<'_>, environment: &Environment) -> Result<Decision, Failure> {
    let inquiry =
        DecisionRequest { situation: &applicable.situation, rules: &applicable.policy.rules, evaluate_all: false };
    engine::decide(&inquiry).map_err(|_| {
        // A workflow's rules are not in the compiled policy.
        if !matches!(applicable.scope, PolicyScope::Workflow(_)) {
            applicable.project.forget_compiled(environment);
        }
        Failure::UnreadablePolicy
    })
}
