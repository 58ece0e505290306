//! The pre-commit hook that runs `check`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use testkit::{ProcessOutput, TestProject};

use super::{README_RULE, commit, project_without_policy, repository, with_rule};

const INIT: [&str; 3] = ["init", "--no-hooks", "--pre-commit"];

/// Stages all changes and tries to commit them.
fn try_commit(project: &TestProject, message: &str) -> ProcessOutput {
    project.git(&["add", "-A"]);
    git_with_hooks(project, &["commit", "-q", "-m", message])
}

fn git_with_hooks(project: &TestProject, arguments: &[&str]) -> ProcessOutput {
    project.run_with_stdin(project.git_command(arguments), b"")
}

#[test]
fn a_commit_with_an_unmet_rule_is_refused() {
    let project = with_rule("readme", README_RULE);
    insta::assert_snapshot!(project.run(&INIT).transcript(), @"
    exit 0
    --- stdout
    Added to the policy for [BASE]/project:
      .linchpin/config.yml
      .git/hooks/pre-commit

    No hooks are installed, so nothing is checked yet: run `linchpin install AGENT`.
    Linchpin knows these agents: claude, codex, gemini, antigravity, cursor, copilot, opencode.

    Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.
    --- stderr
    ");
    let hook = project.root().join(".git/hooks/pre-commit");
    insta::assert_snapshot!(fs::read_to_string(&hook).expect("a hook"), @"
    #!/bin/sh
    # Written by `linchpin init --pre-commit`.
    exec linchpin check --staged
    ");
    assert_eq!(fs::metadata(&hook).expect("a hook").permissions().mode() & 0o111, 0o111);
    insta::assert_snapshot!(project.run(&INIT).transcript(), @"
    exit 0
    --- stdout
    The policy in [BASE]/project/.linchpin was not changed.

    No hooks are installed, so nothing is checked yet: run `linchpin install AGENT`.
    Linchpin knows these agents: claude, codex, gemini, antigravity, cursor, copilot, opencode.

    Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.
    --- stderr
    ");
    project.file("src/a.py", "changed\n");
    let head = project.git(&["rev-parse", "HEAD"]);
    let refused = try_commit(&project, "Change");
    insta::assert_snapshot!(refused.transcript().replace(&head[..12], "[HEAD]"), @r#"
    exit 1
    --- stdout
    --- stderr
    ## README Accuracy
    src/a.py
    (changing README.md satisfies it)

    Source files changed. Verify README.md is accurate.
    (readme in .linchpin/rules/readme.md)

    1 of 1 file rule unmet; 2 files changed since [HEAD].
    If a rule does not apply, run `linchpin ack readme --reason "…"`: the acknowledgement then counts for agents and for `check --staged`. For CI, add `--trailer`, and put the printed line into the commit message.
    "#);
    assert_eq!(project.git(&["rev-parse", "HEAD"]), head);
    project.file("README.md", "changed\n");
    let committed = try_commit(&project, "Change, and say so");
    assert_eq!(committed.code, Some(0), "{}", committed.transcript());
    assert_ne!(project.git(&["rev-parse", "HEAD"]), head);
    // For these two kinds of commit, git uses a temporary index. The hook judges that index and leaves the regular one
    // as it is.
    project.file("src/a.py", "changed again\n");
    for arguments in [&["commit", "-q", "-a", "-m", "All"][..], &["commit", "-q", "-m", "One", "src/a.py"]] {
        assert_eq!(git_with_hooks(&project, arguments).code, Some(1), "{arguments:?}");
        assert_eq!(project.git(&["status", "--porcelain"]), " M src/a.py");
    }
    project.file("README.md", "changed again\n");
    assert_eq!(git_with_hooks(&project, &["commit", "-q", "-a", "-m", "All"]).code, Some(0));
    assert_eq!(project.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_existing_hook_is_left_alone() {
    let project = with_rule("readme", README_RULE);
    project.file(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    insta::assert_snapshot!(project.run(&INIT).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/.git/hooks/pre-commit` is a hook that Linchpin did not write
    help: add the line `linchpin check --staged` to it
    ");
    assert_eq!(
        fs::read_to_string(project.root().join(".git/hooks/pre-commit")).expect("a hook"),
        "#!/bin/sh\nexit 0\n"
    );
    // `init` accepts an existing hook that runs `linchpin check`.
    project.file(".git/hooks/pre-commit", "#!/bin/sh\nmake lint && linchpin check\n");
    assert_eq!(project.run(&INIT).code, Some(0));
}

#[test]
fn the_hook_is_written_to_gits_hooks_path() {
    let project = repository();
    commit(&project, "Begin");
    project.git(&["config", "core.hooksPath", "tools/hooks"]);
    assert_eq!(project.run(&INIT).code, Some(0));
    assert!(project.root().join("tools/hooks/pre-commit").exists());
    let report = project.run(&["init", "--no-hooks", "--pre-commit", "--json"]).json();
    insta::assert_snapshot!(report.to_string(), @r#"{"root":"[BASE]/project","written":[],"hooks":[]}"#);
    insta::assert_snapshot!(project_without_policy().run(&INIT).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project` is not in a git repository, so the pre-commit hook cannot be installed
    help: run `git init` first, or leave out `--pre-commit`
    ");
}

#[test]
fn the_index_is_judged_and_not_the_working_tree() {
    let project = with_rule("tests", "---\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nTest it.\n");
    project.run(&INIT);
    project.file("src/a.py", "changed\n").file("tests/a_test.py", "changed\n");
    project.git(&["add", "src/a.py"]);
    assert_eq!(git_with_hooks(&project, &["commit", "-q", "-m", "Half"]).code, Some(1));
    // `commit -a` commits all changes in the working tree. Git writes them to a temporary index first.
    project.git(&["add", "-N", "tests/a_test.py"]);
    assert_eq!(git_with_hooks(&project, &["commit", "-q", "-a", "-m", "Whole"]).code, Some(0));
}

#[test]
fn promised_files_can_be_committed() {
    let project = with_rule("readme", README_RULE);
    project.run(&INIT);
    project.file("src/a.py", "changed\n");
    assert_eq!(super::stop(&project).json()["decision"], "block");
    assert_eq!(super::stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    // Without `--staged`, `check` ignores the promise.
    assert_eq!(project.run(&["check"]).code, Some(1));
    assert_eq!(try_commit(&project, "Change").code, Some(0));
}

#[test]
fn with_refire_content_a_promise_counts_only_for_its_contents() {
    let project = with_rule("readme", &README_RULE.replace("safety", "refire: content\nsafety"));
    project.file("src/a.py", "changed\n");
    project.git(&["add", "-A"]);
    assert_eq!(super::stop(&project).json()["decision"], "block");
    assert_eq!(super::stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(project.run(&["check", "--staged"]).code, Some(0));
    project.file("src/a.py", "changed again\n");
    project.git(&["add", "-A"]);
    assert_eq!(project.run(&["check", "--staged"]).code, Some(1));
}

/// A commit moves the baseline of `check --staged`, but not the baseline of the session. So the next commit is refused,
/// although the session's demand is still closed.
#[test]
fn after_a_commit_an_acknowledgement_counts_for_the_next_commit() {
    let project = with_rule("readme", README_RULE);
    project.run(&INIT);
    super::prompt(&project, "do it");
    project.file("src/a.py", "changed\n");
    assert_eq!(super::stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(try_commit(&project, "Change").code, Some(0));
    project.file("src/a.py", "changed again\n");
    assert_eq!(try_commit(&project, "Again").code, Some(1));
    let reply = project.run(&["ack", "readme", "--reason", "a typo"]);
    assert!(reply.stdout.starts_with("Acknowledged `readme` in session"), "{}", reply.transcript());
    assert_eq!(try_commit(&project, "Again").code, Some(0));
}

#[test]
fn a_person_can_acknowledge_without_any_session() {
    let project = with_rule("readme", README_RULE);
    project.run(&INIT);
    project.file("src/a.py", "changed\n");
    assert_eq!(try_commit(&project, "Change").code, Some(1));
    insta::assert_snapshot!(project.run(&["ack", "readme", "--reason", "a typo"]).transcript(), @"
    exit 0
    --- stdout
    Acknowledged `readme` for 1 file.
    --- stderr
    ");
    assert_eq!(try_commit(&project, "Change").code, Some(0));
    insta::assert_snapshot!(project.run(&["ack", "readme", "--reason", "a typo"]).stdout, @"`readme` has no open demand.");
    let log = project.run(&["log", "--kind", "ack"]).stdout;
    assert!(log.contains("person ack: rule `readme`"), "{log}");
}

#[test]
fn an_acknowledged_commit_with_a_trailer_passes_the_hook_and_ci() {
    let project = with_rule("readme", README_RULE);
    project.run(&INIT);
    project.git(&["switch", "-q", "-c", "topic"]);
    project.file("src/a.py", "changed\n");
    project.git(&["add", "-A"]);
    project.run(&["ack", "readme", "--reason", "a typo"]);
    let trailer = project.run(&["ack", "readme", "--reason", "a typo", "--trailer"]).stdout;
    let committed = git_with_hooks(&project, &["commit", "-q", "-m", "Fix", "--trailer", trailer.trim()]);
    assert_eq!(committed.code, Some(0), "{}", committed.transcript());
    assert_eq!(project.run(&["check"]).code, Some(0));
}

/// Husky 9 sets `core.hooksPath` to `.husky/_`. The hooks in that directory run the hooks in `.husky`.
#[test]
fn with_husky_the_hook_is_in_huskys_directory() {
    for (hooks_path, husky_hook) in [(".husky/_", Some(".husky/_/pre-commit")), (".husky", None)] {
        let project = with_rule("readme", README_RULE);
        project.git(&["config", "core.hooksPath", hooks_path]);
        if let Some(husky_hook) = husky_hook {
            project.file(husky_hook, "#!/bin/sh\n. \"${0%/*}/h\"\n");
        }
        assert_eq!(project.run(&INIT).code, Some(0), "{hooks_path}");
        let hook = fs::read_to_string(project.root().join(".husky/pre-commit")).expect("a hook");
        assert!(hook.contains("linchpin check --staged"), "{hook}");
        if let Some(husky_hook) = husky_hook {
            assert!(!fs::read_to_string(project.root().join(husky_hook)).expect("a hook").contains("linchpin"));
        }
    }
    // In this clone, Husky has not set `core.hooksPath` yet.
    let project = with_rule("readme", README_RULE);
    project.file(".husky/commit-msg", "true\n");
    assert_eq!(project.run(&INIT).code, Some(0));
    assert!(
        project.root().join(".husky/pre-commit").exists() && !project.root().join(".git/hooks/pre-commit").exists()
    );
    let project = with_rule("readme", README_RULE);
    project.git(&["config", "core.hooksPath", ".husky/_"]);
    project.file(".husky/pre-commit", "npm test\n");
    let reply = project.run(&INIT);
    assert_eq!(reply.code, Some(2));
    assert!(reply.stderr.contains(".husky/pre-commit` is a hook that Linchpin did not write"), "{}", reply.stderr);
}
