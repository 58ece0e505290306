//! The command `linchpin rules new`.

use super::file_contents;
use crate::project;

#[test]
fn new_writes_a_rule_file() {
    let project = project();
    let new = [
        "rules",
        "new",
        "no-danger",
        "--command-pattern",
        "^danger( |$)",
        "--paths",
        "src/**",
        "--paths",
        "it's",
        "--action",
        "ask",
        "--reason",
        "Danger is not for agents. Use `safety`.",
    ];
    insta::assert_snapshot!(project.run(&new).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-danger.md (new)
      + ---
      + command_pattern: '^danger( |$)'
      + paths:
      +   - 'src/**'
      +   - 'it''s'
      + action: ask
      + ---
      + Danger is not for agents. Use `safety`.

    `no-danger` is in force: ask on before_tool (.linchpin/rules/no-danger.md).
    --- stderr
    ");
    assert_eq!(project.decision("danger src/a"), "ask");
    insta::assert_snapshot!(project.run(&new).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `no-danger` already exists in the project tier
    help: choose another id
    ");
    insta::assert_snapshot!(project.run(&["rules", "new", "hard-reset", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: rule `hard-reset` already exists in the bundled tier
    help: choose another id
    ");
}

#[test]
fn new_writes_a_rule_about_tools() {
    let project = project();
    project.config("variables: {release: true}\n");
    let new =
        ["rules", "new", "no-fetch", "--tools", "WebFetch,WebSearch", "--tools", "Task", "--mcp-tools", "github:*"];
    let more = ["--when", "release and tool_name != 'Task'", "--reason", "Not during a release."];
    insta::assert_snapshot!(project.run(&[&new[..], &more].concat()).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/no-fetch.md (new)
      + ---
      + tools: [WebFetch, WebSearch, Task]
      + mcp_tools: ['github:*']
      + when: 'release and tool_name != ''Task'''
      + ---
      + Not during a release.

    `no-fetch` is in force: block on before_tool (.linchpin/rules/no-fetch.md).
    --- stderr
    ");
    let decision = |tool: &str| project.hook("claude", &project.tool_payload(tool, &serde_json::json!({}))).decision();
    assert_eq!(["WebFetch", "mcp__github__merge", "Task"].map(decision), ["deny", "deny", "allow"]);
}

#[test]
fn an_invalid_new_rule_is_not_written() {
    let project = project();
    let before = file_contents(&project.root());
    let mut replies = Vec::new();
    for arguments in [
        &["rules", "new", "x", "--command-pattern", "(", "--reason", "No."][..],
        &["rules", "new", "x", "--on", "stpo", "--reason", "No."],
        &["rules", "new", "x", "--on", "stop", "--command-pattern", "x", "--action", "deny", "--reason", "No."],
        &["rules", "new", "x", "--reason", "No."],
        &["rules", "new", "x", "--on", "stpo", "--reason", "No.", "--json"],
    ] {
        let reply = project.run(arguments);
        assert_eq!(file_contents(&project.root()), before, "{arguments:?}");
        replies.push(reply.transcript());
    }
    insta::assert_snapshot!(replies.join("\n"), @r#"
    exit 2
    --- stdout
    --- stderr
    error: invalid regex: unclosed group
     --> .linchpin/rules/x.md:2:19
      |
    2 | command_pattern: '('
      |                   ^

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: unknown event `stpo`
     --> .linchpin/rules/x.md:2:5
      |
    2 | on: stpo
      |     ^^^^
      |
      = help: did you mean `stop`?

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: this rule applies to tool calls, but `stop` has none
     --> .linchpin/rules/x.md:3:5
      |
    3 | on: stop
      |     ^^^^
      |
      = help: use `before_tool`, `after_tool`, `tool_failed` or `permission`

    error: `action` must be one of `block`, `ask`, `warn`, `allow`, not `deny`
     --> .linchpin/rules/x.md:4:9
      |
    4 | action: deny
      |         ^^^^
      |
      = help: did you mean `block`?

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: the rule has no conditions
     --> .linchpin/rules/x.md:2:1
      |
    2 | ---
      | ^
      |
      = help: add conditions on tool calls (`tools`, `command`, `command_pattern`, `paths`, `reads`, `writes`, `deletes`) or on changed files (`trigger`, `set`, `pair`, `created`), or list under `on` the events on which the rule is checked

    error: nothing was written

    exit 2
    --- stdout
    {"error":{"kind":"UnknownEvent","message":"nothing was written: unknown event `stpo`","file":".linchpin/rules/x.md","line":2,"column":5,"rule":"x","help":"did you mean `stop`?"}}
    --- stderr
    "#);
}

#[test]
fn an_id_must_not_be_a_path() {
    let project = project();
    let before = file_contents(&project.root());
    let mut replies = Vec::new();
    for id in ["", "../x", "a/b", "..", ".x", "a b", "x\n", "linchpin", &"x".repeat(5000)] {
        replies.push(project.run(&["rules", "new", id, "--on", "stop", "--reason", "No."]).stderr);
        assert_eq!(project.run(&["rules", "enable", id]).code, Some(2), "{id}");
        assert_eq!(file_contents(&project.root()), before, "{id}");
    }
    insta::assert_snapshot!(replies.concat(), @"
    error: the rule id is empty
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: invalid rule id `../x`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: invalid rule id `a/b`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: invalid rule id `..`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: invalid rule id `.x`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: invalid rule id `a b`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: invalid rule id `x
    `
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit
    error: reserved rule id `linchpin`: Linchpin uses it for its own messages
    help: choose another name
    error: the rule id has 5000 characters, over the limit of 100
    help: choose a shorter name
    ");
}
