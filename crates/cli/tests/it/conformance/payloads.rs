//! The payloads by which each agent reports an action.

use agents::Agent;
use serde_json::{Value, json};

/// What an agent does or is about to do.
#[derive(Clone, Copy)]
pub enum AgentAction {
    Start,
    Shell(&'static str),
    ShellOfSubagent(&'static str),
    NewFile(&'static str),
    /// A patch that changes, adds and deletes files.
    Patch,
    Mcp,
    FailedShell,
    Stop,
    StopAgain,
    /// A shell call whose payload the test truncates.
    Unreadable,
}

const PATCH: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** Add File: src/b.rs\n+new\n*** Delete File: \
                     secrets/key.txt\n*** End Patch";

/// Returns the payload of the event that reports this action, after the name that the event has in the agent's
/// settings. Returns `None` if the agent does not report this action.
pub fn payload(agent: Agent, action: AgentAction, root: &str) -> Option<(&'static str, Value)> {
    let (event, tool, input, extra_fields) = match action {
        AgentAction::Start => ("SessionStart", "", Value::Null, json!({"source": "startup"})),
        AgentAction::Shell(command) => ("PreToolUse", "shell", json!({"command": command}), json!({})),
        AgentAction::ShellOfSubagent(command) => {
            ("PreToolUse", "shell", json!({"command": command}), json!({"agent_id": "sub", "agent_type": "explore"}))
        }
        AgentAction::NewFile(path) => ("PreToolUse", "write", json!({"path": format!("{root}/{path}")}), json!({})),
        AgentAction::Patch => ("PreToolUse", "patch", json!({"patch": PATCH}), json!({})),
        AgentAction::Mcp => ("PreToolUse", "mcp", json!({"path": "a.md", "text": "x"}), json!({})),
        AgentAction::FailedShell => ("PostToolUseFailure", "shell", json!({"command": "false"}), json!({})),
        AgentAction::Stop => ("Stop", "", Value::Null, json!({"stop_hook_active": false})),
        AgentAction::StopAgain => ("Stop", "", Value::Null, json!({"stop_hook_active": true})),
        AgentAction::Unreadable => ("PreToolUse", "shell", Value::Null, json!({})),
    };
    match agent {
        Agent::Cursor => cursor(action, event, tool, &input, root),
        Agent::Antigravity => antigravity(action, event, tool, &input, root),
        _ => claude_like(agent, action, event, tool, &input, &extra_fields, root),
    }
}

fn claude_like(
    agent: Agent,
    action: AgentAction,
    event: &'static str,
    tool: &str,
    input: &Value,
    extra_fields: &Value,
    root: &str,
) -> Option<(&'static str, Value)> {
    let (event, response) = match (agent, action) {
        (Agent::Gemini, AgentAction::FailedShell) => {
            ("AfterTool", json!({"llmContent": "Output: (empty)\nExit Code: 1\nProcess Group PGID: 7"}))
        }
        (Agent::Codex, AgentAction::FailedShell) => ("PostToolUse", json!({"exit_code": 1})),
        (Agent::Copilot, AgentAction::FailedShell) => {
            let text = "\n<shellId: 0 completed with exit code 1>";
            ("PostToolUse", json!({"result_type": "success", "text_result_for_llm": text}))
        }
        (Agent::OpenCode, AgentAction::FailedShell) => ("PostToolUse", json!({"output": "", "metadata": {"exit": 1}})),
        (Agent::Gemini, _) => (
            match event {
                "PreToolUse" => "BeforeTool",
                "Stop" => "AfterAgent",
                other => other,
            },
            Value::Null,
        ),
        _ => (event, Value::Null),
    };
    let path = input["path"].clone();
    let (name, input) = match (agent, tool) {
        (_, "") => ("", Value::Null),
        (Agent::Gemini, "shell") => ("run_shell_command", input.clone()),
        (Agent::OpenCode, "shell") => ("bash", input.clone()),
        (_, "shell") => ("Bash", input.clone()),
        (Agent::Gemini, "write") => ("write_file", json!({"file_path": path, "content": "new"})),
        (Agent::OpenCode, "write") => ("write", json!({"filePath": path, "content": "new"})),
        (Agent::Copilot, "write") => ("Write", json!({"path": path, "file_text": "new"})),
        (Agent::Codex, "write") => {
            let added =
                format!("*** Begin Patch\n*** Add File: {}\n+new\n*** End Patch", path.as_str().unwrap_or_default());
            ("apply_patch", json!({ "command": added }))
        }
        (_, "write") => ("Write", json!({"file_path": path, "content": "new"})),
        (Agent::Codex, "patch") => ("apply_patch", json!({"command": PATCH})),
        (Agent::Copilot, "patch") => ("apply_patch", json!(PATCH)),
        (Agent::OpenCode, "patch") => ("apply_patch", json!({"patchText": PATCH})),
        (_, "patch") => return None,
        (Agent::Gemini, _) => ("mcp_notes_write_note", input.clone()),
        (Agent::Copilot, _) => ("notes-write_note", input.clone()),
        (_, _) => ("mcp__notes__write_note", input.clone()),
    };
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": root});
    let fields = payload.as_object_mut()?;
    fields.extend(extra_fields.as_object().cloned()?);
    if !name.is_empty() {
        fields.extend(json!({"tool_name": name, "tool_input": input, "tool_use_id": "t"}).as_object().cloned()?);
    }
    match (agent, action) {
        (Agent::Claude, AgentAction::FailedShell) => drop(fields.insert("error".to_owned(), json!("Exit code 1"))),
        (Agent::Copilot, AgentAction::FailedShell) => drop(fields.insert("tool_result".to_owned(), response)),
        (_, AgentAction::FailedShell) => drop(fields.insert("tool_response".to_owned(), response)),
        (Agent::Gemini, AgentAction::Mcp) => {
            drop(fields.insert("mcp_context".to_owned(), json!({"server_name": "notes", "tool_name": "write_note"})));
        }
        _ => {}
    }
    Some((event, payload))
}

fn cursor(action: AgentAction, event: &str, tool: &str, input: &Value, root: &str) -> Option<(&'static str, Value)> {
    let event = match (event, action) {
        (_, AgentAction::FailedShell) => "postToolUse",
        ("SessionStart", _) => "sessionStart",
        ("Stop", _) => "stop",
        _ => "preToolUse",
    };
    let name = match tool {
        "shell" => "Shell",
        "write" => "Write",
        "patch" => return None,
        "mcp" => "MCP:write_note",
        _ => "",
    };
    let mut payload = json!({"hook_event_name": event, "conversation_id": "s", "workspace_roots": [root], "cwd": root,
        "tool_name": name, "tool_input": input, "tool_use_id": "t"});
    match action {
        AgentAction::FailedShell => payload["tool_output"] = json!("{\"exitCode\":1}"),
        AgentAction::StopAgain => payload["loop_count"] = json!(1),
        AgentAction::ShellOfSubagent(_) => payload["subagent_id"] = json!("sub"),
        _ => {}
    }
    Some((event, payload))
}

fn antigravity(
    action: AgentAction,
    event: &'static str,
    tool: &str,
    input: &Value,
    root: &str,
) -> Option<(&'static str, Value)> {
    let (name, args) = match tool {
        "shell" => ("run_command", json!({"CommandLine": input["command"], "Cwd": root})),
        "write" => ("write_to_file", json!({"TargetFile": input["path"], "CodeContent": "new"})),
        "mcp" => ("mcp_notes_write_note", input.clone()),
        _ => ("", Value::Null),
    };
    let mut payload = json!({"conversationId": "s", "workspacePaths": [root], "stepIdx": 1});
    match action {
        // Antigravity reports neither the start of a session nor a patch.
        AgentAction::Start | AgentAction::Patch => return None,
        AgentAction::Stop | AgentAction::StopAgain => payload["fullyIdle"] = json!(true),
        _ => payload["toolCall"] = json!({"name": name, "args": args}),
    }
    let event = if matches!(action, AgentAction::FailedShell) { "PostToolUse" } else { event };
    if matches!(action, AgentAction::FailedShell) {
        payload["error"] = json!("exit status 1");
    }
    Some((event, payload))
}

/// Returns the name and the payload of the event that reports a prompt. The agent must be one that reports prompts.
pub fn prompt(agent: Agent, text: &str, root: &str) -> (&'static str, Value) {
    let (event, session) = match agent {
        Agent::Gemini => ("BeforeAgent", "session_id"),
        Agent::Cursor => ("beforeSubmitPrompt", "conversation_id"),
        _ => ("UserPromptSubmit", "session_id"),
    };
    (event, json!({"hook_event_name": event, session: "s", "cwd": root, "workspace_roots": [root], "prompt": text}))
}
