//! Checks the syntax and the names of expressions.

use engine::expr::{self, Scope};

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

/// Reports syntax errors and unknown names in an expression. Returns true if there are none.
pub fn check_expression(when: &SpannedText, scope: &Scope, fields: &mut Fields) -> bool {
    let problems = expr::check(&when.value, scope);
    let is_valid = problems.is_empty();
    for problem in problems {
        let span = fields.source().span_of_part(&when.span, &when.value, &problem.span);
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::InvalidExpression, problem.message, fields.source(), Some(span))
                .maybe_help(problem.help),
        );
    }
    is_valid
}
