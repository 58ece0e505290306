//! Stage 3: the rules of one policy judge the event.

use engine::{Decision, DecisionRequest};

use super::load::{ApplicablePolicy, PolicyScope};
use crate::Environment;
use crate::failure::Failure;

pub(super) fn decide(here: &ApplicablePolicy<'_>, environment: &Environment) -> Result<Decision, Failure> {
    let inquiry = DecisionRequest { situation: &here.situation, rules: &here.policy.rules, evaluate_all: false };
    engine::decide(&inquiry).map_err(|_| {
        // A workflow's rules are not in the compiled policy.
        if !matches!(here.scope, PolicyScope::Workflow(_)) {
            here.project.forget_compiled(environment);
        }
        Failure::UnreadablePolicy
    })
}
