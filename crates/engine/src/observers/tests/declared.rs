use serde_json::{Value, json};

use super::{Session, after_mcp, event, text};
use crate::bounded_regex::RegexSource;
use crate::event::{CallOutcome, EventKind, EventKinds};
use crate::observers::{DeclaredObserver, ObserverKind, ObserverMatch, SetValue};
use crate::rules::{CommandRegex, McpPattern, PathPattern, ToolName};

fn observer(matching: ObserverMatch, set: &[(&str, SetValue)]) -> ObserverKind {
    let on = EventKinds::default().with(EventKind::AfterTool);
    let set = set.iter().map(|(name, template)| ((*name).to_owned(), template.clone())).collect();
    ObserverKind::Declared(DeclaredObserver { on, matching, set })
}

fn set_value(text: &str) -> SetValue {
    SetValue::parse(text).expect(text).0
}

fn bash(command: &str) -> Value {
    let call = json!({"name": "Bash", "input": {"command": command}, "shell": {"command": command}});
    event("after_tool", &json!({"tool": call, "outcome": "ok"}))
}

fn command(pattern: &str) -> CommandRegex {
    CommandRegex { pattern: Some(RegexSource::new(pattern)), not_pattern: None }
}

fn matches(matching: ObserverMatch, event: &Value) -> bool {
    let observer = observer(matching, &[("seen", SetValue::constant(&json!(true)))]);
    !Session::default().observe(&observer, event).expect("no error").is_empty()
}

#[test]
fn commands_match_like_in_rules() {
    let tests = || ObserverMatch {
        commands: vec![command("^cargo (test|nextest)"), command("^make check$")],
        ..ObserverMatch::default()
    };
    assert!(matches(tests(), &bash("cd a && RUST_LOG=x /usr/bin/cargo  'test' -q")));
    assert!(matches(tests(), &bash("make check")));
    assert!(!matches(tests(), &bash("echo cargo test")));
    assert!(!matches(tests(), &bash("cargo $WHAT")), "the command is unknown");
    assert!(!matches(tests(), &bash("case x in")), "the command cannot be parsed");
    assert!(!matches(tests(), &after_mcp("a", "b", &json!({"command": "cargo test"}), &text(&json!("x")))));
}

#[test]
fn all_keys_must_match() {
    let edit = |path: &str| {
        let call = json!({"name": "Edit", "aliases": ["apply_patch"], "input": {}, "files": [{"path": path, "access": "write"}]});
        event("after_tool", &json!({"tool": call, "outcome": "ok"}))
    };
    let tool = |name: &str| vec![ToolName(name.to_owned())];
    let path = || vec![PathPattern::Glob { source: "src/**".to_owned(), literal: "src/".to_owned() }];
    assert!(matches(
        ObserverMatch { tools: tool("Edit"), paths: path(), ..ObserverMatch::default() },
        &edit("/project/src/a.rs")
    ));
    assert!(matches(ObserverMatch { tools: tool("apply_*"), ..ObserverMatch::default() }, &edit("/project/src/a.rs")));
    assert!(!matches(
        ObserverMatch { tools: tool("Bash"), paths: path(), ..ObserverMatch::default() },
        &edit("/project/src/a.rs")
    ));
    assert!(!matches(
        ObserverMatch { tools: tool("Edit"), paths: path(), ..ObserverMatch::default() },
        &edit("/project/docs/a.md")
    ));
    assert!(matches(ObserverMatch { paths: path(), ..ObserverMatch::default() }, &bash("cat src/a.rs")));
    assert!(
        !matches(ObserverMatch { paths: path(), ..ObserverMatch::default() }, &bash("tool src/a.rs")),
        "the access of the program is unknown"
    );
    let mcp = |server: &str, tool: &str| McpPattern { server: server.to_owned(), tool: tool.to_owned() };
    let call = after_mcp("github", "get_issue", &json!({}), &text(&json!("x")));
    assert!(matches(
        ObserverMatch { mcp: vec![mcp("gitlab", "*"), mcp("git*", "get_*")], ..ObserverMatch::default() },
        &call
    ));
    assert!(!matches(ObserverMatch { mcp: vec![mcp("github", "list_*")], ..ObserverMatch::default() }, &call));
    assert!(!matches(ObserverMatch::default(), &event("prompt", &json!({}))), "the event is not under `on`");
    assert!(matches(ObserverMatch::default(), &bash("ls")));
}

#[test]
fn outcomes_match() {
    let failed = ObserverMatch { outcome: Some(CallOutcome::Failed), ..ObserverMatch::default() };
    let ok = ObserverMatch { outcome: Some(CallOutcome::Ok), ..ObserverMatch::default() };
    assert!(matches(ok.clone(), &bash("ls")) && !matches(failed.clone(), &bash("ls")));
    let mut unknown = bash("ls");
    unknown["outcome"] = Value::Null;
    assert!(!matches(ok.clone(), &unknown) && !matches(failed.clone(), &unknown));
    // A server may report a failure in a successful response.
    let refused = after_mcp("a", "b", &json!({}), &text(&json!({"success": false})));
    assert!(!matches(ok, &refused) && matches(failed, &refused));
}

#[test]
fn values_keep_their_types() {
    let session = Session::default();
    let set = [
        ("flag", SetValue::constant(&json!(true))),
        ("word", set_value("no")),
        ("list", SetValue::constant(&json!([1, {"a": null}]))),
        ("typed", set_value("{{ len(event.command) + 1 }}")),
        ("mixed", set_value("ran {{ event.command }} at {{ event.time }}{{ missing }}")),
        ("nested", set_value("{{ {'a': {'b': '}}'}} }}")),
    ];
    session.observe(&observer(ObserverMatch::default(), &set), &bash("ls -l")).expect("no error");
    assert_eq!(
        Value::Object(session.0.lock().expect("not poisoned").clone()),
        json!({"flag": true, "word": "no", "list": [1, {"a": null}], "typed": 6, "mixed": "ran ls -l at 1", "nested": {"a": {"b": "}}"}}})
    );
    let unset = [("flag", SetValue::constant(&Value::Null)), ("word", set_value("{{ None }}"))];
    session.observe(&observer(ObserverMatch::default(), &unset), &bash("ls")).expect("no error");
    assert_eq!((session.get("flag"), session.get("word")), (Value::Null, Value::Null));
}

#[test]
fn a_counter_increments() {
    let session = Session::default();
    let count = observer(ObserverMatch::default(), &[("runs", set_value("{{ variables.get('runs', 0) + 1 }}"))]);
    for _ in 0..3 {
        session.observe(&count, &bash("ls")).expect("no error");
    }
    assert_eq!(session.get("runs"), json!(3));
}

#[test]
fn text_of_an_agent_is_never_evaluated() {
    let session = Session::default();
    let set = [("last", set_value("{{ event.command }}")), ("text", set_value("ran {{ event.command }}"))];
    session.observe(&observer(ObserverMatch::default(), &set), &bash("echo {{ 1 + 1 }}")).expect("no error");
    assert_eq!(session.get("last"), json!("echo {{ 1 + 1 }}"));
    assert_eq!(session.get("text"), json!("ran echo {{ 1 + 1 }}"));
}

#[test]
fn a_failing_value_changes_nothing() {
    let session = Session::default();
    let set = [("first", SetValue::constant(&json!(1))), ("second", set_value("{{ int(event.command) }}"))];
    let error = session.observe(&observer(ObserverMatch::default(), &set), &bash("ls")).expect_err("an error");
    insta::assert_snapshot!(error, @"`second` cannot be evaluated: `int` cannot convert this to an integer");
    let large = [("all", set_value("{{ event.command }}"))];
    let error =
        session.observe(&observer(ObserverMatch::default(), &large), &bash(&"x".repeat(17_000))).expect_err("an error");
    insta::assert_snapshot!(error, @"the value of `all` has 17002 bytes, over the limit of 16384 for a variable");
    assert!(session.0.lock().expect("not poisoned").is_empty());
}

#[test]
fn unclosed_expressions_are_errors() {
    for text in ["{{", "{{ a", "{{ a }", "{{ '}}'", "{{ {'a': 1 }}", "x {{ a } }"] {
        assert!(SetValue::parse(text).is_err(), "{text}");
    }
    let spans = SetValue::parse("a {{ b }} {{ c }}").expect("valid").1;
    assert_eq!(spans, [4..7, 12..15]);
}
