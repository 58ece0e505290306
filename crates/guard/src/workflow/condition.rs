//! Evaluates the conditions of a move: `when` of transitions, pace rules and file rules, and gates that are
//! expressions.

use std::sync::Arc;

use engine::expr::EvaluationError;
use engine::facts::{FactStore, Missing};
use engine::file_rules::ChangeScope;
use engine::{Situation, expr};

/// True if the expression is true. If the expression needs a variable of the session and the session is unknown, the
/// error is [`NO_SESSION`]: the variable's initial value is not used.
pub(super) fn is_true(expression: &str, situation: &Arc<Situation>) -> Result<bool, String> {
    expr::is_true(expression, situation, ChangeScope::default()).map_err(|error| match error {
        EvaluationError::Missing(Missing::Unavailable(FactStore::Session)) => NO_SESSION.to_owned(),
        error => error.to_string(),
    })
}

/// The error if the session is unknown.
pub(super) const NO_SESSION: &str = "variables of a session are needed, and Linchpin can't tell which session runs this command. Name \
                                     it: `linchpin next --session ID`";
/// The error if the session is unknown in a run. The session of a hat is known if exactly one session called hooks in
/// the iteration.
pub(super) const NO_SESSION_IN_RUN: &str = "variables of a session are needed, and Linchpin can't tell which session belongs to this hat: no session, \
                                 or more than one, has called Linchpin's hooks in this iteration. `emit` cannot name one; a person \
                                 can install the hooks (`linchpin install AGENT`) or change the gate";
