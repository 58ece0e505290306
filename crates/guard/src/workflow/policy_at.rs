//! The policy of a workflow at one of its nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::rules::{Rule, RuleSet};
use engine::workflow::Workflow;
use policy::{BrokenFile, CompiledPolicy};

use crate::grants::untrusted_workflow_notice;

/// The policy of a workflow at a node. Rules that are also in `project_policy`, in the same version, are left out,
/// except pace rules.
pub fn policy_at(workflow: &Workflow, node: &str, project_policy: &CompiledPolicy, is_trusted: bool) -> CompiledPolicy {
    let is_in_project_policy = |rule: &Rule| {
        rule.as_pace_rule().is_none()
            && project_policy.rules.get(&rule.id).is_ok_and(|own| own.is_some_and(|own| own.digest == rule.digest))
    };
    let trusted_part = if is_trusted { None } else { Some(workflow.clone().without_untrusted()) };
    let untrusted = if is_trusted { None } else { Some(untrusted_workflow_notice(workflow)) };
    let workflow = trusted_part.as_ref().unwrap_or(workflow);
    let rules = workflow.rules_at(node).filter(|rule| !is_in_project_policy(rule));
    let rules: BTreeMap<&str, Rule> = rules.map(|rule| (rule.id.as_str(), rule.clone())).collect();
    let rules: Vec<Rule> = rules.into_values().collect();
    // Packing should not fail for rules that were just read. If it does, the workflow's file counts as broken.
    let (rules, broken) = match RuleSet::pack(&rules) {
        Ok(rules) => (rules, Vec::new()),
        Err(error) => {
            let problem = format!("the rules of workflow `{}` at `{node}` cannot be compiled: {error}", workflow.name);
            (RuleSet::default(), vec![BrokenFile { problem, has_last_good: false, is_partial: false }])
        }
    };
    let mut config = (*project_policy.config).clone();
    config.observers.clone_from(&workflow.observers);
    CompiledPolicy {
        config: Arc::new(config),
        rules,
        broken,
        untrusted: untrusted.into_iter().collect(),
        rules_digest: String::new(),
        read_at: project_policy.read_at,
        definitions_read: Vec::new(),
    }
}
