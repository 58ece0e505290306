//! Tools other than `Bash` that run commands.

use serde_json::{Value, json};

use super::project;

#[test]
fn tools_that_run_commands_are_judged_by_the_commands() {
    let project = project();
    project.config("rules: [read-secrets]\n");
    project.file(".env", "KEY=secret\n").file("sub/.env", "KEY=secret\n");
    let decision = |tool: &str, input: Value| project.hook("claude", &project.tool_payload(tool, &input)).decision();
    for (tool, key) in [
        ("Monitor", "command"),
        ("mcp__desktop-commander__start_process", "command"),
        ("mcp__serena__execute_shell_command", "command"),
        ("mcp__x__run_command", "cmd"),
        ("mcp__x__bash", "script"),
    ] {
        assert_eq!(decision(tool, json!({ key: "cat .env", "timeout_ms": 1 })), "deny", "{tool}");
        assert_eq!(decision(tool, json!({ key: "tail -f build.log", "timeout_ms": 1 })), "allow", "{tool}");
    }
    assert_eq!(decision("mcp__x__exec", json!({ "command": "cat", "args": [".env"] })), "deny");
    assert_eq!(decision("mcp__x__exec", json!({ "command": "cat .env", "cwd": "sub" })), "deny");
    assert_eq!(decision("mcp__x__exec", json!({ "command": "cat a.txt", "cwd": "sub" })), "allow");
    assert_eq!(decision("mcp__github__create_issue", json!({ "command": "cat .env" })), "allow");
    assert_eq!(decision("Monitor", json!({ "description": "events of a socket" })), "allow");
}

/// A rule with a command condition needs no `tools`, and a rule about `Bash` applies to `Monitor` too.
#[test]
fn rules_about_commands_apply_to_other_shell_tools() {
    let project = project();
    project.rule("no-make", "---\ncommand: {program: make}\n---\nUse `just`.\n");
    project.rule("no-npm", "---\ntools: [Bash]\ncommand: {program: npm}\n---\nUse `pnpm`.\n");
    let decision = |tool: &str, command: &str| {
        project.hook("claude", &project.tool_payload(tool, &json!({ "command": command }))).decision()
    };
    assert_eq!(decision("mcp__x__run_command", "make all"), "deny");
    assert_eq!(decision("mcp__x__run_command", "npm ci"), "allow");
    assert_eq!(decision("Monitor", "make all"), "deny");
    assert_eq!(decision("Monitor", "npm ci"), "deny");
}
