//! Tests of the calls that are exempt from the tool lists of workflows.

use super::*;
use crate::rules::Exemptions;

/// The rule that Linchpin derives from `allowed_tools: [Edit]` of a workflow's node.
fn only_edit() -> Rule {
    let exemptions = Exemptions {
        tools: vec![ToolName("Edit".to_owned())],
        mcp_tools: vec![McpPattern { server: "*".to_owned(), tool: "*".to_owned() }],
        ..Exemptions::harmless()
    };
    let tools = vec![ToolName("*".to_owned())];
    rule("only-edit", Detector::Tool(Box::new(ToolRule { tools, exemptions: Some(exemptions), ..ToolRule::default() })))
}

fn level(event: Event) -> Level {
    verdict(&[only_edit()], event, false).level
}

#[test]
fn linchpin_and_read_only_commands_are_exempt() {
    for command in [
        "linchpin next",
        "linchpin next spec_complete && linchpin status",
        "cat src/a.rs | head -n 20",
        "ls -la; grep -rn x src 2>/dev/null",
        "cd src && pwd && git status && git log --oneline -3",
        "git diff HEAD -- src",
    ] {
        assert_eq!(level(bash(command)), Level::Allow, "{command}");
    }
}

#[test]
fn other_commands_are_not_exempt() {
    for command in [
        "cargo test",
        "linchpin next && cargo test",
        "./linchpin next",
        "sudo linchpin status",
        "cat a > b",
        "cat $(make list)",
        "git diff --output=x",
        "git -c core.pager=x log",
        "git commit -m x",
        "LD_PRELOAD=x cat a",
        "echo x | tee b",
        "$X status",
        "",
    ] {
        assert_eq!(level(bash(command)), Level::Block, "{command}");
    }
}

#[test]
fn read_only_tools_and_listed_tools_are_exempt() {
    let call = |name: &str| ToolCall { name: name.to_owned(), ..ToolCall::default() };
    for (name, expected) in
        [("Edit", Level::Allow), ("Read", Level::Allow), ("Grep", Level::Allow), ("Write", Level::Block)]
    {
        assert_eq!(level(event(EventKind::BeforeTool, Some(call(name)))), expected, "{name}");
    }
    let mcp = vec![McpTool { server: "github".to_owned(), tool: "merge".to_owned() }];
    let reached = ToolCall { mcp, ..call("mcp__github__merge") };
    assert_eq!(level(event(EventKind::BeforeTool, Some(reached))), Level::Allow);
}
