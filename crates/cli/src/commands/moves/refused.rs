//! Converts workflow errors into errors of commands, with their documented kinds and with help.

use engine::suggest;
use guard::facts::PaceError;
use guard::workflow::WorkflowError;

use crate::plural::code_list;
use crate::problem::Problem;

pub fn problem(refusal: WorkflowError) -> Problem {
    let problem = Problem::new(kind(&refusal), refusal.to_string());
    let problem = match help(&refusal) {
        Some(help) => problem.help(help),
        None => problem,
    };
    match refusal {
        WorkflowError::BrokenUnderWay { node, .. } | WorkflowError::NodeNotFound { node, .. } => problem.of_node(&node),
        WorkflowError::Cancelled => problem.interrupted(),
        WorkflowError::Git(error) => error.into(),
        _ => problem,
    }
}

fn kind(refusal: &WorkflowError) -> &'static str {
    match refusal {
        WorkflowError::NoWorkflow | WorkflowError::NothingToContinue => "NoWorkflowLoaded",
        WorkflowError::AlreadyActive { .. } => "WorkflowActive",
        WorkflowError::UnknownWorkflow { .. }
        | WorkflowError::NothingBefore
        | WorkflowError::NothingToApprove { .. }
        | WorkflowError::UnknownApproval { .. } => "NotFound",
        WorkflowError::BrokenWorkflow { .. } => "BrokenPolicy",
        // If the workflow's file has errors, the active node is not found either.
        WorkflowError::BrokenUnderWay { .. } | WorkflowError::NodeNotFound { .. } => "NodeNotFound",
        WorkflowError::UnknownClaim { .. } | WorkflowError::BadClaims(_) => "InvalidValue",
        WorkflowError::UnknownRule { .. } => "UnknownRule",
        WorkflowError::Pace { error: PaceError::RegexMatchFailed(_), .. } => "RegexMatchFailed",
        WorkflowError::Pace { error: PaceError::MetricAccessFailed(_), .. } | WorkflowError::Store(_) => {
            "MetricAccessFailed"
        }
        WorkflowError::Cancelled => "Interrupted",
        WorkflowError::MovedMeanwhile(_) | WorkflowError::WriteConflict | WorkflowError::TreeChanged => "Moved",
        WorkflowError::InRun(_) => "InRun",
        WorkflowError::NotForAgents(_)
        | WorkflowError::PeopleOnly(_)
        | WorkflowError::OfUser { .. }
        | WorkflowError::OnlyAPerson(_) => "NotAPerson",
        WorkflowError::Prompt { .. } | WorkflowError::When { .. } => "InvalidExpression",
        WorkflowError::Git(_) => "Git",
        WorkflowError::Unwritten(_) => "Io",
    }
}

fn help(refusal: &WorkflowError) -> Option<String> {
    let fixed = match refusal {
        WorkflowError::NoWorkflow => "`linchpin workflows` lists them, and `linchpin start NAME` starts one",
        WorkflowError::NothingToContinue => {
            "there is no interrupt to continue past: keep working; `linchpin status` shows the rules in force"
        }
        WorkflowError::AlreadyActive { .. } => {
            "finish it, or leave it with `linchpin abort`; `linchpin status` shows the current phase"
        }
        WorkflowError::BrokenWorkflow { .. } => "`linchpin validate` shows every error",
        WorkflowError::BrokenUnderWay { .. } => {
            "fix the file (`linchpin validate` shows every error), or leave the workflow with `linchpin abort`"
        }
        WorkflowError::BadClaims(_) => "give names, or one object such as '{\"code_complete\": true}'",
        WorkflowError::MovedMeanwhile(_) => "`linchpin repeat` prints the prompt of the current phase",
        WorkflowError::WriteConflict => "the workflow did not move; try again",
        WorkflowError::InRun(_) => {
            "hand the work over with `linchpin emit TOPIC SUMMARY`; the topics are in the prompt"
        }
        WorkflowError::OnlyAPerson(_) => {
            "tell the person what you tried and why you are stuck, ask them to run `linchpin continue`, and wait"
        }
        WorkflowError::NothingToApprove { .. } => {
            "an approval is valid until the tree changes; `linchpin repeat` prints the prompt of the current phase"
        }
        // If the session is unknown, the message already says what to do.
        WorkflowError::When { why, .. } if !why.contains("--session") => {
            "correct the condition in the workflow's file, or set its variables with `linchpin set NAME VALUE`"
        }
        WorkflowError::TreeChanged => "run `linchpin approve` again",
        WorkflowError::Store(_) => {
            "the workflow did not move; try again; if it fails again, `linchpin doctor` shows what is wrong with the journal"
        }
        named => return help_with_names(named),
    };
    Some(fixed.to_owned())
}

/// Returns the help for errors that name workflows, gates, claims or rules.
fn help_with_names(refusal: &WorkflowError) -> Option<String> {
    let help = match refusal {
        WorkflowError::UnknownWorkflow { close: Some(close), .. }
        | WorkflowError::UnknownApproval { close: Some(close), .. } => suggest::did_you_mean(close),
        WorkflowError::UnknownWorkflow { close: None, known, .. } => format!("workflows: {}", code_list(known)),
        WorkflowError::NodeNotFound { nodes, .. } => format!("nodes of this workflow: {}", code_list(nodes)),
        WorkflowError::UnknownClaim { claim, close, known } => match (split_claims(claim, known), close) {
            (Some(names), _) => format!("write several claims as separate words: `linchpin next {}`", names.join(" ")),
            (None, Some(close)) => suggest::did_you_mean(close),
            (None, None) => format!("claims of this workflow: {}", code_list(known)),
        },
        WorkflowError::UnknownRule { known, .. } if known.is_empty() => {
            "this node has no pace rules, and gates cannot be forced".to_owned()
        }
        WorkflowError::UnknownRule { known, .. } => {
            format!("pace rules of this node: {}; gates cannot be forced", code_list(known))
        }
        WorkflowError::Pace { rule, .. } => {
            format!("the workflow did not move; a person can skip the rule: `linchpin next --force {rule}`")
        }
        WorkflowError::NotForAgents(verb) => format!(
            "a person can do it; `agent_may: [{verb}, …]` in config.yml lets agents do it too, in a repository's once you run \
             `linchpin trust`"
        ),
        WorkflowError::PeopleOnly(_) => "run it in your own terminal".to_owned(),
        WorkflowError::OfUser { verb, .. } => {
            format!("a person can do it; `agent_may: [{verb}, …]` in the user's own config.yml lets agents do it too")
        }
        WorkflowError::UnknownApproval { close: None, known, .. } if known.is_empty() => {
            "this node has no approvals".to_owned()
        }
        WorkflowError::UnknownApproval { close: None, known, .. } => {
            format!("approvals of this node: {}", code_list(known))
        }
        _ => return None,
    };
    Some(help)
}

/// Returns the claims in a word, if the word is a list of known claims separated by commas.
fn split_claims<'c>(claim: &'c str, known: &[String]) -> Option<Vec<&'c str>> {
    let names: Vec<&str> = claim.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let are_known = names.iter().all(|name| known.iter().any(|known| known == name));
    (claim.contains(',') && !names.is_empty() && are_known).then_some(names)
}
