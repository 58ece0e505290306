//! File rules of policies in directories below the root of the session.

use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use super::{README_RULE, commit, notice, prompt, repository, session_event, stop};

/// A repository with a policy that has one rule. The rule is not a file rule.
fn with_outer_policy() -> TestProject {
    let project = repository();
    project.rule("outer", "---\ntools: [WebFetch]\n---\nNo.\n");
    project
}

/// Adds a policy with a file rule in this directory.
fn add_policy(project: &TestProject, directory: &str) {
    let file = |path: &str, text: &str| {
        project.file(&format!("{directory}/{path}"), text);
    };
    file(".linchpin/.gitignore", "tmp/\nstate.db*\n");
    file(".linchpin/rules/readme.md", README_RULE);
    file("README.md", "It works.\n");
}

/// Calls the hooks before and after a tool call. `run` does what the tool does.
fn call(project: &TestProject, tool: &str, input: &Value, run: impl FnOnce()) {
    let mut fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": "1" });
    assert_eq!(project.hook("claude", &session_event(project, "session-1", "PreToolUse", &fields)).decision(), "allow");
    run();
    fields["tool_response"] = json!({ "stdout": "", "stderr": "" });
    project.hook("claude", &session_event(project, "session-1", "PostToolUse", &fields));
}

/// Calls the hook of an agent that wants to stop in this directory.
fn stop_in(project: &TestProject, directory: &str) -> ProcessOutput {
    let fields = json!({ "stop_hook_active": false, "last_assistant_message": "Done." });
    let mut event = session_event(project, "session-1", "Stop", &fields);
    event["cwd"] = json!(project.root().join(directory));
    project.hook("claude", &event)
}

/// Returns the trigger files that a held stop lists.
fn trigger_files(reply: &ProcessOutput) -> Vec<String> {
    let lines = if reply.stdout.is_empty() { String::new() } else { reply.reason() };
    lines.lines().filter(|line| line.strip_suffix(".py").is_some()).map(str::to_owned).collect()
}

/// Changes a file in the repository `inner`, and commits it at the present time.
fn commit_in_inner(project: &TestProject, file: &str) {
    project.file(&format!("inner/{file}"), "changed\n");
    project.git(&["-C", "inner", "add", "-A"]);
    let mut commit = project.git_command(&["-C", "inner", "commit", "-q", "-m", file]);
    // The test needs the real time in git's reflog. Git takes it from the committer date.
    commit.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE");
    assert!(commit.status().expect("git").success());
}

#[test]
fn commits_in_a_nested_repository_trigger_the_rules_of_its_policy() {
    let project = with_outer_policy();
    commit(&project, "Begin");
    project.git(&["init", "-q", "-b", "main", "inner"]);
    add_policy(&project, "inner");
    project.git(&["-C", "inner", "add", "-A"]);
    project.git(&["-C", "inner", "commit", "-q", "-m", "Begin"]);
    prompt(&project, "Go on.");
    let reply = stop_in(&project, "inner");
    assert_eq!((reply.stdout.as_str(), notice(&reply)), ("", String::new()));
    commit_in_inner(&project, "src/a.py");
    let reply = stop_in(&project, "inner");
    assert_eq!((trigger_files(&reply), notice(&reply)), (vec!["src/a.py".to_owned()], String::new()));
    commit_in_inner(&project, "README.md");
    assert_eq!(stop_in(&project, "inner").stdout, "");
    // The rule was met at the last stop, so only later changes count.
    commit_in_inner(&project, "src/b.py");
    assert_eq!(trigger_files(&stop_in(&project, "inner")), ["src/b.py"]);
}

#[test]
fn a_stop_at_the_root_is_judged_by_the_policies_of_directories_in_which_the_session_wrote() {
    let project = with_outer_policy();
    add_policy(&project, "pkg");
    add_policy(&project, "other");
    commit(&project, "Begin");
    prompt(&project, "Go on.");
    assert_eq!(stop(&project).stdout, "");
    let input = json!({ "file_path": project.root().join("pkg/src/c.py"), "content": "x" });
    call(&project, "Write", &input, || {
        project.file("pkg/src/c.py", "x\n").file("other/src/c.py", "by hand\n");
    });
    let reply = stop(&project);
    assert_eq!((trigger_files(&reply), notice(&reply)), (vec!["src/c.py".to_owned()], String::new()));
    assert!(reply.reason().contains("## README Accuracy (in `pkg`)\n"), "{}", reply.reason());
    assert_eq!(
        project.run(&["replay"]).stdout,
        "5 events: 5 the same, 0 changed (0 stricter, 0 milder), 0 undecidable\n"
    );
    project.file("pkg/README.md", "Changed.\n");
    assert_eq!(stop(&project).stdout, "");
}

#[test]
fn with_file_rules_at_the_root_nested_policies_count_for_all_files_that_the_session_changed() {
    let project = with_outer_policy();
    project.rule("lib", "---\ntrigger: lib/**\nsafety: lib.md\n---\nVerify lib.md.\n");
    add_policy(&project, "pkg");
    commit(&project, "Begin");
    call(&project, "Bash", &json!({ "command": "./gen.sh" }), || {
        project.file("pkg/src/c.py", "x\n");
    });
    assert_eq!(trigger_files(&stop(&project)), ["src/c.py"]);
}
