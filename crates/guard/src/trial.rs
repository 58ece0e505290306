//! Cases, judged: no project, no journal, no clock, only what the case says.
//!
//! The event of a case is built the way an agent's is, so that a case about a tool call sees what a hook would see.

use std::sync::Arc;

use agents::Agent;
use engine::event::{EventKinds, Outcome, ToolCall};
use engine::facts::{Facts, GitField};
use engine::file_rules::{Changes, FileRule, Reach};
use engine::rules::{Rule, RuleSet, RuleSetError};
use engine::{Decision, Event, EventKind, Inquiry, Place, Situation};
use policy::{Case, Config, EventFields, Subject};
use serde_json::{Map, Value, json};

/// Where every case happens. Nothing is there, and nothing is looked at.
const ROOT: &str = "/project";
const HOME: &str = "/home/user";
const TEMP: &str = "/tmp";
/// A fixed moment, in milliseconds since 1970.
const NOW: i64 = 1_800_000_000_000;

/// Judges the event of a case by some rules, clause by clause.
pub fn judge(case: &Case, rules: &RuleSet, config: &Config) -> Result<Decision, RuleSetError> {
    let event = Arc::new(event_of(&case.subject));
    let place =
        Place { root: ROOT.to_owned(), home: Some(HOME.to_owned()), temp: Some(TEMP.to_owned()), ..Place::default() };
    let on_stop = on_stop(&case.subject, rules)?;
    let rules = on_stop.as_ref().unwrap_or(rules);
    let facts = CaseFacts {
        variables: case.variables.clone(),
        git: case.git.clone(),
        config: config.clone(),
        changes: changes_of(&case.subject),
        rules: rules.clone(),
    };
    let situation = Arc::new(Situation::new(event, place, Arc::new(facts)));
    engine::decide(&Inquiry { situation: &situation, rules, thorough: true })
}

/// Files that changed are judged by every file rule, whatever events it is for.
fn on_stop(subject: &Subject, rules: &RuleSet) -> Result<Option<RuleSet>, RuleSetError> {
    let Subject::Files(_) = subject else { return Ok(None) };
    let on = EventKinds::default().with(EventKind::Stop);
    let rules = rules.all()?.into_iter().filter(|rule| rule.as_file_rule().is_some());
    RuleSet::pack(&rules.map(|rule| Rule { on, ..rule }).collect::<Vec<_>>()).map(Some)
}

fn changes_of(subject: &Subject) -> Option<Arc<Changes>> {
    match subject {
        Subject::Files(changes) => Some(Arc::new(changes.iter().cloned().collect())),
        Subject::Command(_) | Subject::Tool { .. } | Subject::Event(_) => None,
    }
}

fn event_of(subject: &Subject) -> Event {
    match subject {
        Subject::Files(_) => Event {
            kind: EventKind::Stop,
            name: EventKind::Stop.name().to_owned(),
            cwd: ROOT.to_owned(),
            ..Event::unnamed(Agent::Claude.name(), NOW)
        },
        Subject::Command(command) => tool_event(EventKind::BeforeTool, "Bash", &json!({ "command": command })),
        Subject::Tool { name, input } => tool_event(EventKind::BeforeTool, name, input),
        Subject::Event(fields) => event_with(fields),
    }
}

fn event_with(fields: &EventFields) -> Event {
    let tool = fields.tool.as_deref().or(fields.command.as_ref().map(|_| "Bash"));
    let mut event = match tool {
        Some(tool) => {
            let given = fields.command.as_ref().map(|command| json!({ "command": command }));
            let input = fields.input.clone().or(given).unwrap_or_else(|| json!({}));
            tool_event(fields.kind, tool, &input)
        }
        None => Event { cwd: ROOT.to_owned(), ..Event::unnamed(Agent::Claude.name(), NOW) },
    };
    event.kind = fields.kind;
    fields.kind.name().clone_into(&mut event.name);
    event.agent = fields.agent.clone().unwrap_or(event.agent);
    event.prompt.clone_from(&fields.prompt);
    event.message.clone_from(&fields.message);
    event.outcome = fields.failed.map(|failed| if failed { Outcome::Failed } else { Outcome::Ok });
    if let Some(call) = &mut event.tool {
        call.output.clone_from(&fields.output);
    }
    event
}

/// As Claude Code would send it: its names of tools are the canonical ones.
fn tool_event(kind: EventKind, tool: &str, input: &Value) -> Event {
    let payload = json!({
        "session_id": "case",
        "cwd": ROOT,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
    });
    match agents::decode(Agent::Claude, payload.to_string().as_bytes(), NOW) {
        Ok(event) => Event { kind, ..event },
        Err(unread) => {
            let call = ToolCall { name: tool.to_owned(), input: input.clone(), ..ToolCall::default() };
            Event { kind, tool: Some(call), ..unread.partial }
        }
    }
}

/// What a case says is known.
struct CaseFacts {
    variables: Map<String, Value>,
    git: Map<String, Value>,
    config: Config,
    changes: Option<Arc<Changes>>,
    rules: RuleSet,
}

impl Facts for CaseFacts {
    fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).cloned().or_else(|| self.config.variable(name))
    }

    fn variable_names(&self) -> Vec<String> {
        let given = self.variables.keys().map(String::as_str);
        let mut names: Vec<String> = given.chain(self.config.variable_names()).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    fn changes(&self, _reach: Reach) -> Option<Arc<Changes>> {
        self.changes.clone()
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.rules.get(id).ok()??.as_file_rule().cloned()
    }

    fn git(&self, field: GitField) -> Value {
        self.git.get(field.name()).cloned().unwrap_or(Value::Null)
    }
}
