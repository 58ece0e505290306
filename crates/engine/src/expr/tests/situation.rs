//! Tests how names resolve in a situation, and that facts are requested only if an expression uses them.

use crate::file_rules::ChangeScope;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use crate::{
    event::Event,
    expr::{EvaluationError, Scope, check, context_names, evaluate, evaluate_with_names, is_true},
    facts::{
        EventPart, FactStore, Facts, GitField, Missing, NoFacts, PhaseField, RanCommand, TaskField, WorkflowField,
    },
    situation::{BaseDirectories, Situation},
};

#[derive(Default)]
struct RecordingFacts {
    log: Arc<Mutex<Vec<String>>>,
}

impl RecordingFacts {
    fn record(&self, request: impl Into<String>) {
        self.log.lock().expect("not poisoned").push(request.into());
    }
}

impl Facts for RecordingFacts {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        self.record(format!("variable {name}"));
        Ok(match name {
            "release" => Some(json!(true)),
            "event" | "git" => Some(json!("a variable")),
            "attempts" => Some(json!({"count": 2})),
            _ => None,
        })
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        self.record("names");
        Ok(vec!["attempts".to_owned(), "release".to_owned()])
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        self.record(format!("git {field:?}"));
        Ok(match field {
            GitField::Branch => json!("main"),
            GitField::Dirty => json!(false),
            GitField::DefaultBranch | GitField::Head => Value::Null,
        })
    }

    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        Ok(match field {
            WorkflowField::Node => json!("code"),
            WorkflowField::History => json!(["spec", "code"]),
            WorkflowField::Name | WorkflowField::Active => Value::Null,
        })
    }

    fn phase(&self, field: PhaseField) -> Result<Value, Missing> {
        Ok(if field == PhaseField::Elapsed { json!(61.5) } else { Value::Null })
    }

    fn tasks(&self, field: TaskField) -> Result<Value, Missing> {
        self.record(format!("tasks {field:?}"));
        Ok(json!(if field == TaskField::Open { 2 } else { 0 }))
    }

    fn task_tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        self.record(format!("tree {id}"));
        Ok(id == "t1" || id == "t2")
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        Ok(id == "t3")
    }

    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        Ok(Map::from_iter([("code_complete".to_owned(), json!(true))]))
    }

    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        self.record("commands");
        Ok(vec![
            RanCommand { time: 99_000, text: "cargo test".to_owned(), succeeded: true },
            RanCommand { time: 40_000, text: "git fetch".to_owned(), succeeded: false },
        ])
    }

    fn require(&self, part: EventPart<'_>) -> Result<(), Missing> {
        self.record(if part == EventPart::HasInput { "has input".to_owned() } else { part.name() });
        Ok(())
    }
}

fn event() -> Event {
    serde_json::from_value(json!({
        "kind": "before_tool", "name": "PreToolUse", "agent": "claude", "session": "s1", "time": 100_000, "cwd": "/project",
        "tool": {
            "name": "Bash",
            "input": {"command": "git push", "get": "in the way"},
            "output": {"code": 0},
            "shell": {"command": "git push"},
            "files": [{"path": "/project/a.rs", "access": "write"}],
        },
        "outcome": "ok", "prompt": "please push", "message": "pushing",
    }))
    .expect("an event")
}

fn situation() -> (Arc<Situation>, Arc<Mutex<Vec<String>>>) {
    let facts = RecordingFacts::default();
    let log = Arc::clone(&facts.log);
    (Arc::new(Situation::new(Arc::new(event()), BaseDirectories::default(), Arc::new(facts))), log)
}

fn value(source: &str) -> Value {
    let errors = check(source, &Scope::with_variables(["release", "attempts", "unset", "event", "git"]));
    assert_eq!(errors, [], "{source}");
    evaluate(source, &situation().0).expect(source)
}

#[test]
fn every_field_of_the_event_has_a_value() {
    let fields: Vec<Value> = context_names::EVENT_FIELDS.iter().map(|field| value(&format!("event.{field}"))).collect();
    assert_eq!(
        Value::from(fields),
        json!([
            "before_tool", "claude", "s1", "Bash", {"command": "git push", "get": "in the way"}, {"code": 0}, "ok",
            "git push", ["git push"], ["/project/a.rs"], "please push", "pushing", "/project", 100_000
        ])
    );
    assert_eq!(value("[tool_name, tool_input.command, source]"), json!(["Bash", "git push", "claude"]));
    assert_eq!(value("event"), value("dict(event)"));
}

#[test]
fn missing_fields_of_the_event_are_undefined() {
    let event = json!({"kind": "stop", "name": "Stop", "agent": "claude", "session": "s1", "time": 1, "cwd": "/"});
    let event = serde_json::from_value(event).expect("an event");
    let situation = Arc::new(Situation::new(Arc::new(event), BaseDirectories::default(), Arc::new(NoFacts)));
    for source in
        ["event.tool", "event.command", "tool_input.command", "event.paths", "event.prompt", "git.branch", "git.head"]
    {
        assert_eq!(evaluate(source, &situation), Ok(Value::Null), "{source}");
    }
    assert_eq!(evaluate("event.commands", &situation), Ok(json!([])));
    assert_eq!(is_true("not variables and 'x' not in variables", &situation, ChangeScope::default()), Ok(true));
}

#[test]
fn variables_can_be_used_by_name_and_shadow_nothing() {
    assert_eq!(
        value("[release, variables.release, variables['release'], variables.get('release')]"),
        json!([true, true, true, true])
    );
    assert_eq!(value("[unset, variables.get('unset', 7), attempts.count]"), json!([null, 7, 2]));
    assert_eq!(value("[event.tool, git.branch, variables.event]"), json!(["Bash", "main", "a variable"]));
    assert_eq!(value("variables.keys()"), json!(["attempts", "release"]));
    assert_eq!(value("'release' in variables and 'other' not in variables and len(variables) == 2"), json!(true));
}

#[test]
fn facts_are_requested_only_when_used() {
    let (situation, log) = situation();
    let requests_of = |source: &str| {
        evaluate(source, &situation).expect(source);
        std::mem::take(&mut *log.lock().expect("not poisoned"))
    };
    assert_eq!(requests_of("event.tool == 'Bash' or git.dirty or release"), [""; 0]);
    assert_eq!(requests_of("release"), ["variable release"]);
    assert_eq!(requests_of("git.dirty"), ["git Dirty"]);
    assert_eq!(requests_of("len('a') and 'a'.lower() and 1 + 1 and [1]|first"), [""; 0]);
}

#[test]
fn used_parts_of_the_event_are_requested() {
    let (situation, log) = situation();
    let requests_of = |source: &str| {
        evaluate(source, &situation).expect(source);
        std::mem::take(&mut *log.lock().expect("not poisoned"))
    };
    assert_eq!(requests_of("event.kind + event.tool + event.cwd + tool_name"), [""; 0]);
    for source in ["tool_input.command", "event.input.command", "tool_input['command']", "tool_input.get('command')"] {
        assert_eq!(requests_of(source), ["event.input.command"], "{source}");
    }
    assert_eq!(requests_of("'path' in tool_input"), ["event.input.path"]);
    assert_eq!(requests_of("(tool_input or {}).get('path')"), ["has input", "event.input.path"]);
    for source in ["len(tool_input)", "tool_input.keys()", "str(tool_input) == ''", "tool_input == {}"] {
        assert_eq!(requests_of(source).first().map(String::as_str), Some("event.input"), "{source}");
    }
    assert_eq!(
        requests_of("[event.command, event.commands, event.paths, event.output, event.prompt, event.message]"),
        ["event.command", "event.command", "event.paths", "event.output", "event.prompt", "event.message"]
    );
}

#[test]
fn functions_read_the_command_history() {
    assert_eq!(value("command_ran('^cargo test')"), json!(true));
    assert_eq!(value("command_succeeded('^cargo test') and not command_succeeded('^git fetch')"), json!(true));
    assert_eq!(value("command_ran('push')"), json!(false));
    assert_eq!(value("command_ran('fetch', 60)"), json!(true));
    assert_eq!(value("command_ran('fetch', 59.9)"), json!(false));
    // If the second argument has no value, there is no time limit.
    assert_eq!(value("command_ran('fetch', unset)"), json!(true));
}

#[test]
fn an_agent_cannot_break_a_rule_with_an_input_key() {
    assert_eq!(value("tool_input.get('command').startswith('git')"), json!(true));
}

#[test]
fn functions_read_tasks() {
    assert_eq!(value("tasks.open > 1 and tasks.ready == 0 and not tasks.claimed"), json!(true));
    assert_eq!(value("len(tasks)"), json!(6));
    for source in [
        "task_tree_complete('t1')",
        "task_tree_complete(['t1', 't2'])",
        "task_tree_complete(None)",
        "task_tree_complete([])",
        "task_tree_complete('')",
        "task_tree_complete(unset)",
        "task_tree_complete([None, 't1'])",
        "not task_tree_complete('t3')",
        "not task_tree_complete(['t1', 't3'])",
        "task_needs_user_review('t3')",
        "not task_needs_user_review('t1')",
        "not task_needs_user_review(unset)",
    ] {
        assert_eq!(value(source), json!(true), "{source}");
    }
    let (situation, log) = situation();
    for source in ["task_tree_complete(3)", "task_tree_complete({'a': 1})", "task_needs_user_review(['t1'])"] {
        assert!(evaluate(source, &situation).is_err(), "{source}");
    }
    assert_eq!(evaluate("task_tree_complete(None) or tasks.open", &situation), Ok(json!(true)));
    assert_eq!(*log.lock().expect("not poisoned"), [""; 0], "an invalid or empty id requests no fact");
}

#[test]
fn fields_of_workflow_phase_and_claims_have_values() {
    for source in [
        "workflow.node == 'code' and 'spec' in workflow.history and not workflow.active",
        "phase.elapsed > 60 and not phase.tokens > 0 and phase.tokens is None",
        "code_complete and claims.code_complete and 'code_complete' in claims",
        "not spec_complete and not claims.spec_complete and len(claims) == 1",
    ] {
        assert_eq!(evaluate(source, &situation().0), Ok(json!(true)), "{source}");
    }
}

#[test]
fn claims_can_only_be_used_in_transitions() {
    let everywhere = Scope::with_variables(["reviewed"]);
    let workflow = everywhere.clone().in_workflow(["code_complete".to_owned()]);
    let transitions = workflow.for_transitions();
    let problems_of = |source: &str, scope: &Scope| {
        let problems = check(source, scope).into_iter();
        problems
            .map(|problem| format!("{problem} ({})", problem.help.as_deref().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join("; ")
    };
    for source in ["claims.code_complete", "phase.visit > 1", "workflow.name == 'x'"] {
        assert_eq!(
            (problems_of(source, &transitions), problems_of(source, &everywhere)),
            (String::new(), String::new()),
            "{source}"
        );
    }
    assert_eq!(problems_of("reviewed and code_complete", &transitions), "");
    assert_ne!(problems_of("reviewed and code_complete", &everywhere), "");
    assert_eq!(problems_of("phase.visit > 1 and workflow.active", &workflow), "");
    insta::assert_snapshot!(problems_of("code_complete", &workflow), @"`code_complete` cannot be used here: claims have values only during `linchpin next` (use claims only in transitions, `requires`, `on_enter` and `on_exit`)");
    insta::assert_snapshot!(problems_of("claims.code_complete", &workflow), @"`claims` cannot be used here: claims have values only during `linchpin next` (use claims only in transitions, `requires`, `on_enter` and `on_exit`)");
    insta::assert_snapshot!(problems_of("code_complet", &transitions), @"unknown name `code_complet` (did you mean `code_complete`?)");
    insta::assert_snapshot!(problems_of("claims.reviewed", &transitions), @"unknown claim `reviewed` (declare it under `claims:`)");
    insta::assert_snapshot!(problems_of("phase.visits > 1", &transitions), @"`phase` has no field `visits` (did you mean `visit`?)");
    insta::assert_snapshot!(problems_of("phase.visits > 1", &everywhere), @"`phase` has no field `visits` (did you mean `visit`?)");
}

/// A supplier for which several facts are missing, for different reasons.
struct IncompleteFacts;

impl Facts for IncompleteFacts {
    fn variable(&self, _name: &str) -> Result<Option<Value>, Missing> {
        Err(Missing::Unavailable(FactStore::Session))
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        Err(Missing::Unavailable(FactStore::Session))
    }

    fn git(&self, _field: GitField) -> Result<Value, Missing> {
        Err(Missing::Failed("git is slow".to_owned()))
    }

    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        Err(Missing::NotRecorded("commands".to_owned()))
    }

    fn require(&self, part: EventPart<'_>) -> Result<(), Missing> {
        Err(Missing::NotRecorded(part.name()))
    }
}

#[test]
fn a_missing_fact_ends_the_evaluation() {
    let situation = Arc::new(Situation::new(Arc::new(event()), BaseDirectories::default(), Arc::new(IncompleteFacts)));
    let missing = |source: &str| match is_true(source, &situation, ChangeScope::default()) {
        Err(error @ (EvaluationError::Missing(_) | EvaluationError::NotRecorded(_))) => error.to_string(),
        other => panic!("{source}: {other:?}"),
    };
    let no_session = Missing::Unavailable(FactStore::Session).to_string();
    for source in [
        "release",
        "not release",
        "variables.release",
        "variables['release'] == 1 or True",
        "'release' in variables",
        "variables.get('release', 1)",
        "variables",
        "len(variables)",
        "variables.keys()",
    ] {
        assert_eq!(missing(source), no_session, "{source}");
    }
    assert_eq!(missing("git.dirty and release"), "git is slow");
    assert_eq!(missing("command_ran('make')"), "commands was not recorded");
    for source in ["tool_input", "not tool_input", "len(tool_input)"] {
        assert_eq!(missing(source), "event.input was not recorded", "{source}");
    }
    let all = "event.input, event.input.path, commands was not recorded";
    assert_eq!(missing("(tool_input or {}).get('path') or command_ran('make')"), all);
    assert_eq!(missing("tool_input.path"), "event.input.path was not recorded");
    for source in ["event.tool == 'Bash' or release", "True or git.dirty", "1 if True else command_ran('x')"] {
        assert_eq!(is_true(source, &situation, ChangeScope::default()), Ok(true), "{source}");
    }
    assert!(matches!(evaluate("[variables]", &situation), Err(EvaluationError::Missing(_))));
}

#[test]
fn an_evaluation_with_names_reports_a_missing_fact() {
    let situation = Arc::new(Situation::new(Arc::new(event()), BaseDirectories::default(), Arc::new(IncompleteFacts)));
    let evaluation =
        evaluate_with_names("not command_ran('make')", &Map::new(), Some(&situation), None).expect("a value");
    assert!(evaluation.truthy);
    assert_eq!(evaluation.missing, Some(Missing::NotRecorded("commands".to_owned())));
}
