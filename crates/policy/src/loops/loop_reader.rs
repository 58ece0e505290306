//! The reader of `loop.yml`: the file, and its context.

use std::collections::BTreeMap;

use engine::expr::Scope;
use engine::rules::Tier;

use crate::rule::reader::RuleReader;
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::workflow::{ObserverList, WorkflowContext, read_observers};

/// The prefix of the ids of a loop's rules and gates.
pub const LOOP_NAME: &str = "loop";

#[derive(Clone, Copy)]
pub struct LoopReader<'a> {
    pub source: &'a Source,
    pub context: &'a WorkflowContext<'a>,
}

impl LoopReader<'_> {
    /// The scope of the loop's expressions. In these, an iteration is a phase of a workflow without claims.
    pub fn scope(self, variables: &BTreeMap<String, String>) -> Scope {
        let mut scope = self.context.loaded.context.scope.clone();
        for name in variables.keys() {
            scope.declare(name);
        }
        scope.in_workflow([])
    }

    pub fn read_observers(self, fields: &mut Fields, scope: &Scope) -> ObserverList {
        let observer_list = read_observers(fields, self.source, Tier::Project, self.context);
        let problems = observer_list.unchecked.iter().flat_map(|unchecked| unchecked.problems(scope));
        fields.problems.extend(problems);
        observer_list
    }

    pub fn rule_reader<'s>(self, scope: &'s Scope) -> RuleReader<'s>
    where
        Self: 's,
    {
        let protected_branches = &self.context.loaded.context.protected_branches;
        RuleReader { source: self.source, file_tier: Tier::Project, scope, protected_branches }
    }
}
