//! `ack`: records an acknowledgement of a rule in the journal.

mod acknowledger;

use engine::rules::Rule;
use guard::Position;
use guard::Project;
use guard::file_rules::{AnswerOutcome, ManualAnswer};
use guard::grants::Acknowledgement;
use guard::session::{AgentSession, HatPhase, project_of_command};
use serde_json::{Map, json};
use store::{Note, NoteKind, SessionKey};

use self::acknowledger::Acknowledger;
use super::Context;
use super::check::{ack_trailer, not_a_file_rule};
use super::unknown_rule::not_in_force;
use crate::arguments::AckArguments;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &AckArguments, context: &Context) -> CommandOutcome {
    let project = project_of_command(&context.environment);
    let (rule, project_of_rule) = find_rule(&arguments.rule, &project, context)?;
    let reason = arguments.reason.trim();
    if reason.is_empty() {
        return Err(Problem::new("InvalidValue", "`--reason` is empty").help("say why the rule does not apply"));
    }
    if !rule.can_be_acknowledged() {
        return Err(refuses_calls(&rule));
    }
    if arguments.trailer {
        return print_trailer(&rule, reason, context);
    }
    let now = super::now();
    let Acknowledger { by, session, position } =
        Acknowledger::of(&rule, arguments.session.as_deref(), now, &project, context)?;
    let acknowledgement = Acknowledgement {
        rule: rule.id.clone(),
        digest: rule.digest.clone(),
        reason: reason.to_owned(),
        by,
        time: now,
    };
    let outcome = match rule.as_file_rule() {
        Some(_) => Some(acknowledge_files(&rule, &acknowledgement, &session, &project_of_rule, context)?),
        None => None,
    };
    // An acknowledgement of a file rule without open demands has no effect, so it is not stored.
    if matches!(outcome, None | Some(AnswerOutcome::Answered(_))) {
        write_note(&acknowledgement, position.as_ref(), &session, &project, context)?;
    }
    report(&acknowledgement, &session, outcome, &context.output);
    Ok(ExitCode::Done)
}

/// Prints what was acknowledged. `outcome`: for a file rule, which demands the acknowledgement answered.
fn report(acknowledgement: &Acknowledgement, session: &AgentSession, outcome: Option<AnswerOutcome>, output: &Output) {
    let Acknowledgement { rule, reason, by, .. } = acknowledgement;
    let AgentSession { agent, id: session } = session;
    let place = if session.is_empty() { String::new() } else { format!(" in session {session} of {agent}") };
    let text = match outcome {
        None => {
            format!("Acknowledged `{rule}`{place}: until its text changes, it neither warns nor holds the stop there.")
        }
        Some(AnswerOutcome::NoDemand) => format!("`{rule}` has no open demand{place}."),
        Some(AnswerOutcome::AlreadyAnswered) => {
            format!("`{rule}` is already acknowledged{place} for these changes; nothing was recorded.")
        }
        Some(AnswerOutcome::Answered(files)) => format!("Acknowledged `{rule}`{place} for {}.", counted(files, "file")),
    };
    let mut value = json!({
        "acknowledged": rule, "agent": agent, "session": session, "reason": reason, "by": by.name(),
    });
    if let (Some(outcome), Some(fields)) = (outcome, value.as_object_mut()) {
        let files = if let AnswerOutcome::Answered(files) = outcome { files } else { 0 };
        fields.insert("files".to_owned(), json!(files));
    }
    output.line_or(text, &value);
}

/// Prints the line for a commit message that acknowledges the rule.
fn print_trailer(rule: &Rule, reason: &str, context: &Context) -> CommandOutcome {
    if rule.as_file_rule().is_none() {
        return Err(not_a_file_rule(&rule.id));
    }
    let line = ack_trailer::trailer(&rule.id, reason);
    context.output.line_or(&line, &json!({ "trailer": line }));
    Ok(ExitCode::Done)
}

/// Acknowledges a file rule's open demands.
fn acknowledge_files(
    rule: &Rule,
    acknowledgement: &Acknowledgement,
    owner: &AgentSession,
    project: &Project,
    context: &Context,
) -> Result<AnswerOutcome, Problem> {
    let config = project.compiled_policy_read_only(&context.environment).config;
    let author_and_reason = format!("acknowledged by {}: {}", acknowledgement.by.name(), acknowledgement.reason);
    let environment = &context.environment;
    let answer = ManualAnswer {
        project,
        config: &config,
        agent_session: owner,
        hat_snapshot: HatPhase::of_process(project, environment).and_then(|hat_phase| hat_phase.tree_snapshot()),
        author_and_reason: &author_and_reason,
        now: acknowledgement.time,
        environment,
    };
    answer
        .answer(rule)
        .map_err(|why| Problem::new("Git", format!("the demand of `{}` cannot be closed: {why}", rule.id)))
}

/// Returns the rule whose id or title is `name`, and the project whose policy contains it: `project`, or the nearest
/// one above the working directory.
fn find_rule(name: &str, project: &Project, context: &Context) -> Result<(Rule, Project), Problem> {
    let here = Project::of_person(&context.environment);
    let mut rules = Vec::new();
    for project in [project, &here] {
        let found = project.compiled_policy_read_only(&context.environment).rules.all();
        let found = found.map_err(|error| Problem::new("Unreadable", error.to_string()))?;
        rules.extend(found.into_iter().map(|rule| (rule, project)));
    }
    let is_title = |rule: &Rule| rule.title.as_ref().is_some_and(|title| title.to_lowercase() == name.to_lowercase());
    // The policy at the working directory comes first: the person means the rule that is in force there.
    rules.reverse();
    let place = rules.iter().position(|(rule, _)| rule.id == name);
    let place = place.or_else(|| rules.iter().position(|(rule, _)| is_title(rule)));
    let found = place.map(|place| rules.swap_remove(place)).map(|(rule, project)| (rule, project.clone()));
    found.ok_or_else(|| not_in_force(name, &here.load(&context.environment)))
}

fn refuses_calls(rule: &Rule) -> Problem {
    let message = format!("rule `{}` refuses or approves calls, so there is nothing to acknowledge", rule.id);
    Problem::new("NotAcknowledgeable", message)
        .help("a person can allow a single call: `linchpin allow ID`, with the number in the refusal")
}

/// Records the acknowledgement in the journal. `at`: the current phase, if a workflow is active.
fn write_note(
    acknowledgement: &Acknowledgement,
    at: Option<&Position>,
    owner: &AgentSession,
    project: &Project,
    context: &Context,
) -> Result<(), Problem> {
    let Acknowledgement { rule, digest, reason, by, time } = acknowledgement;
    let fields =
        [("rule", json!(rule)), ("digest", json!(digest)), ("reason", json!(reason)), ("by", json!(by.name()))];
    let fields: Map<_, _> = fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
    let note = Note {
        kind: NoteKind::Ack,
        session: SessionKey { agent: &owner.agent, session: &owner.id },
        time: *time,
        root: &project.root.to_string_lossy(),
        cwd: &context.environment.cwd.to_string_lossy(),
        fields: &fields,
        changes: &acknowledgement.changes(at.map(Position::phase_name)),
    };
    super::journal::write_note(&note, project, context)
}
