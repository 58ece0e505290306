//! `linchpin explain`: why a verdict was given, or how Linchpin interprets a command, a pattern or an expression.

use serde_json::{Value, json};

use super::{NO_DANGER, project};

fn read_corpus(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Runs every tenth case of the corpus. The engine's own tests run all cases.
#[test]
fn explain_pattern_agrees_with_the_corpus() {
    let project = project();
    for case in read_corpus("patterns.jsonl").iter().step_by(10) {
        let (pattern, path) = (case["pattern"].as_str().expect("text"), case["path"].as_str().expect("text"));
        let reply = project.run(&["explain", "pattern", "--json", "--", pattern, path]);
        if case["error"] == true {
            assert_eq!(reply.code, Some(2), "{case}");
            continue;
        }
        assert_eq!(reply.json()["matches"], case["matches"], "{case}");
        if case["matches"] == true {
            assert_eq!(reply.json()["captures"], case["captures"], "{case}");
        }
    }
}

#[test]
fn explain_when_agrees_with_the_corpus() {
    let project = project();
    for case in read_corpus("expressions.jsonl").iter().step_by(25) {
        let with = case["with"].to_string();
        let reply =
            project.run(&["explain", "when", "--json", "--with", &with, "--", case["expr"].as_str().expect("text")]);
        if case["error"] == true {
            assert_eq!(reply.code, Some(2), "{case}");
        } else {
            assert_eq!(reply.json()["truthy"], case["truthy"], "{case}");
        }
    }
}

#[test]
fn explain_pattern_shows_captures_and_errors() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "pattern", "src/{path}.rs", "src/a/b.rs"]).transcript(), @"
    exit 0
    --- stdout
    matches
      {path} = a/b
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["explain", "pattern", "src/{path", "x"]).transcript(), @r"
    exit 2
    --- stdout
    --- stderr
    error: this `{` is not closed
    help: write `\{` for a literal brace
    ");
    insta::assert_snapshot!(project.run(&["explain", "pattern", "src/{path", "x", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"PatternError","message":"this `{` is not closed","file":"pattern","line":1,"column":5,"help":"write `\\{` for a literal brace"}}
    --- stderr
    "#);
}

#[test]
fn explain_when_shows_the_value_and_errors() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "when", "a + 1 > b", "--with", r#"{"a":1}"#]).transcript(), @"
    exit 0
    --- stdout
    false (false in a condition)
    undefined: b
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["explain", "when", "len(x", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"InvalidExpression","message":"syntax error: unexpected end of input, expected `,` (column 5)","file":"expression","line":1,"column":5}}
    --- stderr
    "#);
    insta::assert_snapshot!(project.run(&["explain", "when", "x", "--with", "[1]"]).transcript(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: `--with` is not a JSON object: invalid type: sequence, expected a map at line 1 column 0
    help: for example `--with '{"variables": {"hotfix": true}}'`
    "#);
}

#[test]
fn explain_when_sees_the_active_workflow() {
    let project = project();
    project.file(
        ".linchpin/workflows/work.yml",
        "start_node: code\nvariables: {rounds: 2}\nclaims: [again]\nnodes: {code: {prompt: Code., transitions: [{when: code_complete, to: \
         done}]}}\n",
    );
    let value = |expression: &str, with: &str| {
        let json = project.run(&["explain", "when", expression, "--with", with, "--json"]).json();
        (json["value"].clone(), json["unknown"].to_string())
    };
    assert_eq!(value("phase.visit == 1", "{}"), (json!(false), r#"["phase"]"#.to_owned()));
    project.run(&["start", "work"]);
    project.agent().run("make");
    for expression in [
        "phase.name == 'code' and phase.visit == 1 and phase.commands == 1 and phase.elapsed < 600",
        "workflow.name == 'work' and workflow.node == 'code' and workflow.active and workflow.history == ['code']",
        "rounds == 2 and variables.rounds == 2",
        "not again and not claims.code_complete and not code_complete",
        "phase.tokens is None",
    ] {
        assert_eq!(value(expression, "{}"), (json!(true), "[]".to_owned()), "{expression}");
    }
    // Values from `--with` override the values of the active workflow.
    let with = r#"{"claims": {"again": true}, "phase": {"visit": 3}, "rounds": 1}"#;
    assert_eq!(value("again and not code_complete and phase.visit + rounds == 4", with).0, json!(true));
    assert_eq!(value("phase.name", with).0, json!("code"));
}

#[test]
fn explain_command_shows_simple_commands_and_effects() {
    let project = project();
    let command = "cd sub && git commit -m 'a b' | tee log; $X";
    insta::assert_snapshot!(project.run(&["explain", "command", command]).transcript(), @"
    exit 0
    --- stdout
    cd sub
    git commit -m …
        in sub
    tee log
        in sub
        writes log
    $X   (with words that are known only at run time)
        in sub, or if that fails in .
        names $X
    incomplete: part of the command is known only at run time: `$X`
    --- stderr
    ");
    insta::assert_snapshot!(project.run(&["explain", "command", command, "--json"]).stdout, @r#"{"commands":[{"argv":["cd","sub"],"text":"cd sub","via":[],"elsewhere":false,"cwd":[""],"reads":[],"writes":[],"deletes":[],"names":[],"rewrites":[],"runs_output_of":[],"interactive":false},{"argv":["git","commit","-m","a b"],"text":"git commit -m …","via":[],"elsewhere":false,"cwd":["sub"],"reads":[],"writes":[],"deletes":[],"names":[],"rewrites":[],"runs_output_of":[],"interactive":false},{"argv":["tee","log"],"text":"tee log","via":[],"elsewhere":false,"cwd":["sub"],"reads":[],"writes":["log"],"deletes":[],"names":[],"rewrites":[],"runs_output_of":[],"interactive":false},{"argv":["$X"],"text":"$X","via":[],"elsewhere":false,"cwd":["sub",""],"reads":[],"writes":[],"deletes":[],"names":["$X"],"rewrites":[],"runs_output_of":[],"interactive":false}],"complete":false,"gaps":["part of the command is known only at run time: `$X`","`$X` has words that are known only at run time"]}"#);
    assert_eq!(project.run(&["explain", "command", "if then", "--json"]).json()["complete"], false);
}

#[test]
fn explain_last_shows_every_clause() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.rule("no-hazard", "---\ncommand_pattern: ^hazard\nwhen: git.branch == 'main'\n---\nNo.\n");
    project.decision("ls");
    project.decision("true && danger now");
    project.decision("ls");
    let explained = project.run(&["explain", "last"]);
    let shown = explained.stdout.lines().skip(1).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown, @"
      block by no-danger; the rule has not changed

    Today's rules, with the facts recorded at that time:

    no-danger: block
      .linchpin/rules/no-danger.md (project)
      command_pattern      true     `danger now`

    no-hazard: does not apply
      .linchpin/rules/no-hazard.md (project)
      command_pattern      false    `true; danger now`
      when                 unknown  `git.branch == 'main'`

    people-only-commands: does not apply
      bundled rule people-only-commands (bundled)
      command_not_pattern  true     `true; danger now` (not found)
      command              false    `true; danger now`

    protect-guardrails: does not apply
      bundled rule protect-guardrails (bundled)
      tools                true     Bash
      writes               false    none of the call's paths
    ");
    let json = project.run(&["explain", "event", "2", "--json"]).json();
    let danger =
        json["rules"].as_array().expect("rules").iter().find(|rule| rule["rule"] == "no-danger").expect("the rule");
    assert_eq!(danger["clauses"], json!([{ "key": "command_pattern", "truth": "true", "compared": "danger now" }]));
    insta::assert_snapshot!(project.run(&["explain", "event", "99"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the journal has no event 99
    help: `linchpin log` lists the events
    ");
}

#[test]
fn an_event_is_explained_by_recorded_facts() {
    let project = project();
    project.rule("on-main", "---\ncommand_pattern: ^danger\nwhen: git.branch == 'main'\n---\nNot on main.\n");
    project.rule("gone", "---\ncommand_pattern: ^danger\naction: warn\n---\nHm.\n");
    std::fs::create_dir_all(project.root().join(".git")).expect("a directory");
    project.file(".git/HEAD", "ref: refs/heads/main\n");
    project.decision("danger now");
    project.file(".git/HEAD", "ref: refs/heads/other\n");
    project.rule("on-main", "---\ncommand_pattern: ^danger\nwhen: git.branch != 'main'\n---\nOnly on main.\n");
    project.rule("clean", "---\ncommand_pattern: ^danger\nwhen: git.dirty\n---\nCommit first.\n");
    std::fs::remove_file(project.root().join(".linchpin/rules/gone.md")).expect("the rule's file");
    let explained = project.run(&["explain", "event", "1"]).stdout;
    let shown: Vec<&str> = explained.lines().skip(1).take_while(|line| !line.starts_with("people-only")).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
      block by on-main; changed since (was 4f0146536a12572ae15612c3)
      warn by gone; the rule is no longer in force

    Today's rules, with the facts recorded at that time:

    clean: undecidable: git.dirty was not recorded
      .linchpin/rules/clean.md (project)
      command_pattern      true     `danger now`
      when                 unknown  `git.dirty`

    on-main: does not apply
      .linchpin/rules/on-main.md (project)
      command_pattern      true     `danger now`
      when                 false    `git.branch != 'main'`
    ");
    let json = project.run(&["explain", "event", "1", "--json"]).json();
    insta::assert_json_snapshot!(json["spoken"], @r#"
    [
      {
        "rule": "on-main",
        "digest": "4f0146536a12572ae15612c3",
        "since": "changed"
      },
      {
        "rule": "gone",
        "digest": "1bed5a3dcc9ff648e0e1afa1",
        "since": "gone"
      }
    ]
    "#);
}

#[test]
fn explain_last_without_a_finding_is_an_error() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "last"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no journal yet for `[BASE]/project`
    help: the first event of an agent's hook creates it; `linchpin doctor` shows whether a hook is installed
    ");
    project.decision("ls");
    insta::assert_snapshot!(project.run(&["explain", "last"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: nothing to explain: the journal has no event with a warning, a question or a block
    help: `linchpin log` lists the events
    ");
}

#[test]
fn an_incomplete_command_always_has_a_reason() {
    let project = project();
    let gaps = |command: &str| {
        let shown = project.run(&["explain", "command", "--json", "--", command]).json();
        assert_eq!(shown["complete"], json!(shown["gaps"].as_array().expect("a list").is_empty()), "{command}");
        format!("{command:.20}: {}", shown["gaps"])
    };
    let deep = format!("echo {}ls{}", "$(".repeat(100), ")".repeat(100));
    let commands = [
        "ls",
        "ls $X",
        "echo 'abc",
        "ls; )",
        "if true; then ls",
        "ls\n&& ls",
        "cat <<E\nx",
        "echo ${a",
        "ls \\",
        &deep,
    ];
    insta::assert_snapshot!(commands.map(gaps).join("\n"), @r#"
    ls: []
    ls $X: ["`ls $X` has words that are known only at run time"]
    echo 'abc: ["the command cannot be parsed: the single quote at line 1, column 6 is not closed"]
    ls; ): ["the command cannot be parsed: from `)` on, at line 1, column 5"]
    if true; then ls: ["the command cannot be parsed: the script is incomplete: it ends unexpectedly"]
    ls
    && ls: ["the command cannot be parsed: from `&&` on, at line 2, column 1"]
    cat <<E
    x: ["the command cannot be parsed: the heredoc has no end: `E` is missing"]
    echo ${a: ["the command cannot be parsed: an expansion, such as `${` or `$(`, is not closed"]
    ls \: ["the command cannot be parsed: it ends with a backslash"]
    echo $($($($($($($($: ["the command is nested more than 64 levels deep (fewer for `case` and `[[ … ]]`)","`echo …` has words that are known only at run time"]
    "#);
}

#[test]
fn an_event_id_must_be_a_number() {
    let project = project();
    insta::assert_snapshot!(project.run(&["explain", "event", "abc"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid value 'abc' for '<ID>': give the number of an event, as `linchpin log` shows it

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.run(&["allow", "abc"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid value 'abc' for '<ID>': give the number of an event, as `linchpin log` shows it

    For more information, try '--help'.
    ");
}

#[test]
fn explain_when_uses_facts_of_the_project() {
    let project = project();
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    let explained = |expression: &str| project.run(&["explain", "when", expression]).transcript();
    assert!(explained("git.branch == 'main'").contains("true (true in a condition)"));
    assert!(explained("workflow.active").contains("false (false in a condition)"));
    assert!(explained("-1 < 0").contains("true (true in a condition)"));
    let task = project.run(&["task", "add", "Do it", "--json"]).json();
    let id = task["id"].as_str().or_else(|| task["task"]["id"].as_str()).expect("an id").to_owned();
    assert!(explained(&format!("task_tree_complete('{id}')")).contains("false (false in a condition)"));
    project.run(&["task", "claim", &id]);
    project.run(&["task", "close", &id]);
    assert!(explained(&format!("task_tree_complete('{id}')")).contains("true (true in a condition)"));
    insta::assert_snapshot!(explained("gti.branch == 'main'"), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown name `gti`
    help: did you mean `git`?
    ");
    insta::assert_snapshot!(explained("1 < foo"), @r#"
    exit 2
    --- stdout
    --- stderr
    error: unknown name `foo` (column 5)
    help: a variable is declared under `variables:`; `--with '{"foo": 1}'` gives it a value for this command
    "#);
    insta::assert_snapshot!(explained("command_ran('make')"), @"
    exit 0
    --- stdout
    false (false in a condition)
    unknown: what a session did or set, because the journal has no session yet
    --- stderr
    ");
    insta::assert_snapshot!(explained("event.command == 'make'"), @"
    exit 0
    --- stdout
    false (false in a condition)
    undefined: event
    --- stderr
    ");
}
