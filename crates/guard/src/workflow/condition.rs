//! Conditions of a move: `when` of transitions and pace rules, and gates that are expressions.

use std::sync::Arc;

use engine::expr::EvaluationError;
use engine::facts::{FactStore, Missing};
use engine::file_rules::ChangeScope;
use engine::{Situation, expr};

/// Evaluates an expression for a move. If the session is unknown, using a session variable is an error; the variable
/// does not have its initial value.
pub(super) fn is_true(expression: &str, situation: &Arc<Situation>) -> Result<bool, String> {
    expr::is_true(expression, situation, ChangeScope::default()).map_err(|error| match error {
        EvaluationError::Missing(Missing::Unreadable(FactStore::Session)) => NO_SESSION.to_owned(),
        error => error.to_string(),
    })
}

pub(super) const NO_SESSION: &str = "variables of a session are needed, and Linchpin can't tell which session runs this command. Name \
                                     it: `linchpin next --session ID`";
/// In a run, the hat's session is known if only one session had an event since the hat was put on.
pub(super) const NO_SESSION_IN_RUN: &str = "variables of a session are needed, and Linchpin can't tell which session belongs to this hat: no session, \
                                 or more than one, has called Linchpin's hooks in this iteration. `emit` cannot name one; a person \
                                 can install the hooks (`linchpin install AGENT`) or change the gate";
