//! Why a workflow cannot be moved: the documented kind of the error, and what to do next.

use engine::suggest;
use guard::facts::PaceError;
use guard::workflow::Refusal;

use crate::problem::Problem;

pub fn problem(refusal: Refusal) -> Problem {
    let problem = Problem::new(kind(&refusal), refusal.to_string());
    let problem = match help(&refusal) {
        Some(help) => problem.help(help),
        None => problem,
    };
    match refusal {
        Refusal::BrokenUnderWay { node, .. } | Refusal::NodeNotFound { node, .. } => problem.of_node(&node),
        Refusal::Interrupted => problem.interrupted(),
        Refusal::Git(error) => error.into(),
        _ => problem,
    }
}

fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoWorkflow | Refusal::NothingToContinue => "NoWorkflowLoaded",
        Refusal::AlreadyActive { .. } => "WorkflowActive",
        Refusal::UnknownWorkflow { .. }
        | Refusal::NothingBefore
        | Refusal::NothingToApprove { .. }
        | Refusal::UnknownApproval { .. } => "NotFound",
        Refusal::BrokenWorkflow { .. } => "BrokenPolicy",
        // A file with errors has no nodes.
        Refusal::BrokenUnderWay { .. } | Refusal::NodeNotFound { .. } => "NodeNotFound",
        Refusal::UnknownClaim { .. } | Refusal::BadClaims(_) => "InvalidValue",
        Refusal::UnknownRule { .. } => "UnknownRule",
        Refusal::Pace { error: PaceError::RegexMatchFailed(_), .. } => "RegexMatchFailed",
        Refusal::Pace { error: PaceError::MetricAccessFailed(_), .. } | Refusal::Store(_) => "MetricAccessFailed",
        Refusal::Interrupted => "Interrupted",
        Refusal::MovedMeanwhile(_) | Refusal::WrittenMeanwhile | Refusal::TreeChanged => "Moved",
        Refusal::InRun(_) => "InRun",
        Refusal::NotForAgents(_) | Refusal::PeopleOnly(_) | Refusal::OfUser { .. } | Refusal::OnlyAPerson(_) => {
            "NotAPerson"
        }
        Refusal::Prompt { .. } | Refusal::When { .. } => "InvalidExpression",
        Refusal::Git(_) => "Git",
        Refusal::Unwritten(_) => "Io",
    }
}

fn help(refusal: &Refusal) -> Option<String> {
    let fixed = match refusal {
        Refusal::NoWorkflow => "`linchpin workflows` lists them, and `linchpin start NAME` begins one",
        Refusal::NothingToContinue => {
            "there is nothing to go on past: just work on; `linchpin status` shows what is in force"
        }
        Refusal::AlreadyActive { .. } => {
            "finish it, or leave it with `linchpin abort`; `linchpin status` shows where it stands"
        }
        Refusal::BrokenWorkflow { .. } => "`linchpin validate` shows all that is wrong",
        Refusal::BrokenUnderWay { .. } => {
            "mend the file (`linchpin validate` shows all that is wrong), or leave with `linchpin abort`"
        }
        Refusal::BadClaims(_) => "give names, or one object such as '{\"code_complete\": true}'",
        Refusal::MovedMeanwhile(_) => "`linchpin repeat` prints what is asked for now",
        Refusal::WrittenMeanwhile => "nothing was moved; try again",
        Refusal::InRun(_) => "hand the work over with `linchpin emit TOPIC SUMMARY`; the topics are in the prompt",
        Refusal::OnlyAPerson(_) => "say what you tried and why you are stuck, and wait",
        Refusal::NothingToApprove { .. } => {
            "what was approved counts until the tree changes; `linchpin repeat` prints what is asked for now"
        }
        Refusal::TreeChanged => "look at it again: `linchpin approve`",
        Refusal::Store(_) => {
            "nothing was moved; try again, and if it stays so, `linchpin doctor` says what is wrong with the journal"
        }
        named => return help_with_names(named),
    };
    Some(fixed.to_owned())
}

/// The help that names what the refusal is about, or what exists in its place.
fn help_with_names(refusal: &Refusal) -> Option<String> {
    let help = match refusal {
        Refusal::UnknownWorkflow { close: Some(close), .. } | Refusal::UnknownApproval { close: Some(close), .. } => {
            suggest::did_you_mean(close)
        }
        Refusal::UnknownWorkflow { close: None, known, .. } => format!("the workflows are {}", known.join(", ")),
        Refusal::NodeNotFound { nodes, .. } => format!("the nodes are {}", nodes.join(", ")),
        Refusal::UnknownClaim { claim, close, known } => match (several(claim, known), close) {
            (Some(names), _) => format!("several claims are words of their own: `linchpin next {}`", names.join(" ")),
            (None, Some(close)) => suggest::did_you_mean(close),
            (None, None) => format!("the claims are {}", known.join(", ")),
        },
        Refusal::UnknownRule { known, .. } if known.is_empty() => "it has no pace rules".to_owned(),
        Refusal::UnknownRule { known, .. } => format!("its pace rules are {}", known.join(", ")),
        Refusal::Pace { rule, .. } => {
            format!("nothing was moved; a person can pass over the rule: `linchpin next --force {rule}`")
        }
        Refusal::NotForAgents(verb) => format!(
            "a person can do it; `agent_may: [{verb}, …]` in config.yml lets agents do it too, in a repository's once you run \
             `linchpin trust`"
        ),
        Refusal::PeopleOnly(_) => "run it in a terminal of your own".to_owned(),
        Refusal::OfUser { verb, .. } => {
            format!("a person can do it; `agent_may: [{verb}, …]` in the user's own config.yml lets agents do it too")
        }
        Refusal::UnknownApproval { close: None, known, .. } if known.is_empty() => "it has none".to_owned(),
        Refusal::UnknownApproval { close: None, known, .. } => format!("they are {}", known.join(", ")),
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
