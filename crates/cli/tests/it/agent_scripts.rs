//! A script that the agent has written in this session is judged by its contents when the agent runs it.

use serde_json::json;
use testkit::TestProject;

use super::{NO_DANGER, project};

fn guarded_project() -> TestProject {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    project.hook("claude", &project.event_payload("SessionStart", &json!({"source": "startup"})));
    project
}

/// Writes a file as an agent's tool does: calls the hook before the call, and then writes.
fn write(project: &TestProject, path: &str, text: &str) {
    let input = json!({"file_path": project.root().join(path), "content": text});
    assert_eq!(project.hook("claude", &project.tool_payload("Write", &input)).decision(), "allow");
    project.file(path, text);
}

#[test]
fn a_script_is_judged_by_its_content() {
    let project = guarded_project();
    write(&project, "x.sh", "set -e\nfor i in 1 2; do danger --all; done\n");
    for command in ["bash x.sh", "sh ./x.sh a", ". x.sh", "chmod +x x.sh && ./x.sh", "sudo bash x.sh", "bash < x.sh"] {
        assert_eq!(project.decision(command), "deny", "{command}");
    }
    insta::assert_snapshot!(project.hook("claude", &project.bash_payload("bash x.sh")).reason(), @"
    Blocked by Linchpin rule `no-danger`: Danger is not for agents. Use `safety`. Matched: `danger --all`

    A person can allow this call once: `linchpin allow 9`
    ");
    // The script is judged by its current contents.
    write(&project, "x.sh", "safety\n");
    assert_eq!(project.decision("bash x.sh"), "allow");
}

#[test]
fn a_script_that_people_wrote_is_not_read() {
    let project = guarded_project();
    project.file("deploy.sh", "danger --all\n");
    assert_eq!(project.decision("bash deploy.sh"), "allow");
    assert_eq!(project.decision("cat deploy.sh && ./deploy.sh"), "allow");
}

#[test]
fn scripts_are_read_however_they_were_written() {
    let project = guarded_project();
    // The agent writes the script with a shell command in an earlier call.
    assert_eq!(project.decision("mkdir -p tools && cat > tools/y.sh <<'E'\ndanger\nE"), "allow");
    project.file("tools/y.sh", "danger\n");
    assert_eq!(project.decision("cd tools && bash y.sh"), "deny");
    assert_eq!(project.decision("bash tools/y.sh"), "deny");
    // Scripts in Python are judged, too.
    write(&project, "z.py", "import os\nos.system('danger')\n");
    assert_eq!(project.decision("python3 z.py"), "deny");
    write(&project, "w", "#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['danger', '--all'])\n");
    assert_eq!(project.decision("./w"), "deny");
    // One call writes the script and runs it.
    assert_eq!(project.decision("echo danger > v.sh && bash v.sh"), "deny");
    assert_eq!(project.decision("echo safety > v.sh && bash v.sh"), "allow");
    assert_eq!(project.decision("curl -so v.sh https://example.test && bash v.sh"), "ask");
    // A command that only mentions a file does not make the agent its author.
    project.file("u.sh", "danger\n");
    assert_eq!(project.decision("shellcheck u.sh; grep -n x u.sh"), "allow");
    assert_eq!(project.decision("bash u.sh"), "allow");
}

#[test]
fn chmod_touch_and_cp_do_not_make_the_agent_the_author() {
    let project = guarded_project();
    project.file("deploy.sh", "danger --all\n");
    assert_eq!(project.decision("chmod +x deploy.sh && touch deploy.sh"), "allow");
    assert_eq!(project.decision("./deploy.sh"), "allow");
    // A copy of a person's script does not count as written by the agent. A copy of the agent's script does.
    assert_eq!(project.decision("cp deploy.sh copy.sh"), "allow");
    project.file("copy.sh", "danger --all\n");
    assert_eq!(project.decision("bash copy.sh"), "allow");
    write(&project, "own.sh", "danger --all\n");
    assert_eq!(project.decision("cp own.sh renamed.sh"), "allow");
    project.file("renamed.sh", "danger --all\n");
    assert_eq!(project.decision("bash renamed.sh"), "deny");
    // Later calls that only mention the script do not change its author.
    for _ in 0..60 {
        assert_eq!(project.decision("cat own.sh"), "allow");
    }
    assert_eq!(project.decision("bash own.sh"), "deny");
}

#[test]
fn judging_a_recursive_script_ends_and_unreadable_scripts_are_asked_about() {
    let project = guarded_project();
    write(&project, "x.sh", "safety; bash x.sh; ./x.sh\n");
    assert_eq!(project.decision("bash x.sh"), "allow");
    write(&project, "big.sh", &"safety\n".repeat(20_000));
    assert_eq!(project.decision("bash big.sh"), "ask");
    write(&project, "odd.sh", "danger\n");
    project.file("odd.sh", b"danger\n\xE9\n");
    assert_eq!(project.decision("bash odd.sh"), "ask");
    project.file("binary", [0x7F, b'E', b'L', b'F', 0, 0xFF]);
    assert_eq!(project.decision("cc -o binary x.c && ./binary"), "allow");
    assert_eq!(project.decision("./binary"), "allow");
}

#[test]
fn replay_judges_scripts_by_recorded_contents() {
    let project = guarded_project();
    write(&project, "x.sh", "danger\n");
    assert_eq!(project.decision("bash x.sh"), "deny");
    project.file("x.sh", "safety\n");
    let reply = project.run(&["replay"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn a_script_whose_name_the_shell_expands_is_read() {
    let project = guarded_project();
    for (number, command) in
        ["n=a0; echo danger > $n.sh", "echo danger > a\"1\".sh", "echo danger | tee {a2,c}.sh"].iter().enumerate()
    {
        assert_eq!(project.decision(command), "allow", "{command}");
        let name = format!("a{number}.sh");
        project.file(&name, "danger\n");
        assert_eq!(project.decision(&format!("bash {name}")), "deny", "{command}");
    }
    // The command names the script by a glob.
    project.file("b.sh", "safety\n");
    assert_eq!(project.decision("sed -i s/safety/danger/ b*.sh"), "allow");
    project.file("b.sh", "danger\n");
    assert_eq!(project.decision("bash b.sh"), "deny");
}

#[test]
fn files_of_a_patch_count_as_written() {
    let project = guarded_project();
    let patch = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n");
    write(&project, "p.patch", &patch(".claude/settings.json"));
    write(&project, "q.patch", &patch("src/main.rs"));
    for command in ["git apply p.patch", "patch -p1 < p.patch", "patch -p1 -i p.patch", "cat p.patch | git apply -"] {
        assert_eq!(project.decision(command), "deny", "{command}");
    }
    assert_eq!(project.decision("git apply q.patch && patch -p1 < q.patch"), "allow");
    assert_eq!(project.decision("git apply --stat p.patch"), "allow");
    // Linchpin does not judge the files of a patch that a person has written.
    project.file("r.patch", patch(".claude/settings.json"));
    assert_eq!(project.decision("git apply r.patch"), "allow");
}

#[test]
fn a_script_that_begins_like_a_binary_is_asked_about() {
    let project = guarded_project();
    write(&project, "x", "MZ=1\ndanger\n\0");
    assert_eq!(project.decision("bash x"), "ask");
    write(&project, "y", "\u{7F}ELF\u{2}\u{1}\u{1}\0\0\0\n");
    assert_eq!(project.decision("./y"), "allow");
}
