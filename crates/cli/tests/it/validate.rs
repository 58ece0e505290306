//! Every error of a policy file is said well.

use std::fs;
use std::path::Path;

use super::{bare, project};

fn broken_project() -> testkit::Scratch {
    let project = project();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/broken");
    fs::copy(fixtures.join("config.yml"), project.root().join(".linchpin/config.yml")).expect("a copy");
    for entry in fs::read_dir(fixtures.join("rules")).expect("the fixtures").filter_map(Result::ok) {
        fs::copy(entry.path(), project.root().join(".linchpin/rules").join(entry.file_name())).expect("a copy");
    }
    project
}

#[test]
fn deliberately_broken_policies() {
    let reply = broken_project().run(&["validate"]);
    assert_eq!(reply.code, Some(2));
    assert_eq!(reply.stderr, "");
    insta::assert_snapshot!(reply.stdout);
}

#[test]
fn deliberately_broken_policies_as_json() {
    let reply = broken_project().run(&["validate", "--json"]);
    assert_eq!(reply.code, Some(2));
    let report = reply.json();
    let lines: Vec<String> = report["problems"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_sound_policy() {
    let project = project();
    project.config("rules: [hard-reset]\n").rule("no-danger", super::NO_DANGER);
    insta::assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    4 rules in force, everything is sound.
    --- stderr
    ");
    assert_eq!(project.run(&["validate", "--json"]).json()["sound"], true);
}

#[test]
fn another_project() {
    let project = project();
    project.rule("no-danger", super::NO_DANGER);
    let elsewhere = bare();
    let root = project.root();
    assert_eq!(elsewhere.run(&["validate", &root.to_string_lossy()]).code, Some(0));
    insta::assert_snapshot!(elsewhere.run(&["validate", "nowhere"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `nowhere` cannot be looked at: No such file or directory (os error 2)
    ");
}

#[test]
fn no_policy() {
    insta::assert_snapshot!(bare().run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one
    ");
    insta::assert_snapshot!(bare().run(&["validate", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"NoPolicy","message":"there is no policy in `[BASE]/project` or above it","help":"`linchpin init` writes one"}}
    --- stderr
    "#);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let project = project();
    let rules = project.root().join(".linchpin/rules");
    let made = std::process::Command::new("mkfifo").arg(rules.join("pipe.md")).status().expect("mkfifo");
    assert!(made.success());
    fs::create_dir(rules.join("folder.md")).expect("a folder");
    std::os::unix::fs::symlink("/dev/zero", rules.join("endless.md")).expect("a link");
    fs::write(rules.join("large.md"), vec![b'x'; 300 * 1024]).expect("a file");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: a link that leads out of the project is not followed
    --> .linchpin/rules/endless.md

    error: cannot be read: not a regular file
    --> .linchpin/rules/folder.md

    error: the file is larger than the 256 KiB that are read
    --> .linchpin/rules/large.md

    error: cannot be read: not a regular file
    --> .linchpin/rules/pipe.md

    2 rules in force; 4 errors.
    ");
}

#[test]
fn a_file_that_is_wrong_in_a_thousand_ways_is_not_told_in_full() {
    let project = project();
    let fields: Vec<String> = (0..1000).map(|number| format!("key{number}: x")).collect();
    project.rule("wrong", &format!("---\n{}\n---\nNo.\n", fields.join("\n")));
    let shown = project.run(&["validate"]).stdout;
    assert_eq!(shown.matches("unknown key").count(), 50);
    assert!(shown.contains("and 950 more problems in this file"), "{shown}");
}
