//! Judges test cases of rules. All facts come from the test case: no project, journal or clock is used.
//!
//! The event of a case is decoded from a payload, so that a tool call in a case is judged like one from a hook.

use std::sync::Arc;

use agents::Agent;
use engine::event::{CallOutcome, EventKinds, ToolCall};
use engine::facts::{Facts, GitField, Missing, TaskField};
use engine::file_rules::{ChangeScope, Changes, FileRule};
use engine::pace::{Activity, LiveMode, PaceRule, PaceRuleRef, PaceState, Phase, PhaseHistory};
use engine::rules::{Detector, Rule, RuleSet, RuleSetError};
use engine::{BaseDirectories, Decision, DecisionRequest, Event, EventKind, Situation};
use policy::{CaseActivity, CaseSubject, Config, EventFields, PolicyCase, TimedActivity};
use serde_json::{Map, Value, json};

/// The root of the project in every case. It does not exist, and is never accessed.
const ROOT: &str = "/project";
const HOME: &str = "/home/user";
const TEMP: &str = "/tmp";
/// A fixed time, in milliseconds since 1970.
const NOW: i64 = 1_800_000_000_000;

/// Judges the event of a case and returns the result of each clause.
pub fn judge(case: &PolicyCase, rules: &RuleSet, config: &Config) -> Result<Decision, RuleSetError> {
    let event = Arc::new(event_of(&case.subject));
    let base_directories = BaseDirectories {
        root: ROOT.to_owned(),
        home: Some(HOME.to_owned()),
        temp: Some(TEMP.to_owned()),
        ..BaseDirectories::default()
    };
    let adjusted_rules = rules_for_case(&case.subject, rules)?;
    let rules = adjusted_rules.as_ref().unwrap_or(rules);
    let facts = CaseFacts {
        variables: case.variables.clone(),
        git: case.git.clone(),
        tasks: case.tasks.clone(),
        config: config.clone(),
        changes: changes_of(&case.subject),
        history: history_of(&case.subject),
        rules: rules.clone(),
    };
    let situation = Arc::new(Situation::new(event, base_directories, Arc::new(facts)));
    engine::decide(&DecisionRequest { situation: &situation, rules, evaluate_all: true })
}

/// The adjusted rules for a case about files or about a phase; `None` for other cases. A case about files is judged by
/// every file rule, no matter for which events the rule is. A case about a phase is judged by every pace rule, no
/// matter for which events the rule is and which `live` mode it has.
fn rules_for_case(subject: &CaseSubject, rules: &RuleSet) -> Result<Option<RuleSet>, RuleSetError> {
    let rule = |rule: Rule| match (subject, &rule.detect) {
        (CaseSubject::Files(_), Detector::Files(_)) => {
            Some(Rule { on: EventKinds::default().with(EventKind::Stop), ..rule })
        }
        (CaseSubject::Phase { .. }, Detector::Pace(pace)) => {
            let detect = Detector::Pace(Box::new(PaceRule { live: LiveMode::Warn, ..(**pace).clone() }));
            Some(Rule { on: EventKinds::default().with(EventKind::AfterTool), detect, ..rule })
        }
        _ => None,
    };
    if !matches!(subject, CaseSubject::Files(_) | CaseSubject::Phase { .. }) {
        return Ok(None);
    }
    RuleSet::pack(&rules.all()?.into_iter().filter_map(rule).collect::<Vec<_>>()).map(Some)
}

/// The history and duration of the phase that a case describes; `None` if the case is not about a phase.
fn history_of(subject: &CaseSubject) -> Option<(PhaseHistory, Phase)> {
    let CaseSubject::Phase { activities, now } = subject else { return None };
    let mut history = PhaseHistory::default();
    for TimedActivity { at, activity } in activities {
        let time = NOW.saturating_add(at.saturating_mul(1000));
        match activity {
            CaseActivity::Command { text, has_failed } => {
                let parts = shell::parse(text).texts().collect();
                history.activities.push((time, Activity::command(text.clone(), parts, *has_failed)));
            }
            CaseActivity::Edit(path) => {
                history.activities.push((time, Activity::edit("Edit".to_owned(), vec![path.clone()])));
            }
            CaseActivity::Tokens { message, tokens } => {
                history.tokens.insert(message.clone(), *tokens);
            }
        }
    }
    history.activities.sort_by_key(|(time, _)| *time);
    Some((
        history,
        Phase { name: None, started: NOW, now: NOW.saturating_add(now.saturating_mul(1000)), utc_offset: 0 },
    ))
}

fn changes_of(subject: &CaseSubject) -> Option<Arc<Changes>> {
    match subject {
        CaseSubject::Files(changes) => Some(Arc::new(changes.iter().cloned().collect())),
        CaseSubject::Command(_) | CaseSubject::Tool { .. } | CaseSubject::Event(_) | CaseSubject::Phase { .. } => None,
    }
}

/// The event that a case describes.
fn event_of(subject: &CaseSubject) -> Event {
    match subject {
        CaseSubject::Files(_) => event_without_call(EventKind::Stop),
        CaseSubject::Phase { .. } => event_without_call(EventKind::AfterTool),
        CaseSubject::Command(command) => tool_event(EventKind::BeforeTool, "Bash", &json!({ "command": command })),
        CaseSubject::Tool { name, input } => tool_event(EventKind::BeforeTool, name, input),
        CaseSubject::Event(fields) => event_with(fields),
    }
}

fn event_without_call(kind: EventKind) -> Event {
    let name = kind.name().to_owned();
    Event { kind, name, cwd: ROOT.to_owned(), ..Event::unknown(Agent::Claude.name(), NOW) }
}

fn event_with(fields: &EventFields) -> Event {
    let tool = fields.tool.as_deref().or(fields.command.as_ref().map(|_| "Bash"));
    let mut event = match tool {
        Some(tool) => {
            let command_input = fields.command.as_ref().map(|command| json!({ "command": command }));
            let input = fields.input.clone().or(command_input).unwrap_or_else(|| json!({}));
            tool_event(fields.kind, tool, &input)
        }
        None => Event { cwd: ROOT.to_owned(), ..Event::unknown(Agent::Claude.name(), NOW) },
    };
    event.kind = fields.kind;
    fields.kind.name().clone_into(&mut event.name);
    event.agent = fields.agent.clone().unwrap_or(event.agent);
    event.prompt.clone_from(&fields.prompt);
    event.message.clone_from(&fields.message);
    event.outcome = fields.failed.map(|failed| if failed { CallOutcome::Failed } else { CallOutcome::Ok });
    if let Some(call) = &mut event.tool {
        call.output.clone_from(&fields.output);
    }
    event
}

/// The event of a tool call, decoded from a payload of Claude Code, because rules use the same names of tools as Claude
/// Code.
fn tool_event(kind: EventKind, tool: &str, input: &Value) -> Event {
    let payload = json!({
        "session_id": "case",
        "cwd": ROOT,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
    });
    match agents::decode(Agent::Claude, None, payload.to_string().as_bytes(), NOW) {
        Ok(event) => Event { kind, ..event },
        Err(error) => {
            let call = ToolCall { name: tool.to_owned(), input: input.clone(), ..ToolCall::default() };
            Event { kind, tool: Some(call), ..error.partial }
        }
    }
}

/// The facts that a case contains.
struct CaseFacts {
    variables: Map<String, Value>,
    git: Map<String, Value>,
    tasks: Map<String, Value>,
    config: Config,
    changes: Option<Arc<Changes>>,
    history: Option<(PhaseHistory, Phase)>,
    rules: RuleSet,
}

impl CaseFacts {
    /// True if the case lists the task with this id under the key `list`.
    fn lists_task(&self, list: &str, id: &str) -> bool {
        self.tasks.get(list).and_then(Value::as_array).is_some_and(|ids| ids.iter().any(|other| other == id))
    }
}

impl Facts for CaseFacts {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        Ok(self.variables.get(name).cloned().or_else(|| self.config.initial_value(name)))
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        let case_variables = self.variables.keys().map(String::as_str);
        let mut names: Vec<String> = case_variables.chain(self.config.variable_names()).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn changes(&self, _scope: ChangeScope) -> Result<Option<Arc<Changes>>, Missing> {
        Ok(self.changes.clone())
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.rules.get(id).ok()??.as_file_rule().cloned()
    }

    fn pace_state(&self, rule: PaceRuleRef<'_>, _activity: Option<&Activity>) -> Result<Option<PaceState>, Missing> {
        let Some((history, phase)) = &self.history else { return Ok(None) };
        Ok(history.state(&rule.pace.limit, phase.clone()).ok())
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        Ok(self.git.get(field.name()).cloned().unwrap_or(Value::Null))
    }

    fn tasks(&self, field: TaskField) -> Result<Value, Missing> {
        Ok(self.tasks.get(field.name()).cloned().unwrap_or_else(|| json!(0)))
    }

    fn task_tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        Ok(self.lists_task("complete", id))
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        Ok(self.lists_task("needs_review", id))
    }
}
