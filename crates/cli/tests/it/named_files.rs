//! Files that a call names indirectly: by the glob of a search, or in the arguments of an MCP tool.

use serde_json::{Value, json};
use testkit::TestProject;

use super::project;

fn guarded_project() -> TestProject {
    let project = project();
    project.config("rules: [read-secrets, delete-outside-project]\n");
    project.file(".env", "KEY=secret\n").file("README.md", "A project.\n").file("src/a.ts", "a\n");
    project
}

fn decision(project: &TestProject, tool: &str, input: &Value) -> String {
    project.hook("claude", &project.tool_payload(tool, input)).decision()
}

#[test]
fn a_search_glob_is_judged_by_its_matches() {
    let project = guarded_project();
    project.file("deploy/.env.local", "KEY=secret\n");
    let search = |glob: &str| decision(&project, "Grep", &json!({ "pattern": "KEY", "glob": glob }));
    for glob in [
        ".env",
        ".env*",
        ".e*",
        "**/.env*",
        "*.env",
        "{.env,x}",
        "{src/*,.e{nv,x}}",
        "*.pem",
        ".env.*",
        "*.local",
        "deploy/*.local",
        "*.ts,.env",
        "*.ts .e*",
        "./.env",
    ] {
        assert_eq!(search(glob), "deny", "{glob}");
    }
    for glob in ["*.ts", "**/*.env.example", "src/**", "src/*", "*", "**/*", "!.env", "*.{ts,tsx}", "{a", "x}", ""] {
        assert_eq!(search(glob), "allow", "{glob}");
    }
    assert_eq!(decision(&project, "Grep", &json!({ "pattern": "KEY", "path": "." })), "allow");
    assert_eq!(decision(&project, "Grep", &json!({ "pattern": "KEY", "path": "src", "glob": ".e*" })), "allow");
    // `Glob` returns only names of files, which are not secret.
    assert_eq!(decision(&project, "Glob", &json!({ "pattern": "**/.env*" })), "allow");
    insta::assert_snapshot!(project.hook("claude", &project.tool_payload("Grep", &json!({ "pattern": "KEY", "glob": ".e*" }))).reason(), @"
    Blocked by Linchpin rule `read-secrets`: This file holds secrets, and whatever you read ends up in transcripts. Read `.env.example` for the names of the variables, or ask the person for the one value that you need. Matched: `.env`

    A person can allow this call once: `linchpin allow 29`
    ");
}

#[test]
fn the_paths_of_mcp_tools_are_judged() {
    let project = guarded_project();
    let home = project.home();
    std::fs::create_dir_all(home.join(".ssh")).expect("a directory");
    let private_key = home.join(".ssh/id_ed25519");
    let outside = home.join("notes");
    std::fs::write(&outside, "n").expect("a file");
    for (tool, input, expected) in [
        ("mcp__fs__read_file", json!({ "path": ".env" }), "deny"),
        ("mcp__fs__read_multiple_files", json!({ "paths": ["README.md", ".env"] }), "deny"),
        ("mcp__fs__readFile", json!({ "uri": format!("file://{}", private_key.display()) }), "deny"),
        ("mcp__fs__read_file", json!({ "path": "~/.ssh/id_ed25519" }), "deny"),
        ("mcp__fs__move_file", json!({ "source": ".env", "destination": "x" }), "deny"),
        ("mcp__fs__open", json!({ "path": ".env" }), "ask"),
        ("mcp__fs__write_file", json!({ "path": ".env", "content": "x" }), "allow"),
        ("mcp__fs__write_file", json!({ "path": ".linchpin/config.yml", "content": "" }), "deny"),
        ("mcp__fs__delete_directory", json!({ "path": ".linchpin" }), "deny"),
        ("mcp__fs__apply", json!({ "file_path": ".claude/settings.json" }), "ask"),
        ("mcp__fs__read_file", json!({ "path": ".linchpin/config.yml" }), "allow"),
        ("mcp__fs__delete_file", json!({ "path": outside }), "deny"),
        ("mcp__fs__delete_file", json!({ "path": "README.md" }), "allow"),
        // This path is not a path on this machine.
        ("mcp__store__delete_object", json!({ "path": "/bucket/key" }), "allow"),
        ("mcp__github__create_issue", json!({ "title": "read .env", "body": ".linchpin/config.yml" }), "allow"),
        ("mcp__github__get_file_contents", json!({ "owner": "o", "repo": "r", "path": "src/main.rs" }), "allow"),
        ("mcp__github__create_or_update_file", json!({ "path": "docs/a.md", "content": "x" }), "allow"),
        ("mcp__browser__navigate", json!({ "url": "https://example.com/.env" }), "allow"),
        ("mcp__browser__upload", json!({ "paths": [outside] }), "allow"),
        ("mcp__ide__get_file_text", json!({ "pathInProject": ".env" }), "deny"),
        ("mcp__fs__read_file", json!({ "args": { "path": ".env" } }), "deny"),
    ] {
        assert_eq!(decision(&project, tool, &input), expected, "{tool} {input}");
    }
    let event = project.tool_payload("mcp__fs__open", &json!({ "path": ".env" }));
    insta::assert_snapshot!(project.hook("claude", &event).reason(), @"
    Approval required by Linchpin rule `read-secrets`: Linchpin can't tell what this does to `.env`. It might read files that this rule protects. This file holds secrets, and whatever you read ends up in transcripts. Read `.env.example` for the names of the variables, or ask the person for the one value that you need. Possible match: `.env`

    A person can allow this call once: `linchpin allow 22`
    ");
}

#[test]
fn replay_judges_searches_by_recorded_paths() {
    let project = guarded_project();
    project.hook("claude", &project.tool_payload("Grep", &json!({ "pattern": "KEY", "glob": ".e*" })));
    std::fs::remove_file(project.root().join(".env")).expect("it was there");
    let explained = project.run(&["explain", "event", "1"]).stdout;
    assert!(explained.contains("block by read-secrets"), "{explained}");
    assert!(project.run(&["replay"]).stdout.contains("0 "), "{}", project.run(&["replay"]).stdout);
}
