//! Compound commands: groups, subshells, conditionals and tests. Loops are in `loops`.

use brush_parser::ast::{
    CaseClauseCommand, CaseItemPostAction, CompoundCommand, CoprocessCommand, ExtendedTestExpr, IfClauseCommand,
    UnexpandedArithmeticExpr,
};

use super::Walker;
use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{Array, State, Value, VariableName};
use crate::limits::{Gap, budget};
use crate::syntax::bash_differences;
use crate::syntax::word_scan::Context;

impl Walker<'_> {
    pub(super) fn walk_compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                if !self.spend(budget::NODE + arithmetic.expr.value.len()) {
                    return;
                }
                self.walk_arithmetic(&arithmetic.expr);
                // The expression is recorded, because it may set `PATH`.
                self.script.unattached_words.push(arithmetic.expr.value.clone());
                let sets = ["=", "++", "--"].iter().any(|operator| arithmetic.expr.value.contains(operator));
                if self.change_state(|state| state.evaluate(&arithmetic.expr.value)).is_none() && sets {
                    self.state.forget_changed_in(&arithmetic.expr.value);
                }
                self.streams.output = PossibleOutput::empty();
            }
            CompoundCommand::BraceGroup(group) => return self.walk_list(&group.list),
            CompoundCommand::Subshell(subshell) => {
                return self.in_child_shell(|walker| walker.walk_list(&subshell.list));
            }
            CompoundCommand::ArithmeticForClause(clause) => self.walk_arithmetic_for(clause),
            CompoundCommand::ForClause(clause) => self.walk_for(clause),
            CompoundCommand::CaseClause(clause) => self.walk_case(clause),
            CompoundCommand::IfClause(clause) => self.walk_if(clause),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                let is_while = matches!(compound, CompoundCommand::WhileClause(_));
                if !is_while || !self.walk_read_loop(clause) && !self.walk_shift_loop(clause) {
                    self.forget_changed_in(&clause.2);
                    self.walk_unknown_iterations(|walker| {
                        walker.walk_condition(&clause.0);
                        let before = walker.saved_state();
                        walker.walk_list(&clause.1.list);
                        walker.join(&before);
                    });
                }
            }
            CompoundCommand::Coprocess(coprocess) => self.walk_coprocess(coprocess),
        }
        // It is not known which parts of the compound command run, or how often.
        self.streams.output.mark_incomplete();
        self.forget_kind_of_output();
    }

    fn walk_coprocess(&mut self, coprocess: &CoprocessCommand) {
        // A coprocess reads from its own pipe, not from the stdin of the script or of a wrapper.
        let outer = (self.enclosing.has_input, self.enclosing.gets_more_arguments);
        (self.enclosing.has_input, self.enclosing.gets_more_arguments) = (false, false);
        let (input, piped_from) = (self.streams.input.take(), std::mem::take(&mut self.streams.piped_from));
        self.in_child_shell(|walker| walker.walk_command(&coprocess.body));
        (self.streams.input, self.streams.piped_from) = (input, piped_from);
        (self.enclosing.has_input, self.enclosing.gets_more_arguments) = outer;
        // The shell sets a variable for the coprocess: an array of two file descriptors.
        let name = coprocess.name.as_ref().map(|name| self.expand_to_single_word(&name.value));
        match name.map_or(Some("COPROC".to_owned()), |name| name.value) {
            Some(name) => {
                let descriptors = vec![Value::unknown_number(), Value::unknown_number()];
                self.state.assign_array(&name, Array::List(descriptors));
            }
            None => self.state.assign_by_name(VariableName::StartsWith(""), None),
        }
    }

    fn walk_if(&mut self, clause: &IfClauseCommand) {
        self.walk_condition(&clause.condition);
        let before = self.saved_state();
        self.walk_list(&clause.then);
        let mut printed = std::mem::take(&mut self.streams.output);
        let mut ends = vec![std::mem::replace(&mut self.state, before)];
        let mut is_exhaustive = false;
        for branch in clause.elses.iter().flatten() {
            if let Some(condition) = &branch.condition {
                self.walk_condition(condition);
            }
            is_exhaustive |= branch.condition.is_none();
            let before = self.saved_state();
            self.walk_list(&branch.body);
            printed.or(std::mem::take(&mut self.streams.output));
            ends.push(std::mem::replace(&mut self.state, before));
        }
        self.streams.output = printed;
        self.join_ends(ends, is_exhaustive);
    }

    /// Joins the states after the branches and, unless one of the branches certainly runs, the state before the
    /// branches.
    fn join_ends(&mut self, mut ends: Vec<State>, is_exhaustive: bool) {
        if let Some(last) = ends.pop_if(|_| is_exhaustive) {
            self.state = last;
        }
        for end in &ends {
            self.join(end);
        }
    }

    fn walk_case(&mut self, clause: &CaseClauseCommand) {
        self.walk_substitutions_in(&clause.value.value, Context::Word);
        let mut ends = Vec::new();
        let mut printed = PossibleOutput::empty();
        for item in &clause.cases {
            for pattern in &item.patterns {
                self.walk_substitutions_in(&pattern.value, Context::Word);
            }
            if !self.spend(budget::NODE) {
                return;
            }
            let before = self.saved_state();
            if let Some(list) = &item.cmd {
                self.walk_list(list);
                printed.or(std::mem::take(&mut self.streams.output));
            }
            let end = std::mem::replace(&mut self.state, before);
            // `;&` and `;;&` may continue with the next item.
            if !matches!(item.post_action, CaseItemPostAction::ExitCase) {
                self.join(&end);
            }
            ends.push(end);
        }
        self.streams.output = printed;
        // A `*` pattern matches every value that no earlier pattern matches.
        let has_default = clause.cases.iter().any(|item| item.patterns.iter().any(|pattern| pattern.value == "*"));
        self.join_ends(ends, has_default);
    }

    pub(super) fn walk_arithmetic(&mut self, expression: &UnexpandedArithmeticExpr) {
        self.walk_substitutions_in(&expression.value, Context::Text);
    }

    /// Walks the substitutions in `[[ … ]]`. The walk is iterative, because the syntax tree of a chain of `&&` or `!`
    /// is as deep as the chain is long.
    pub(super) fn walk_test(&mut self, test: &ExtendedTestExpr) {
        let mut pending = vec![test];
        while let Some(test) = pending.pop() {
            if !self.spend(budget::NODE) {
                return;
            }
            match test {
                ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                    pending.extend([&**right, left]);
                }
                ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => pending.push(inner),
                ExtendedTestExpr::UnaryTest(_, word) => self.walk_test_operand(&word.value),
                ExtendedTestExpr::BinaryTest(_, left, right) => {
                    self.walk_test_operand(&left.value);
                    self.walk_test_operand(&right.value);
                }
            }
        }
    }

    fn walk_test_operand(&mut self, raw: &str) {
        if bash_differences::has_quoted_index(raw) {
            self.add_gap(Gap::Doubtful("a command in an array index"));
        }
        self.walk_substitutions_in(raw, Context::Word);
    }
}
