//! Expressions: whether what they name is known.

use engine::expr::{self, Scope};

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};

/// Whether it is sound.
pub fn check_expression(when: &Text, scope: &Scope, fields: &mut Fields) -> bool {
    let problems = expr::check(&when.value, scope);
    let is_sound = problems.is_empty();
    for problem in problems {
        let span = fields.source().within(&when.span, &when.value, &problem.span);
        fields.problems.push(
            Diagnostic::error(ErrorKind::InvalidExpression, problem.message, fields.source(), Some(span))
                .maybe_help(problem.help),
        );
    }
    is_sound
}
