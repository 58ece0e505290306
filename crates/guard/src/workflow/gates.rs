//! What has to hold before a move is made.

use std::sync::Arc;

use engine::event::{EventKind, EventKinds};
use engine::file_rules::Reach;
use engine::rules::{Rule, RuleSet};
use engine::workflow::{Gate, Requirement};
use engine::{Inquiry, Situation, expr};

/// A gate that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The gate.
    pub gate: String,
    /// What is missing, and what to do; lines.
    pub why: String,
}

/// Those that do not hold. Cheap ones come first, and where one of them does not hold no other is tried.
pub fn lacks<'a>(
    requirements: impl Iterator<Item = &'a Requirement> + Clone,
    situation: &Arc<Situation>,
    reaches_out: impl Fn(&Requirement) -> Option<Lack>,
    approved: impl Fn(&Requirement) -> Option<Lack>,
) -> Vec<Lack> {
    let cheap: Vec<Lack> = requirements
        .clone()
        .filter(|required| required.gate.is_cheap())
        .filter_map(|required| match &required.gate {
            Gate::Expression(expression) => expression_lack(required, expression, situation),
            Gate::FileRules(rules) => file_rules_lack(required, rules, situation),
            Gate::Approval(_) => approved(required),
            Gate::Command { .. } | Gate::Webhook(_) => None,
        })
        .collect();
    if !cheap.is_empty() {
        return cheap;
    }
    requirements.filter(|required| !required.gate.is_cheap()).filter_map(reaches_out).take(1).collect()
}

fn expression_lack(required: &Requirement, expression: &str, situation: &Arc<Situation>) -> Option<Lack> {
    let why = match expr::holds(expression, situation, Reach::default()) {
        Ok(true) => return None,
        Ok(false) => format!("`{}` is not true", one_line(expression)),
        Err(error) => format!("`{}` cannot be evaluated: {}", one_line(expression), error.message),
    };
    Some(Lack { gate: required.id.clone(), why })
}

fn file_rules_lack(required: &Requirement, rules: &[Rule], situation: &Arc<Situation>) -> Option<Lack> {
    let on = EventKinds::default().with(EventKind::Other);
    let rules: Vec<Rule> = rules.iter().map(|rule| Rule { on, ..rule.clone() }).collect();
    let asked =
        RuleSet::pack(&rules).and_then(|rules| engine::decide(&Inquiry { situation, rules: &rules, thorough: false }));
    let why = match asked {
        Ok(decision) if decision.verdict.findings.is_empty() => return None,
        Ok(decision) => {
            let unmet = decision.verdict.findings.iter().map(|finding| finding.reason.as_str());
            unmet.collect::<Vec<_>>().join("\n\n")
        }
        Err(error) => error.to_string(),
    };
    Some(Lack { gate: required.id.clone(), why })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
