use serde_json::{Value, json};

use engine::event::ShellText;

use super::{files, shell};

/// Returns each path that a call names, together with the kind of access.
fn file_accesses(tool: &str, input: &Value) -> Vec<String> {
    let files = files(tool, input, "/p");
    let shown = |access| match access {
        Some(access) => format!("{access:?}"),
        None => "?".to_owned(),
    };
    files.iter().map(|file| format!("{} {}", shown(file.access), file.path)).collect()
}

#[test]
fn the_access_follows_from_the_tools_name() {
    let path = || json!({"path": "a"});
    for tool in ["read_file", "readFile", "read-text-file", "get_file_info", "list_directory", "search_files"] {
        assert_eq!(file_accesses(&format!("mcp__fs__{tool}"), &path()), ["Read /p/a"], "{tool}");
    }
    for tool in ["write_file", "edit", "createOrUpdateFile"] {
        assert!(file_accesses(&format!("mcp__fs__{tool}"), &path()).iter().all(|file| file == "Write /p/a"), "{tool}");
    }
    assert_eq!(file_accesses("mcp__fs__delete_file", &path()), ["Delete /p/a"]);
    assert_eq!(file_accesses("mcp__fs__do_something", &path()), ["? /p/a"]);
    // Only whole words of the tool's name determine the access, not the server's name and not parts of words.
    assert_eq!(file_accesses("mcp__read__target", &path()), ["? /p/a"]);
    assert_eq!(file_accesses("mcp__fs__spreadsheet", &path()), ["? /p/a"]);
}

#[test]
fn a_move_reads_and_deletes_the_source_and_writes_the_destination() {
    let both = || json!({"source": "a", "destination": "b"});
    assert_eq!(file_accesses("mcp__fs__move_file", &both()), ["Read /p/a", "Delete /p/a", "Write /p/b"]);
    assert_eq!(file_accesses("mcp__fs__copy_file", &both()), ["Read /p/a", "Write /p/b"]);
}

#[test]
fn lists_urls_and_proxied_calls() {
    assert_eq!(
        file_accesses("mcp__fs__read_multiple_files", &json!({"paths": ["a", "/b", 1]})),
        ["Read /p/a", "Read /b"]
    );
    assert_eq!(file_accesses("mcp__gh__push_files", &json!({"files": [{"path": "a", "content": "x"}]})), ["? /p/a"]);
    assert_eq!(file_accesses("mcp__ide__read", &json!({"uri": "file:///p/%2Eenv"})), ["Read /p/.env"]);
    assert_eq!(file_accesses("mcp__ide__read", &json!({"uri": "file://localhost/p/a%zz%4"})), ["Read /p/a%zz%4"]);
    let proxied = json!({"server": "fs", "tool": "read_file", "arguments": {"path": "~/.ssh/id_rsa"}});
    assert_eq!(file_accesses("mcp__proxy__call_tool", &proxied), ["Read ~/.ssh/id_rsa", "Read /p/~/.ssh/id_rsa"]);
}

#[test]
fn nested_arguments() {
    assert_eq!(file_accesses("mcp__ide__get_file_text", &json!({"pathInProject": ".env"})), ["Read /p/.env"]);
    assert_eq!(file_accesses("mcp__x__read", &json!({"args": {"path": "a"}})), ["Read /p/a"]);
    assert_eq!(file_accesses("mcp__x__read", &json!({"params": {"arguments": {"path": "a"}}})), ["Read /p/a"]);
    assert_eq!(file_accesses("mcp__x__read", &json!({"request": [{"path": "a"}]})), ["Read /p/a"]);
    assert_eq!(file_accesses("mcp__x__read", &json!({"args": "{\"path\": \"a\"}"})), ["Read /p/a"]);
    assert_eq!(file_accesses("mcp__x__read", &json!("{\"path\": \"a\"}")), ["Read /p/a"]);
    assert_eq!(file_accesses("mcp__x__write", &json!({"files": {"a": "text"}})), ["Write /p/a"]);
    assert_eq!(file_accesses("mcp__x__write", &json!({"note": "a path is {\"path\": \"a\"}"})), [""; 0]);
}

/// Returns the script of a call, if it is known.
fn run(tool: &str, input: &Value) -> Option<String> {
    match shell(tool, input)? {
        ShellText::Command(text) => Some(text),
        ShellText::Missing => None,
    }
}

#[test]
fn a_tool_that_runs_commands_is_a_shell() {
    for tool in ["start_process", "execute_shell_command", "run_command", "runCommand", "bash", "exec", "execute"] {
        let input = json!({"command": "ls -l", "timeout_ms": 1000});
        assert_eq!(run(&format!("mcp__x__{tool}"), &input).as_deref(), Some("ls -l"), "{tool}");
    }
    let proxied = json!({"server": "s", "tool": "run_command", "arguments": {"cmd": "ls"}});
    assert_eq!(run("mcp__proxy__call_tool", &proxied).as_deref(), Some("ls"));
    let text = |input: Value| run("mcp__x__shell", &input);
    assert_eq!(text(json!({"script": "ls\npwd"})).as_deref(), Some("ls\npwd"));
    assert_eq!(text(json!({"commands": ["ls", "pwd"]})).as_deref(), Some("ls\npwd"));
    assert_eq!(text(json!({"command": ["ls", "a b"]})).as_deref(), Some("ls 'a b'"));
    assert_eq!(text(json!({"command": "ls", "args": ["a b", "-l"]})).as_deref(), Some("ls 'a b' -l"));
    assert_eq!(text(json!({"command": "ls", "cwd": "a b"})).as_deref(), Some("cd 'a b' || exit\nls"));
    assert_eq!(text(json!({"command": "ls", "working_directory": "~/x"})).as_deref(), Some("cd ~/x || exit\nls"));
}

#[test]
fn other_names_of_command_arguments() {
    let program = json!({"program": "linchpin", "arguments": ["approve", "--yes"]});
    assert_eq!(run("mcp__x__run", &program).as_deref(), Some("linchpin approve --yes"));
    for key in ["script", "input", "code"] {
        assert_eq!(run("mcp__shell__run", &json!({key: "make"})).as_deref(), Some("make"), "{key}");
        assert_eq!(
            run("mcp__terminal__send_input_to_terminal", &json!({key: "make"})).as_deref(),
            Some("make"),
            "{key}"
        );
        assert_eq!(run("mcp__python__run", &json!({key: "make"})), None, "{key}");
    }
}

#[test]
fn tools_that_run_no_command() {
    for (tool, input) in [
        ("mcp__x__create_issue", json!({"command": "ls"})),
        ("mcp__shell__history", json!({"command": "ls"})),
        ("mcp__osa__execute_script", json!({"script": "tell application \"Finder\" to quit"})),
        ("mcp__draw__run_commands", json!({"commands": [{"op": "line"}]})),
        ("SlashCommand", json!({"command": "/review"})),
        ("KillShell", json!({"shell_id": "1"})),
    ] {
        assert_eq!(run(tool, &input), None, "{tool} {input}");
    }
}

#[test]
fn values_that_are_no_paths() {
    for input in [
        json!({"path": "https://example.com/.env"}),
        json!({"uri": "issue://1"}),
        json!({"source": "import x\nx.y()"}),
        json!({"path": ""}),
        json!({"url": "/.env"}),
        json!("a"),
    ] {
        assert_eq!(file_accesses("mcp__x__read", &input), [""; 0], "{input}");
    }
}

#[test]
fn spellings_of_argument_names() {
    for key in ["targetPath", "target_file", "fileName", "file-name", "absolutePath", "Path", "output_path"] {
        assert_eq!(file_accesses("mcp__fs__write_file", &json!({key: "a"})), ["Write /p/a"], "{key}");
    }
    assert_eq!(file_accesses("mcp__ide__read", &json!({"uri": "file:/p/a"})), ["Read /p/a"]);
    for key in ["commandString", "Command", "bash_command", "cmdline"] {
        assert_eq!(run("mcp__sh__run_command", &json!({key: "ls"})).as_deref(), Some("ls"), "{key}");
    }
    assert_eq!(run("mcp__sh__run_command", &json!({"command": "", "script": "ls"})).as_deref(), Some("ls"));
    assert_eq!(run("mcp__sh__run_command", &json!({"argv": ["ls", "-l"]})).as_deref(), Some("ls -l"));
}

#[test]
fn a_shell_without_a_known_command_argument_is_a_shell() {
    assert_eq!(shell("mcp__sh__run_command", &json!({"what": "ls"})), Some(ShellText::Missing));
    assert_eq!(shell("mcp__draw__run", &json!({"what": "ls"})), None);
}

/// Later versions of an agent, or its plugins, can have tools that Linchpin does not know.
#[test]
fn unknown_tools_of_agents() {
    assert_eq!(run("run_in_terminal", &json!({"command": "ls"})).as_deref(), Some("ls"));
    assert_eq!(file_accesses("create_file", &json!({"filePath": "a", "content": "b"})), ["Write /p/a"]);
    assert_eq!(file_accesses("replace_string_in_file", &json!({"filePath": "a"})), ["Write /p/a"]);
    assert_eq!(file_accesses("mcp__fs__apply_patch", &json!({"patch": "*** Update File: a"})), ["Write /p/a"]);
}

#[test]
fn proxied_calls() {
    for proxy in ["mcp__proxy__call_tool", "mcp__proxy__use_tool", "CallMcpTool", "call_mcp_tool"] {
        let input = json!({"serverName": "sh", "toolName": "run_command", "arguments": "{\"command\": \"ls\"}"});
        assert_eq!(run(proxy, &input).as_deref(), Some("ls"), "{proxy}");
    }
}
