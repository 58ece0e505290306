//! `ack`: an acknowledgement, in the journal, in place of a promise in prose.

use engine::rules::{AckBy, Rule};
use engine::suggest;
use guard::Project;
use guard::facts::Position;
use guard::file_rules::AnswerByHand;
use guard::grants::{AcknowledgedBy, Acknowledgement};
use guard::session::{CommandRun, SessionOwner, Stage, project_of_command};
use serde_json::{Map, json};
use store::{Note, NoteKind, PERSON, SessionKey};

use super::Context;
use super::check::acknowledged;
use crate::arguments::AckArguments;
use crate::exit_code::ExitCode;
use crate::person;
use crate::plural::counted;
use crate::problem::{CommandResult, Problem};

pub fn run(arguments: &AckArguments, context: &Context) -> CommandResult {
    let project = project_of_command(&context.environment);
    let (rule, whose_rule) = rule(&arguments.rule, &project, context)?;
    let reason = arguments.reason.trim();
    if reason.is_empty() {
        return Err(Problem::new("InvalidValue", "`--reason` is empty").help("say why the rule need not be followed"));
    }
    if !rule.can_be_acknowledged() {
        return Err(refuses_calls(&rule));
    }
    if arguments.trailer {
        return trailer(&rule, reason, context);
    }
    let command = CommandRun {
        words: &["ack", &rule.id],
        session: arguments.session.as_deref(),
        environment: &context.environment,
        now: super::now(),
    };
    // Before an agent was heard of, a person can answer for files, which no session has.
    let is_marked = person::required("ack", &context.environment).is_err();
    let is_in_run = context.environment.get(Stage::RUN).is_some();
    let is_sessionless = arguments.session.is_none() && rule.as_file_rule().is_some() && (!is_marked || is_in_run);
    let has_journal = project.store(&context.environment).exists();
    let store = (has_journal || !is_sessionless).then(|| super::log::open(&project, context)).transpose()?;
    let is_agents = is_marked || store.as_ref().map(|store| command.agent(store)).transpose()?.flatten().is_some();
    if is_agents && rule.ack == AckBy::Human {
        let message = format!("rule `{}` is acknowledged by people (`ack: human`), and an agent runs this", rule.id);
        return Err(Problem::new("NotAPerson", message).help("say why it should be, and let a person decide"));
    }
    let whose = match store.as_ref().map(|store| command.session(store)).transpose()?.flatten() {
        Some(whose) => whose,
        None if is_sessionless => SessionOwner { agent: PERSON.agent.to_owned(), session: PERSON.session.to_owned() },
        None => return Err(unknown_session(arguments)),
    };
    let at = store.as_ref().and_then(|store| store.workflow().ok()).and_then(|state| Position::of(&state.variables));
    drop(store);
    let acknowledgement = Acknowledgement {
        rule: rule.id.clone(),
        digest: rule.digest.clone(),
        reason: reason.to_owned(),
        by: if is_agents { AcknowledgedBy::Agent } else { AcknowledgedBy::Person },
        time: command.now,
    };
    let files = match rule.as_file_rule() {
        Some(_) => Some(settle(&rule, &acknowledgement, &whose, &whose_rule, context)?),
        None => None,
    };
    // What answers nothing is nothing to remember.
    if files != Some(0) {
        note(&acknowledgement, at.as_ref(), &whose, &project, context)?;
    }
    let SessionOwner { agent, session } = &whose;
    if let Some(files) = files {
        let said = match (files, session.is_empty()) {
            (0, true) => format!("`{}` asks for nothing now.", rule.id),
            (0, false) => format!("`{}` asks session {session} of {agent} for nothing now.", rule.id),
            (_, true) => format!("Acknowledged `{}` for {}.", rule.id, counted(files, "file")),
            (_, false) => {
                format!("Acknowledged `{}` in session {session} of {agent} for {}.", rule.id, counted(files, "file"))
            }
        };
        let value = json!({
            "acknowledged": rule.id, "agent": agent, "session": session, "reason": reason,
            "by": acknowledgement.by.name(), "files": files,
        });
        context.output.line_or(said, &value);
        return Ok(ExitCode::Done);
    }
    context.output.line_or(
        format!(
            "Acknowledged `{}` in session {session} of {agent}: it neither warns nor holds there until its text changes.",
            rule.id
        ),
        &json!({
            "acknowledged": rule.id,
            "agent": agent,
            "session": session,
            "reason": reason,
            "by": acknowledgement.by.name(),
        }),
    );
    Ok(ExitCode::Done)
}

/// What a commit's message has to say.
fn trailer(rule: &Rule, reason: &str, context: &Context) -> CommandResult {
    if rule.as_file_rule().is_none() {
        let message = format!("rule `{}` is no file rule, so `check` does not judge it", rule.id);
        return Err(Problem::new("NotAcknowledgeable", message));
    }
    let line = acknowledged::trailer(&rule.id, reason);
    context.output.line_or(&line, &json!({ "trailer": line }));
    Ok(ExitCode::Done)
}

/// A file rule is answered for by the files that it asks about.
fn settle(
    rule: &Rule,
    acknowledgement: &Acknowledgement,
    whose: &SessionOwner,
    project: &Project,
    context: &Context,
) -> Result<usize, Problem> {
    let config = project.looked_at(&context.environment).config;
    let how = format!("acknowledged by {}: {}", acknowledgement.by.name(), acknowledgement.reason);
    let environment = &context.environment;
    let answer = AnswerByHand {
        project,
        config: &config,
        session: whose,
        kept_for_hat: Stage::of_process(project, environment).and_then(|stage| stage.kept_tree()),
        how: &how,
        now: acknowledgement.time,
        environment,
    };
    answer
        .settle(rule)
        .map_err(|why| Problem::new("Git", format!("what `{}` asks for cannot be settled: {why}", rule.id)))
}

/// One of the session's root, or of a folder in it that has rules of its own; and whose it is.
fn rule(name: &str, project: &Project, context: &Context) -> Result<(Rule, Project), Problem> {
    let here = Project::of_person(&context.environment);
    let mut rules = Vec::new();
    for project in [project, &here] {
        let found = project.looked_at(&context.environment).rules.all();
        let found = found.map_err(|error| Problem::new("Unreadable", error.to_string()))?;
        rules.extend(found.into_iter().map(|rule| (rule, project)));
    }
    let help = suggest::closest(name, rules.iter().map(|(rule, _)| rule.id.as_str()))
        .map_or_else(|| "`linchpin status` lists the rules in force".to_owned(), suggest::did_you_mean);
    let is_title = |rule: &Rule| rule.title.as_ref().is_some_and(|title| title.to_lowercase() == name.to_lowercase());
    // Where the person is comes first: the rule that they see there is the one that they mean.
    rules.reverse();
    let place = rules.iter().position(|(rule, _)| rule.id == name);
    let place = place.or_else(|| rules.iter().position(|(rule, _)| is_title(rule)));
    let found = place.map(|place| rules.swap_remove(place)).map(|(rule, project)| (rule, project.clone()));
    found.ok_or_else(|| Problem::new("UnknownRule", format!("no rule in force is named `{name}`")).help(help))
}

fn refuses_calls(rule: &Rule) -> Problem {
    let message = format!("rule `{}` refuses or approves calls, so there is nothing to acknowledge", rule.id);
    Problem::new("NotAcknowledgeable", message)
        .help("a person can let a single call through: `linchpin allow ID`, with the number that the refusal names")
}

fn unknown_session(arguments: &AckArguments) -> Problem {
    match &arguments.session {
        Some(session) => Problem::new("NotFound", format!("the journal knows no session `{session}`"))
            .help("`linchpin log --json` names the sessions"),
        None => Problem::new("NotFound", "no session was heard of yet").help("it begins with an agent's first event"),
    }
}

/// `at`: where the workflow stands, if one is active.
fn note(
    acknowledgement: &Acknowledgement,
    at: Option<&Position>,
    whose: &SessionOwner,
    project: &Project,
    context: &Context,
) -> Result<(), Problem> {
    let Acknowledgement { rule, digest, reason, by, time } = acknowledgement;
    let fields =
        [("rule", json!(rule)), ("digest", json!(digest)), ("reason", json!(reason)), ("by", json!(by.name()))];
    let fields: Map<_, _> = fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
    let note = Note {
        kind: NoteKind::Ack,
        session: SessionKey { agent: &whose.agent, session: &whose.session },
        time: *time,
        root: &project.root.to_string_lossy(),
        cwd: &context.environment.cwd.to_string_lossy(),
        fields: &fields,
        changes: &acknowledgement.changes(at.map(Position::phase_named)),
    };
    super::note(&note, project, context)
}
