use engine::event::ShellText;
use serde_json::json;

use super::tool_call;
use crate::protocol::shell_text::shell_quoted;

fn shell(input: serde_json::Value) -> ShellText {
    tool_call("Bash", input, "/p").shell.unwrap()
}

#[test]
fn an_argument_list_becomes_a_script() {
    let text = |text: &str| ShellText::Command(text.to_owned());
    assert_eq!(shell(json!({"command": "ls -l"})), text("ls -l"));
    assert_eq!(
        shell(json!({"command": ["bash", "-lc", "echo 'a b' && ls"]})),
        text(r"bash -lc 'echo '\''a b'\'' && ls'")
    );
    assert_eq!(shell(json!({"command": ["echo", "", "$HOME", "~"]})), text("echo '' '$HOME' '~'"));
}

#[test]
fn a_missing_command_differs_from_an_empty_one() {
    assert_eq!(shell(json!({"command": ""})), ShellText::Command(String::new()));
    for input in [
        json!(null),
        json!({}),
        json!({"command": null}),
        json!({"command": []}),
        json!({"command": ["ls", 1]}),
        json!("ls"),
    ] {
        assert_eq!(shell(input), ShellText::Missing);
    }
}

#[test]
fn a_monitor_with_a_command_is_a_shell() {
    let monitor = |input| tool_call("Monitor", input, "/p");
    let call = monitor(json!({"command": "tail -f log", "description": "errors"}));
    assert_eq!(call.shell, Some(ShellText::Command("tail -f log".to_owned())));
    assert_eq!(call.names().collect::<Vec<_>>(), ["Monitor", "Bash"]);
    assert_eq!(monitor(json!({"command": null})).shell, Some(ShellText::Missing));
    assert_eq!(monitor(json!({"description": "events"})).shell, None);
}

#[test]
fn plain_words_need_no_quotes() {
    assert_eq!(shell_quoted("/usr/bin/linchpin"), "/usr/bin/linchpin");
    assert_eq!(shell_quoted("/my folder/it's"), r"'/my folder/it'\''s'");
}
