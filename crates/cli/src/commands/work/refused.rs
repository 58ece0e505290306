//! Why a workflow cannot be moved: the documented kind of the error, and what to do next.

use engine::suggest;
use guard::facts::PaceError;
use guard::workflow::WorkflowError;

use crate::problem::Problem;

pub fn problem(refusal: WorkflowError) -> Problem {
    let problem = Problem::new(kind(&refusal), refusal.to_string());
    let problem = match help(&refusal) {
        Some(help) => problem.help(help),
        None => problem,
    };
    match refusal {
        WorkflowError::BrokenUnderWay { node, .. } | WorkflowError::NodeNotFound { node, .. } => problem.of_node(&node),
        WorkflowError::Interrupted => problem.interrupted(),
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
        // A file with errors has no nodes.
        WorkflowError::BrokenUnderWay { .. } | WorkflowError::NodeNotFound { .. } => "NodeNotFound",
        WorkflowError::UnknownClaim { .. } | WorkflowError::BadClaims(_) => "InvalidValue",
        WorkflowError::UnknownRule { .. } => "UnknownRule",
        WorkflowError::Pace { error: PaceError::RegexMatchFailed(_), .. } => "RegexMatchFailed",
        WorkflowError::Pace { error: PaceError::MetricAccessFailed(_), .. } | WorkflowError::Store(_) => {
            "MetricAccessFailed"
        }
        WorkflowError::Interrupted => "Interrupted",
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
        WorkflowError::NoWorkflow => "`linchpin workflows` lists them, and `linchpin start NAME` begins one",
        WorkflowError::NothingToContinue => {
            "there is nothing to go on past: just work on; `linchpin status` shows what is in force"
        }
        WorkflowError::AlreadyActive { .. } => {
            "finish it, or leave it with `linchpin abort`; `linchpin status` shows where it stands"
        }
        WorkflowError::BrokenWorkflow { .. } => "`linchpin validate` shows all that is wrong",
        WorkflowError::BrokenUnderWay { .. } => {
            "mend the file (`linchpin validate` shows all that is wrong), or leave with `linchpin abort`"
        }
        WorkflowError::BadClaims(_) => "give names, or one object such as '{\"code_complete\": true}'",
        WorkflowError::MovedMeanwhile(_) => "`linchpin repeat` prints what is asked for now",
        WorkflowError::WriteConflict => "nothing was moved; try again",
        WorkflowError::InRun(_) => {
            "hand the work over with `linchpin emit TOPIC SUMMARY`; the topics are in the prompt"
        }
        WorkflowError::OnlyAPerson(_) => "say what you tried and why you are stuck, and wait",
        WorkflowError::NothingToApprove { .. } => {
            "what was approved counts until the tree changes; `linchpin repeat` prints what is asked for now"
        }
        WorkflowError::TreeChanged => "look at it again: `linchpin approve`",
        WorkflowError::Store(_) => {
            "nothing was moved; try again, and if it stays so, `linchpin doctor` says what is wrong with the journal"
        }
        named => return help_with_names(named),
    };
    Some(fixed.to_owned())
}

/// The help that names what the refusal is about, or what exists in its place.
fn help_with_names(refusal: &WorkflowError) -> Option<String> {
    let help = match refusal {
        WorkflowError::UnknownWorkflow { close: Some(close), .. }
        | WorkflowError::UnknownApproval { close: Some(close), .. } => suggest::did_you_mean(close),
        WorkflowError::UnknownWorkflow { close: None, known, .. } => format!("the workflows are {}", known.join(", ")),
        WorkflowError::NodeNotFound { nodes, .. } => format!("the nodes are {}", nodes.join(", ")),
        WorkflowError::UnknownClaim { claim, close, known } => match (several(claim, known), close) {
            (Some(names), _) => format!("several claims are words of their own: `linchpin next {}`", names.join(" ")),
            (None, Some(close)) => suggest::did_you_mean(close),
            (None, None) => format!("the claims are {}", known.join(", ")),
        },
        WorkflowError::UnknownRule { known, .. } if known.is_empty() => "it has no pace rules".to_owned(),
        WorkflowError::UnknownRule { known, .. } => format!("its pace rules are {}", known.join(", ")),
        WorkflowError::Pace { rule, .. } => {
            format!("nothing was moved; a person can pass over the rule: `linchpin next --force {rule}`")
        }
        WorkflowError::NotForAgents(verb) => format!(
            "a person can do it; `agent_may: [{verb}, …]` in config.yml lets agents do it too, in a repository's once you run \
             `linchpin trust`"
        ),
        WorkflowError::PeopleOnly(_) => "run it in a terminal of your own".to_owned(),
        WorkflowError::OfUser { verb, .. } => {
            format!("a person can do it; `agent_may: [{verb}, …]` in the user's own config.yml lets agents do it too")
        }
        WorkflowError::UnknownApproval { close: None, known, .. } if known.is_empty() => "it has none".to_owned(),
        WorkflowError::UnknownApproval { close: None, known, .. } => format!("they are {}", known.join(", ")),
        _ => return None,
    };
    Some(help)
}

/// The claims that were written as one word, with commas between them.
fn several<'c>(claim: &'c str, known: &[String]) -> Option<Vec<&'c str>> {
    let names: Vec<&str> = claim.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let are_known = names.iter().all(|name| known.iter().any(|known| known == name));
    (claim.contains(',') && !names.is_empty() && are_known).then_some(names)
}
