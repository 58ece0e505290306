//! `allow`: a person allows one refused call.

use engine::{EventKind, Finding, Level};
use guard::Project;
use guard::grants::{AllowanceSpan, Allowances, CallDigest};
use serde_json::{Map, Value, json};
use store::{EntryId, JournalEntry, JournalFilter, Note, NoteKind, SessionKey, StateChanges, Store};

use super::Context;
use crate::arguments::AllowArguments;
use crate::exit_code::ExitCode;
use crate::person::{self, Confirmation};
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &AllowArguments, context: &Context) -> CommandOutcome {
    person::required("allow", &context.environment)?;
    let project = Project::of_sessions(&context.environment);
    let entry = entry(arguments.id, &super::journal::open(&project, context)?)?;
    let call = refused_call(&entry, &project)?;
    let span = if arguments.session { AllowanceSpan::Session } else { AllowanceSpan::Once };
    if !context.output.json {
        show(&entry, context);
    }
    let without_asking =
        format!("linchpin allow {}{} --yes", arguments.id, if arguments.session { " --session" } else { "" });
    let confirmation = Confirmation { question: question(span), subject: "the call", without_asking: &without_asking };
    if !arguments.yes && !confirmation.ask(&context.output)? {
        return Err(Problem::new("Untrusted", "nothing was allowed"));
    }
    // The note is written first, so that no call is allowed without a journal entry.
    write_note(&entry, span, &project, context)?;
    Allowances::of(&project.root, &context.environment).grant(&call, entry.id, span)?;
    let text = match span {
        AllowanceSpan::Once => "Allowed once: the agent's next try of this call will pass.",
        AllowanceSpan::Session => "Allowed for this session: this call passes each time.",
    };
    context.output.line_or(
        text,
        &json!({
            "allowed": entry.id,
            "span": span.name(),
            "agent": entry.session.agent,
            "session": entry.session.id,
            "tool": entry.tool.name,
            "command": entry.tool.command,
            "paths": entry.tool.paths,
        }),
    );
    Ok(ExitCode::Done)
}

fn question(span: AllowanceSpan) -> &'static str {
    match span {
        AllowanceSpan::Once => "Allow it once?",
        AllowanceSpan::Session => "Allow it for the whole session?",
    }
}

fn entry(id: i64, store: &Store) -> Result<JournalEntry, Problem> {
    let filter = JournalFilter { after: Some(EntryId(id.saturating_sub(1))), limit: 1, ..JournalFilter::default() };
    let found = store.entries(&filter)?.into_iter().find(|entry| entry.id.0 == id);
    found.ok_or_else(|| Problem::new("NotFound", format!("the journal has no event {id}")).help(REFUSALS))
}

const REFUSALS: &str = "each refusal shows its number; `linchpin log --level ask` lists the refusals of this project";

fn refused_call(entry: &JournalEntry, project: &Project) -> Result<CallDigest, Problem> {
    let id = entry.id.0;
    if entry.session.root != project.root.to_string_lossy() {
        let message = format!("event {id} belongs to another project, `{}`", entry.session.root);
        return Err(Problem::new("NotFound", message).help("run the command in that project"));
    }
    let refuses = |why: &str| Problem::new("NotRefused", format!("event {id} {why}")).help(REFUSALS);
    if let Some(not_enforced) = entry.verdict.not_enforced {
        return Err(refuses(&format!("was not refused: {not_enforced}")));
    }
    if entry.verdict.level < Level::Ask {
        return Err(refuses("was not refused"));
    }
    let holding_rule = entry.verdict.findings.iter().find(|finding| finding.level == Level::Block);
    if let Some(Finding { rule, .. }) =
        holding_rule.filter(|_| EventKind::from_name(&entry.kind).is_some_and(EventKind::is_stop))
    {
        return Err(Problem::new("NotRefused", format!("event {id} is a held stop, not a tool call"))
            .help(format!("acknowledge its rule: `linchpin ack {rule} --reason \"…\"`")));
    }
    let awaits_permission = EventKind::from_name(&entry.kind).is_some_and(EventKind::awaits_permission);
    let call = awaits_permission.then(|| CallDigest::of_entry(entry)).flatten();
    call.ok_or_else(
        || {
            if awaits_permission { refuses("does not name the call") } else { refuses("is not a tool call") }
        },
    )
}

fn show(entry: &JournalEntry, context: &Context) {
    let output = &context.output;
    let tool = entry.tool.name.as_deref().unwrap_or_default();
    output.line(output.bold(&format!("{tool}, refused in session {} of {}", entry.session.id, entry.session.agent)));
    let command = entry.tool.command.iter().flat_map(|command| command.lines());
    let paths = entry.tool.paths.iter().map(|file| file.path.as_str());
    for line in command.chain(paths) {
        output.line(format!("    {line}"));
    }
    output.blank();
    for finding in entry.verdict.reported_findings() {
        output.line(format!("{} {}: {}", output.level(finding.level), finding.rule, finding.reason));
    }
    output.blank();
}

fn write_note(entry: &JournalEntry, span: AllowanceSpan, project: &Project, context: &Context) -> Result<(), Problem> {
    let fields = [("refusal", json!(entry.id)), ("span", json!(span.name())), ("by", json!("person"))];
    let fields: Map<String, Value> = fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
    super::journal::write_note(
        &Note {
            kind: NoteKind::Allow,
            session: SessionKey { agent: &entry.session.agent, session: &entry.session.id },
            time: super::now(),
            root: &entry.session.root,
            cwd: &context.environment.cwd.to_string_lossy(),
            fields: &fields,
            changes: &StateChanges::default(),
        },
        project,
        context,
    )
}
