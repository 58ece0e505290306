use serde_json::{Value, json};

use super::files;

/// Each path with what is done to it.
fn named(tool: &str, input: &Value) -> Vec<String> {
    let files = files(tool, input, "/p");
    let shown = |access| match access {
        Some(access) => format!("{access:?}"),
        None => "?".to_owned(),
    };
    files.iter().map(|file| format!("{} {}", shown(file.access), file.path)).collect()
}

#[test]
fn a_name_says_what_becomes_of_a_path() {
    let path = || json!({"path": "a"});
    for tool in ["read_file", "readFile", "read-text-file", "get_file_info", "list_directory", "search_files"] {
        assert_eq!(named(&format!("mcp__fs__{tool}"), &path()), ["Read /p/a"], "{tool}");
    }
    for tool in ["write_file", "edit", "createOrUpdateFile"] {
        assert!(named(&format!("mcp__fs__{tool}"), &path()).iter().all(|file| file == "Write /p/a"), "{tool}");
    }
    assert_eq!(named("mcp__fs__delete_file", &path()), ["Delete /p/a"]);
    assert_eq!(named("mcp__fs__do_something", &path()), ["? /p/a"]);
    // A server's name says nothing, and a part of a word neither.
    assert_eq!(named("mcp__read__target", &path()), ["? /p/a"]);
    assert_eq!(named("mcp__fs__spreadsheet", &path()), ["? /p/a"]);
}

#[test]
fn a_move_takes_from_one_place_and_puts_into_another() {
    let both = || json!({"source": "a", "destination": "b"});
    assert_eq!(named("mcp__fs__move_file", &both()), ["Read /p/a", "Delete /p/a", "Write /p/b"]);
    assert_eq!(named("mcp__fs__copy_file", &both()), ["Read /p/a", "Write /p/b"]);
}

#[test]
fn lists_addresses_and_calls_that_are_passed_on() {
    assert_eq!(named("mcp__fs__read_multiple_files", &json!({"paths": ["a", "/b", 1]})), ["Read /p/a", "Read /b"]);
    assert_eq!(named("mcp__gh__push_files", &json!({"files": [{"path": "a", "content": "x"}]})), ["? /p/a"]);
    assert_eq!(named("mcp__ide__read", &json!({"uri": "file:///p/%2Eenv"})), ["Read /p/.env"]);
    assert_eq!(named("mcp__ide__read", &json!({"uri": "file://localhost/p/a%zz%4"})), ["Read /p/a%zz%4"]);
    let proxied = json!({"server": "fs", "tool": "read_file", "arguments": {"path": "~/.ssh/id_rsa"}});
    assert_eq!(named("mcp__proxy__call_tool", &proxied), ["Read ~/.ssh/id_rsa"]);
}

#[test]
fn what_is_no_path() {
    for input in [
        json!({"path": "https://example.com/.env"}),
        json!({"uri": "issue://1"}),
        json!({"source": "import x\nx.y()"}),
        json!({"path": ""}),
        json!({"url": "/.env"}),
        json!({"path": {"path": "a"}}),
        json!("a"),
    ] {
        assert_eq!(named("mcp__x__read", &input), [""; 0], "{input}");
    }
    assert_eq!(named("Whatever", &json!({"path": "a"})), [""; 0]);
}
