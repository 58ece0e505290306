//! Why a workflow cannot be moved, for whoever wanted to.

use engine::suggest;
use guard::facts::PaceError;
use guard::workflow::Refusal;

use crate::problem::Problem;

pub fn problem(refusal: Refusal) -> Problem {
    let message = refusal.to_string();
    let listed = |names: &[String]| names.join(", ");
    match refusal {
        Refusal::NoWorkflow => Problem::new("NoWorkflowLoaded", message)
            .help("`linchpin workflows` lists them, and `linchpin start NAME` begins one"),
        Refusal::NothingToContinue => Problem::new("NoWorkflowLoaded", message)
            .help("there is nothing to go on past: just work on; `linchpin status` shows what is in force"),
        Refusal::AlreadyActive { .. } => Problem::new("WorkflowActive", message)
            .help("finish it, or leave it with `linchpin abort`; `linchpin status` shows where it stands"),
        Refusal::UnknownWorkflow { close, known, .. } => Problem::new("NotFound", message).help(
            close
                .map_or_else(|| format!("the workflows are {}", listed(&known)), |close| suggest::did_you_mean(&close)),
        ),
        Refusal::BrokenWorkflow { .. } => {
            Problem::new("BrokenPolicy", message).help("`linchpin validate` shows all that is wrong")
        }
        // There is no node to speak of.
        Refusal::BrokenUnderWay { node, .. } => Problem::new("NodeNotFound", message)
            .help("mend the file (`linchpin validate` shows all that is wrong), or leave with `linchpin abort`")
            .of_node(&node),
        Refusal::NodeNotFound { node, nodes, .. } => {
            Problem::new("NodeNotFound", message).help(format!("the nodes are {}", listed(&nodes))).of_node(&node)
        }
        Refusal::UnknownClaim { claim, close, known } => {
            Problem::new("InvalidValue", message).help(match (several(&claim, &known), close) {
                (Some(names), _) => {
                    format!("several claims are words of their own: `linchpin next {}`", names.join(" "))
                }
                (None, Some(close)) => suggest::did_you_mean(&close),
                (None, None) => format!("the claims are {}", listed(&known)),
            })
        }
        Refusal::BadClaims(_) => {
            Problem::new("InvalidValue", message).help("give names, or one object such as '{\"code_complete\": true}'")
        }
        Refusal::UnknownRule { known, .. } => Problem::new("UnknownRule", message).help(match known.as_slice() {
            [] => "it has no pace rules".to_owned(),
            rules => format!("its pace rules are {}", listed(rules)),
        }),
        Refusal::Pace { rule, error } => Problem::new(kind_of(&error), message)
            .help(format!("nothing was moved; a person can pass over the rule: `linchpin next --force {rule}`")),
        Refusal::Interrupted => Problem::new("Interrupted", message).interrupted(),
        Refusal::NothingBefore => Problem::new("NotFound", message),
        Refusal::MovedMeanwhile(_) => {
            Problem::new("Moved", message).help("`linchpin repeat` prints what is asked for now")
        }
        Refusal::WrittenMeanwhile => Problem::new("Moved", message).help("nothing was moved; try again"),
        Refusal::InRun(_) => Problem::new("InRun", message)
            .help("hand the work over with `linchpin emit TOPIC SUMMARY`; the topics are in the prompt"),
        Refusal::NotForAgents(verb) => Problem::new("NotAPerson", message)
            .help(format!("a person can do it; `agent_may: [{verb}, …]` in config.yml lets agents do it too, in a repository's once you run `linchpin trust`")),
        Refusal::OfUser { verb, .. } => Problem::new("NotAPerson", message).help(format!(
            "a person can do it; `agent_may: [{verb}, …]` in the user's own config.yml lets agents do it too"
        )),
        Refusal::OnlyAPerson(_) => {
            Problem::new("NotAPerson", message).help("say what you tried and why you are stuck, and wait")
        }
        Refusal::Prompt { .. } | Refusal::When { .. } => Problem::new("InvalidExpression", message),
        Refusal::NothingToApprove { .. } => Problem::new("NotFound", message)
            .help("what was approved counts until the tree changes; `linchpin repeat` prints what is asked for now"),
        Refusal::UnknownApproval { close, known, .. } => {
            Problem::new("NotFound", message).help(match (close, known.as_slice()) {
                (Some(close), _) => suggest::did_you_mean(&close),
                (None, []) => "it has none".to_owned(),
                (None, known) => format!("they are {}", listed(known)),
            })
        }
        Refusal::TreeChanged => Problem::new("Moved", message).help("look at it again: `linchpin approve`"),
        Refusal::Git(error) => error.into(),
        Refusal::Unwritten(_) => Problem::new("Io", message),
        Refusal::Store(_) => Problem::new("MetricAccessFailed", message).help(
            "nothing was moved; try again, and if it stays so, `linchpin doctor` says what is wrong with the journal",
        ),
    }
}

/// Claims that were written as one.
fn several<'c>(claim: &'c str, known: &[String]) -> Option<Vec<&'c str>> {
    let names: Vec<&str> = claim.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let are_known = names.iter().all(|name| known.iter().any(|known| known == name));
    (claim.contains(',') && !names.is_empty() && are_known).then_some(names)
}

fn kind_of(error: &PaceError) -> &'static str {
    match error {
        PaceError::MetricAccessFailed(_) => "MetricAccessFailed",
        PaceError::RegexMatchFailed(_) => "RegexMatchFailed",
    }
}
