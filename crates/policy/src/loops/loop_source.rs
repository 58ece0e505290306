//! The text of a loop's file with all that it may name beside itself.

use std::collections::BTreeMap;

use engine::expr::Scope;
use engine::rules::Tier;

use crate::rule::reader::RuleReader;
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::workflow::{Around, Observing, read_observers};

/// What rules and gates of a loop are named after.
pub const LOOP_NAME: &str = "loop";

#[derive(Clone, Copy)]
pub struct LoopSource<'a> {
    pub source: &'a Source,
    pub around: &'a Around<'a>,
}

impl LoopSource<'_> {
    /// What expressions of the loop may name. An iteration is a phase to them; nothing is claimed in it.
    pub fn scope(self, variables: &BTreeMap<String, String>) -> Scope {
        let mut scope = self.around.loaded.context.scope.clone();
        for name in variables.keys() {
            scope.declare(name);
        }
        scope.in_workflow([])
    }

    pub fn observers(self, fields: &mut Fields, scope: &Scope) -> Observing {
        let observing = read_observers(fields, self.source, Tier::Project, self.around);
        let problems = observing.unchecked.iter().flat_map(|unchecked| unchecked.problems(scope));
        fields.problems.extend(problems);
        observing
    }

    pub fn rule_reader<'s>(self, scope: &'s Scope) -> RuleReader<'s>
    where
        Self: 's,
    {
        let protected_branches = &self.around.loaded.context.protected_branches;
        RuleReader { source: self.source, owner: Tier::Project, scope, protected_branches }
    }
}
