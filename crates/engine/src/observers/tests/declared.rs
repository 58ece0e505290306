use serde_json::{Value, json};

use super::{Session, after_mcp, event, text};
use crate::bounded_regex::RegexSource;
use crate::event::{CallOutcome, EventKind, EventKinds};
use crate::observers::{DeclaredObserver, ObserverKind, ObserverMatch, Template};
use crate::rules::{CommandRegex, McpPattern, PathPattern, ToolName};

fn observer(matching: ObserverMatch, set: &[(&str, Template)]) -> ObserverKind {
    let on = EventKinds::default().with(EventKind::AfterTool);
    let set = set.iter().map(|(name, template)| ((*name).to_owned(), template.clone())).collect();
    ObserverKind::Declared(DeclaredObserver { on, matching, set })
}

fn template(text: &str) -> Template {
    Template::parse(text).expect(text).0
}

fn bash(command: &str) -> Value {
    let call = json!({"name": "Bash", "input": {"command": command}, "shell": {"command": command}});
    event("after_tool", &json!({"tool": call, "outcome": "ok"}))
}

fn command(pattern: &str) -> CommandRegex {
    CommandRegex { pattern: Some(RegexSource::new(pattern)), not_pattern: None }
}

fn matches(matching: ObserverMatch, event: &Value) -> bool {
    let seen = observer(matching, &[("seen", Template::constant(&json!(true)))]);
    !Session::default().see(&seen, event).expect("no fault").is_empty()
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
    assert!(!matches(tests(), &bash("cargo $WHAT")), "unknown");
    assert!(!matches(tests(), &bash("case x in")), "unreadable");
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
        "what it does is not known"
    );
    let mcp = |server: &str, tool: &str| McpPattern { server: server.to_owned(), tool: tool.to_owned() };
    let call = after_mcp("github", "get_issue", &json!({}), &text(&json!("x")));
    assert!(matches(
        ObserverMatch { mcp: vec![mcp("gitlab", "*"), mcp("git*", "get_*")], ..ObserverMatch::default() },
        &call
    ));
    assert!(!matches(ObserverMatch { mcp: vec![mcp("github", "list_*")], ..ObserverMatch::default() }, &call));
    assert!(!matches(ObserverMatch::default(), &event("prompt", &json!({}))), "another event");
    assert!(matches(ObserverMatch::default(), &bash("ls")));
}

#[test]
fn outcomes() {
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
        ("flag", Template::constant(&json!(true))),
        ("word", template("no")),
        ("list", Template::constant(&json!([1, {"a": null}]))),
        ("typed", template("{{ len(event.command) + 1 }}")),
        ("mixed", template("ran {{ event.command }} at {{ event.time }}{{ missing }}")),
        ("nested", template("{{ {'a': {'b': '}}'}} }}")),
    ];
    session.see(&observer(ObserverMatch::default(), &set), &bash("ls -l")).expect("no fault");
    assert_eq!(
        Value::Object(session.0.lock().expect("not poisoned").clone()),
        json!({"flag": true, "word": "no", "list": [1, {"a": null}], "typed": 6, "mixed": "ran ls -l at 1", "nested": {"a": {"b": "}}"}}})
    );
    let unset = [("flag", Template::constant(&Value::Null)), ("word", template("{{ None }}"))];
    session.see(&observer(ObserverMatch::default(), &unset), &bash("ls")).expect("no fault");
    assert_eq!((session.get("flag"), session.get("word")), (Value::Null, Value::Null));
}

#[test]
fn a_counter_increments() {
    let session = Session::default();
    let count = observer(ObserverMatch::default(), &[("runs", template("{{ variables.get('runs', 0) + 1 }}"))]);
    for _ in 0..3 {
        session.see(&count, &bash("ls")).expect("no fault");
    }
    assert_eq!(session.get("runs"), json!(3));
}

#[test]
fn text_of_an_agent_is_never_evaluated() {
    let session = Session::default();
    let set = [("last", template("{{ event.command }}")), ("text", template("ran {{ event.command }}"))];
    session.see(&observer(ObserverMatch::default(), &set), &bash("echo {{ 1 + 1 }}")).expect("no fault");
    assert_eq!(session.get("last"), json!("echo {{ 1 + 1 }}"));
    assert_eq!(session.get("text"), json!("ran echo {{ 1 + 1 }}"));
}

#[test]
fn a_failing_value_changes_nothing() {
    let session = Session::default();
    let set = [("first", Template::constant(&json!(1))), ("second", template("{{ int(event.command) }}"))];
    let fault = session.see(&observer(ObserverMatch::default(), &set), &bash("ls")).expect_err("a fault");
    insta::assert_snapshot!(fault, @"`second` cannot be evaluated: `int` cannot convert this to an integer");
    let large = [("all", template("{{ event.command }}"))];
    let fault =
        session.see(&observer(ObserverMatch::default(), &large), &bash(&"x".repeat(17_000))).expect_err("a fault");
    insta::assert_snapshot!(fault, @"the value of `all` has 17002 bytes, over the limit of 16384 for a variable");
    assert!(session.0.lock().expect("not poisoned").is_empty());
}

#[test]
fn unclosed_templates_are_errors() {
    for text in ["{{", "{{ a", "{{ a }", "{{ '}}'", "{{ {'a': 1 }}", "x {{ a } }"] {
        assert!(Template::parse(text).is_err(), "{text}");
    }
    let spans = Template::parse("a {{ b }} {{ c }}").expect("sound").1;
    assert_eq!(spans, [4..7, 12..15]);
}
