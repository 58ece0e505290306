//! The commands `linchpin rules export` and `linchpin rules import`, and which symlinks the commands about rules
//! follow.

use std::fs;
use std::path::Path;

use super::{COMMENTED, file_contents, read_file, run_as_agent};
use crate::{NO_DANGER, project};

#[test]
fn an_export_can_be_imported() {
    let source = project();
    source.rule("no-danger", COMMENTED);
    assert_eq!(source.run(&["rules", "export", "no-danger"]).stdout, COMMENTED);
    insta::assert_snapshot!(source.run(&["rules", "export", "no-danger", "hard-reset"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: several rules cannot be written to one file
    help: name a folder for them: `--to DIR`
    ");
    insta::assert_snapshot!(source.run(&["rules", "export", "no-danger", "hard-reset", "--to", "out"]).transcript(), @"
    exit 0
    --- stdout
    [BASE]/project/out/no-danger.md
    [BASE]/project/out/hard-reset.md
    --- stderr
    ");
    insta::assert_snapshot!(source.run(&["rules", "export", "no-danger", "--to", "out"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/out/no-danger.md` already exists
    help: choose an empty folder
    ");
    insta::assert_snapshot!(source.run(&["rules", "export", "hard-reset", "--json"]).transcript(), @r#"
    exit 0
    --- stdout
    {"rules":[{"file":"hard-reset.md","text":"---\nname: No hard reset\ndescription: Stops `git reset --hard` and similar commands, which discard uncommitted work.\ncommand:\n  - {program: git, subcommand: reset, flags_any: [--hard]}\n  - {program: git, subcommand: read-tree, flags_all: [--reset, -u]}\ntags: [git]\ntests:\n  - {command: git reset --hard, expect: block}\n  - {command: git reset --har HEAD~1, expect: block}\n  - {command: bash -c 'git reset --hard', expect: block}\n  - {command: git read-tree --reset -u HEAD, expect: block}\n  - {command: git reset $MODE HEAD~1, expect: ask}\n  - {command: git reset --soft HEAD~1, expect: allow}\n  - {command: git reset HEAD notes.md, expect: allow}\n  - {command: grep -rn \"git reset --hard\" docs, expect: allow}\n---\nA hard reset discards uncommitted work for good. Use `git stash`, `git restore FILE` for a single file, or `git switch` to\nchange the branch; or ask the person.\n"}]}
    --- stderr
    "#);
    let other = project();
    let from = source.root().join("out");
    let from = from.to_string_lossy();
    let imported = other.run(&["rules", "import", &from]);
    assert_eq!(imported.code, Some(0), "{}", imported.transcript());
    assert_eq!(read_file(&other, ".linchpin/rules/no-danger.md"), COMMENTED);
    assert_eq!(other.decision("danger"), "deny");
    assert_eq!(other.decision("git reset --hard"), "deny");
    let again = other.run(&["rules", "import", &from]).transcript();
    insta::assert_snapshot!(again, @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/hard-reset.md` already exists
    help: to replace it, run the command with `--force`
    ");
    fs::write(source.root().join("out/no-danger.md"), NO_DANGER).expect("a file");
    assert_eq!(other.run(&["rules", "import", &from, "--force"]).code, Some(0));
    assert_eq!(read_file(&other, ".linchpin/rules/no-danger.md"), NO_DANGER);
}

#[test]
fn an_import_with_an_error_changes_nothing() {
    let project = project();
    project.file("in/a.md", NO_DANGER).file("in/b.md", "---\ntool: Bash\n---\nNo.\n");
    project
        .file("lib/shared.yml", "- no\n- mapping\n")
        .file("note.txt", "x")
        .file("lib2/protect-guardrails.md", NO_DANGER);
    project.file("lib3/odd name.md", NO_DANGER).file("lib4/x.md", [0xff, 0xfe]);
    let before = file_contents(&project.root());
    let mut replies = Vec::new();
    for from in ["in", "lib", "lib2", "lib3", "lib4", "note.txt", "nowhere.md", ".linchpin"] {
        replies.push(project.run(&["rules", "import", from]).transcript());
        assert_eq!(file_contents(&project.root()), before);
    }
    insta::assert_snapshot!(replies.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown key `tool`
     --> in/b.md:2:1
      |
    2 | tool: Bash
      | ^^^^
      |
      = help: did you mean `tools`?

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: expected a mapping, found a list
     --> lib/shared.yml:1:1
      |
    1 | - no
      | ^

    error: `lib/shared.yml` has errors and was not changed

    exit 2
    --- stdout
    --- stderr
    error: `protect-guardrails` is locked in the bundled tier and cannot be replaced
    --> lib2/protect-guardrails.md
     = help: rename this rule

    error: nothing was written

    exit 2
    --- stdout
    --- stderr
    error: invalid rule id `odd name`
    help: use letters, digits, `-`, `_` and `.`, and start with a letter or digit

    exit 2
    --- stdout
    --- stderr
    error: `lib4/x.md` is not UTF-8 text

    exit 2
    --- stdout
    --- stderr
    error: `note.txt` is not a rule file
    help: pass a rule (`.md`) or a rule library (`.yml`, `.yaml`)

    exit 2
    --- stdout
    --- stderr
    error: `nowhere.md` does not exist

    exit 2
    --- stdout
    --- stderr
    error: `.linchpin` has no rule files
    help: pass a rule (`.md`), a rule library (`.yml`, `.yaml`), a list in DeepWork's old format, or a folder with such files
    ");
}

#[test]
fn no_symlink_out_of_the_policy_is_followed() {
    let project = project();
    let outside = project.home().join("rules");
    fs::create_dir_all(&outside).expect("a directory");
    fs::write(outside.join("no-danger.md"), NO_DANGER).expect("a file");
    let symlink_to = |to: &Path, at: &str| {
        std::os::unix::fs::symlink(to, project.root().join(at)).expect("a symlink");
    };
    symlink_to(&outside.join("no-danger.md"), ".linchpin/rules/no-danger.md");
    symlink_to(project.home().as_path(), ".linchpin/agent");
    insta::assert_snapshot!(project.run(&["rules", "disable", "no-danger"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/no-danger.md` is behind a symlink that leads out of its folder
    help: replace the symlink by the file, or change the target in an editor
    ");
    insta::assert_snapshot!(run_as_agent(&project, &["rules", "propose", "x", "-"], NO_DANGER).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the folder of `.linchpin/agent/proposals/x.md` is a symlink, so it cannot hold proposals
    help: delete the symlink
    ");
    fs::remove_file(project.root().join(".linchpin/agent")).expect("a symlink");
    fs::create_dir(project.root().join(".linchpin/agent")).expect("a directory");
    symlink_to(Path::new("../rules"), ".linchpin/agent/proposals");
    insta::assert_snapshot!(run_as_agent(&project, &["rules", "propose", "x", "-"], NO_DANGER).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the folder of `.linchpin/agent/proposals/x.md` is a symlink, so it cannot hold proposals
    help: delete the symlink
    ");
    assert!(!project.root().join(".linchpin/rules/x.md").exists());
    fs::remove_file(project.root().join(".linchpin/rules/no-danger.md")).expect("a symlink");
    fs::remove_dir(project.root().join(".linchpin/rules")).expect("a directory");
    symlink_to(&outside, ".linchpin/rules");
    insta::assert_snapshot!(project.run(&["rules", "new", "x", "--on", "stop", "--reason", "No."]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/rules/x.md` is behind a symlink that leads out of its folder
    help: replace the symlink by the file, or change the target in an editor
    ");
    assert_eq!(fs::read_to_string(outside.join("no-danger.md")).expect("a file"), NO_DANGER);
    assert_eq!(fs::read_dir(&outside).expect("a directory").count(), 1);
    assert_eq!(fs::read_dir(project.home()).expect("a directory").count(), 1);
}

#[test]
fn a_symlink_within_the_policy_is_followed_and_the_file_mode_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    project.rule("real", NO_DANGER);
    let rules = project.root().join(".linchpin/rules");
    fs::set_permissions(rules.join("real.md"), fs::Permissions::from_mode(0o640)).expect("a mode");
    std::os::unix::fs::symlink("real.md", rules.join("alias.md")).expect("a symlink");
    assert_eq!(project.run(&["rules", "disable", "alias"]).code, Some(0));
    assert!(rules.join("alias.md").is_symlink());
    assert_eq!(project.run(&["rules", "delete", "alias"]).code, Some(0));
    assert!(!rules.join("alias.md").is_symlink());
    assert!(read_file(&project, ".linchpin/rules/real.md").contains("enabled: false"));
    assert_eq!(fs::metadata(rules.join("real.md")).expect("a file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn agents_only_print_rules_and_exports_into_a_policy_are_refused() {
    let project = project();
    assert_eq!(run_as_agent(&project, &["rules", "export", "hard-reset"], "").code, Some(0));
    std::os::unix::fs::symlink(".linchpin/rules", project.root().join("linked")).expect("a symlink");
    project.config("rules_dir: other/rules\n").file("other/rules/x.md", NO_DANGER);
    let before = file_contents(&project.root());
    let mut replies = vec![run_as_agent(&project, &["rules", "export", "hard-reset", "--to", "out"], "").transcript()];
    for to in [".linchpin/rules", "linked", "linked/../.linchpin/new", "other/rules", "other/../other/rules/below"] {
        replies.push(project.run(&["rules", "export", "hard-reset", "--to", to]).transcript());
        assert_eq!(file_contents(&project.root()), before);
    }
    insta::assert_snapshot!(replies.join("\n"), @"
    exit 2
    --- stdout
    --- stderr
    error: only people may run `linchpin rules export --to`, and `CLAUDECODE` shows that an agent started it
    help: run it in your own terminal

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/.linchpin/rules` is a policy folder, so rules cannot be exported there
    help: to add rules to a policy, run `linchpin rules import`

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/linked` is a policy folder, so rules cannot be exported there
    help: to add rules to a policy, run `linchpin rules import`

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/linked/../.linchpin/new` is a policy folder, so rules cannot be exported there
    help: to add rules to a policy, run `linchpin rules import`

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/other/rules` is a policy folder, so rules cannot be exported there
    help: to add rules to a policy, run `linchpin rules import`

    exit 2
    --- stdout
    --- stderr
    error: `[BASE]/project/other/../other/rules/below` is a policy folder, so rules cannot be exported there
    help: to add rules to a policy, run `linchpin rules import`
    ");
}

#[test]
fn errors_of_an_import_name_its_source() {
    let project = project();
    project.file("elsewhere/x.md", "---\ntriger: x\n---\nNo.\n");
    insta::assert_snapshot!(project.run(&["rules", "import", "elsewhere/x.md"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown key `triger`
     --> elsewhere/x.md:2:1
      |
    2 | triger: x
      | ^^^^^^
      |
      = help: did you mean `trigger`?

    error: nothing was written
    ");
}

#[test]
fn rules_of_an_imported_library_are_off_until_they_are_named() {
    let project = project();
    project.file(
        "elsewhere/lib.yml",
        "one:\n  command_pattern: ^x\n  reason: No.\ntwo:\n  command_pattern: ^y\n  reason: No.\n",
    );
    insta::assert_snapshot!(project.run(&["rules", "import", "elsewhere/lib.yml"]).transcript(), @"
    exit 0
    --- stdout
    .linchpin/rules/lib.yml (new)
      + one:
      +   command_pattern: ^x
      +   reason: No.
      + two:
      +   command_pattern: ^y
      +   reason: No.

    Off until you enable them: `one`, `two`. Run `linchpin rules enable one`.
    --- stderr
    ");
}
