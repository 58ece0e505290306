//! `linchpin completions`, and the schemas by which editors check policy files.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{project, project_without_policy};

#[test]
fn completions_contain_commands_and_agents() {
    let project = project();
    for shell in ["bash", "zsh", "fish"] {
        let reply = project.run(&["completions", shell]);
        assert_eq!((reply.code, reply.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["uninstall", "propose", "codex", "no-hooks"] {
            assert!(reply.stdout.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn completions_are_valid_shell_code() {
    let project = project();
    for shell in ["bash", "zsh", "fish"] {
        let script = project.root().join(shell);
        fs::write(&script, project.run(&["completions", shell]).stdout).expect("a file");
        // If the shell is not installed, its script cannot be checked.
        let Ok(checked) = Command::new(shell).arg("-n").arg(&script).env_clear().output() else { continue };
        assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn an_unknown_shell_is_an_error() {
    insta::assert_snapshot!(project().run(&["completions", "tcsh"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, zsh, fish]

    For more information, try '--help'.
    ");
}

#[test]
fn files_that_init_writes_name_their_schemas() {
    let project = project_without_policy();
    project.run(&["init", "--no-hooks"]);
    for (file, line, schema) in [("config.yml", 0, "config"), ("rules/keep-commit-hooks.md", 1, "rule")] {
        let text = fs::read_to_string(project.root().join(".linchpin").join(file)).expect("a file");
        let declared = text.lines().nth(line).and_then(|line| line.strip_prefix("# yaml-language-server: $schema="));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../schemas/{schema}.json"));
        let schema: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
        assert_eq!(declared, schema["$id"].as_str(), "{file}");
    }
}
