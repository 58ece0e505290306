//! Queue files that are damaged, unknown, old or not writable.

use std::fs;

use super::{README_RULE, notice, only_entry, queue_directory, stop, stop_with_message, summary, tmp, with_rule};

/// A project in which the rule has held a stop once.
fn with_open_demand() -> testkit::TestProject {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    project
}

/// Replaces the queue entry's hash in a text.
fn without_hash(project: &testkit::TestProject, text: &str) -> String {
    let (_, entry) = only_entry(project);
    text.replace(entry["trigger_hash"].as_str().expect("a hash"), "[HASH]")
}

#[test]
fn an_unreadable_entry_is_removed_reported_and_created_again() {
    for text in ["{", "", "[]", "{\"rule_name\": 1}", "\u{0}\u{0}"] {
        let project = with_open_demand();
        let (path, _) = only_entry(&project);
        fs::write(&path, text).expect("a file");
        let reply = stop(&project);
        assert_eq!(reply.json()["decision"], "block", "{text:?}");
        let notice = without_hash(&project, &notice(&reply));
        let start = "Linchpin: the queue entry `[HASH].queued.json` of rule `readme` cannot be used: ";
        assert!(notice.starts_with(start), "{notice}");
        assert!(notice.ends_with(". It was removed; a demand that still holds is made again"), "{notice}");
        assert_eq!(summary(&project), "queued 1x readme: src/a.py");
    }
}

#[test]
fn an_entry_whose_content_does_not_match_its_name_is_removed() {
    for (key, value) in [("status", "passed"), ("trigger_hash", "0123456789ab")] {
        let project = with_open_demand();
        let (path, mut entry) = only_entry(&project);
        entry[key] = value.into();
        fs::write(&path, entry.to_string()).expect("a file");
        let reply = stop(&project);
        assert_eq!(reply.json()["decision"], "block", "{key}");
        let notice = without_hash(&project, &notice(&reply));
        assert!(notice.contains("its content does not match its name"), "{notice}");
        assert_eq!(summary(&project), "queued 1x readme: src/a.py");
    }
}

#[test]
fn unknown_files_in_the_queue_are_left_alone() {
    let project = with_open_demand();
    let directory = queue_directory(&project);
    fs::write(directory.join(".tmpAbCdEf"), "{\"rule_na").expect("a file");
    fs::write(directory.join("notes.txt"), "mine").expect("a file");
    fs::write(directory.join("0123456789ab.passed.json"), "{").expect("a file");
    let reply = stop(&project);
    assert_eq!(reply.json()["decision"], "block");
    assert_eq!(notice(&reply), "");
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    let mut names: Vec<String> = fs::read_dir(&directory)
        .expect("a directory")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.contains(&"notes.txt".to_owned()) && names.contains(&".tmpAbCdEf".to_owned()), "{names:?}");
}

#[test]
fn a_directory_in_place_of_an_entry_is_reported() {
    let project = with_open_demand();
    let (path, _) = only_entry(&project);
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a directory");
    fs::write(path.join("inside"), "x").expect("a file");
    let reply = stop(&project);
    assert_eq!(reply.json()["decision"], "block");
    insta::assert_snapshot!(without_hash(&project, &notice(&reply)), @"Linchpin: the queue entry `[HASH].queued.json` of rule `readme` cannot be used: it is not a regular file, or it is too large. It was removed; a demand that still holds is made again");
    assert_eq!(summary(&project), "queued 1x readme: src/a.py");
}

#[test]
fn a_file_in_place_of_a_queue_directory_disables_nothing() {
    for path in ["tmp", "tmp/rules", "tmp/rules/queue", "tmp/rules/name", "tmp/rules/baselines"] {
        let project = with_rule("other", "---\ntrigger: other/**\n---\nNo.\n");
        project.user_rule("readme", README_RULE);
        project.file("src/a.py", "changed\n").file(&format!(".linchpin/{path}"), "in the way\n");
        let reply = stop(&project);
        assert_eq!(reply.json()["decision"], "block", "{path}");
        assert_eq!(notice(&reply), "", "{path}");
        assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "", "{path}");
        assert_eq!(stop(&project).stdout, "", "{path}");
    }
}

#[test]
fn a_directory_in_place_of_a_state_file_disables_nothing() {
    for path in ["tmp/rules/name", "state.db", "state.db-wal", "state.db-journal"] {
        let project = with_rule("other", "---\ntrigger: other/**\n---\nNo.\n");
        project.user_rule("readme", README_RULE);
        project.user_rule("tested", "---\non: stop\nwhen: not command_ran('^make')\n---\nRun make.\n");
        project.file("src/a.py", "changed\n").file(&format!(".linchpin/{path}/x"), "in the way\n");
        let reply = stop(&project);
        assert_eq!(reply.json()["decision"], "block", "{path}");
        assert!(
            reply.reason().contains("Run make.") && reply.reason().contains("src/a.py"),
            "{path}: {}",
            reply.reason()
        );
        assert_eq!(notice(&reply), "", "{path}");
    }
}

/// Makes the queue directories of the project and of the user's state unusable.
pub(super) fn make_queues_unusable(project: &testkit::TestProject) {
    project.file(".linchpin/tmp/rules/queue", "in the way\n");
    for directory in fs::read_dir(project.state().join("projects")).expect("a directory").flatten() {
        fs::write(directory.path().join("tmp"), "in the way\n").expect("a file");
    }
}

#[test]
fn without_a_writable_queue_nothing_is_held_and_it_is_reported() {
    let project = with_rule("readme", README_RULE);
    super::prompt(&project, "Begin.");
    project.file("src/a.py", "changed\n");
    make_queues_unusable(&project);
    let reply = stop(&project);
    let notice = notice(&reply);
    assert!(
        notice.starts_with("Linchpin: rule `readme` was skipped: ") && notice.contains("cannot be written"),
        "{notice}"
    );
    assert_eq!(reply.json()["decision"], serde_json::Value::Null);
    assert_eq!(stop(&project).code, Some(0));
    // After the file in place of the queue directory is removed, the rule holds the stop.
    fs::remove_file(queue_directory(&project)).expect("a file");
    assert_eq!(stop(&project).json()["decision"], "block");
}

#[test]
fn without_a_writable_state_directory_everything_is_judged() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    // A file in place of the state directory prevents writing, even if root runs the test.
    fs::create_dir_all(project.state().parent().expect("a directory")).expect("a directory");
    fs::write(project.state(), "in the way\n").expect("a file");
    for shown in 1..=3 {
        assert_eq!(stop(&project).json()["decision"], "block");
        assert_eq!(summary(&project), format!("queued {shown}x readme: src/a.py"));
    }
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "passed 3x readme: src/a.py");
}

#[test]
fn a_promise_that_cannot_be_stored_is_reported() {
    let project = with_open_demand();
    let name = fs::read_to_string(tmp(&project).join("rules/name")).expect("a name");
    fs::write(demands_directory(&project).join(name).join("settled"), "in the way\n").expect("a file");
    let notice = notice(&stop_with_message(&project, "<promise>readme</promise>"));
    assert!(
        notice.starts_with("Linchpin: rule `readme` was skipped: ") && notice.contains("cannot be written"),
        "{notice}"
    );
}

#[test]
fn symlinks_are_not_followed() {
    for symlink in ["tmp", "tmp/rules", "tmp/rules/queue", "tmp/rules/baselines"] {
        let project = with_rule("readme", README_RULE);
        project.file("src/a.py", "changed\n");
        let elsewhere = project.home().join("elsewhere");
        fs::create_dir(&elsewhere).expect("a directory");
        let symlink = project.root().join(".linchpin").join(symlink);
        fs::create_dir_all(symlink.parent().expect("a directory")).expect("a directory");
        std::os::unix::fs::symlink(&elsewhere, &symlink).expect("a symlink");
        assert_eq!(stop(&project).json()["decision"], "block", "{symlink:?}");
        assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "", "{symlink:?}");
        assert_eq!(stop(&project).stdout, "", "{symlink:?}");
        assert_eq!(fs::read_dir(&elsewhere).expect("a directory").count(), 0, "{symlink:?}");
    }
}

#[test]
fn deleting_the_queue_reopens_demands() {
    let project = with_open_demand();
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(stop(&project).stdout, "");
    fs::remove_dir_all(tmp(&project)).expect("a directory");
    let reply = stop(&project);
    assert_eq!(reply.json()["decision"], "block");
    assert_eq!(notice(&reply), "");
    assert_eq!(summary(&project), "queued 1x readme: src/a.py");
}

#[test]
fn file_contents_are_not_in_the_queue() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "password = 'correct horse'\n");
    stop(&project);
    let (path, _) = only_entry(&project);
    assert!(!fs::read_to_string(path).expect("an entry").contains("horse"));
}

#[test]
fn queue_entries_from_a_repository_do_not_close_demands() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    assert_eq!(stop(&project).stdout, "");
    // Simulates another user with the same files, who lacks the state that authenticates queue entries.
    for directory in fs::read_dir(project.state().join("projects")).expect("a directory") {
        let _ = fs::remove_dir_all(directory.expect("a directory").path().join("demands"));
    }
    assert_eq!(stop(&project).json()["decision"], "block");
}

#[test]
fn a_named_pipe_in_place_of_an_entry_does_not_block() {
    let project = with_rule("readme", README_RULE);
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    let (path, _) = only_entry(&project);
    fs::remove_file(&path).expect("a file");
    let status = std::process::Command::new("mkfifo").arg(&path).status().expect("a pipe");
    assert!(status.success());
    assert!(notice(&stop(&project)).contains("cannot be used"));
    assert_eq!(summary(&project), "queued 1x readme: src/a.py");
}

#[test]
fn obsolete_entries_are_removed_and_open_ones_stay() {
    let project = with_rule("readme", README_RULE);
    project.rule("other", "---\ntrigger: other/**\ncompare_to: prompt\n---\nNo.\n");
    // The following events leave one closed demand and one open demand.
    super::prompt(&project, "Begin.");
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    project.file("src/b.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    insta::assert_snapshot!(summary(&project), @"
    passed 1x readme: src/a.py
    queued 1x readme: src/b.py
    ");
    let demands = demands_directory(&project);
    let total_count = || file_count(&tmp(&project).join("rules")) + file_count(&demands);
    let before = total_count();
    for directory in [tmp(&project), demands.clone()] {
        make_files_old(&directory);
    }
    project.file("src/a.py", "a\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    insta::assert_snapshot!(summary(&project), @"queued 2x readme: src/b.py");
    // Four files were deleted: the queue entry of the closed demand, the file in the user's state that authenticates
    // this entry, the record of the promised file, and the snapshot of the tree.
    assert_eq!(total_count(), before - 4);
}

/// Returns the directory in the user's state that belongs to the project's demands.
fn demands_directory(project: &testkit::TestProject) -> std::path::PathBuf {
    let projects = fs::read_dir(project.state().join("projects")).expect("projects");
    let paths = projects.map(|entry| entry.expect("a directory").path().join("demands"));
    paths.into_iter().find(|path| path.exists()).expect("demands")
}

/// Returns the number of files in a directory and its subdirectories.
fn file_count(directory: &std::path::Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { file_count(&entry.path()) } else { 1 }).sum()
}

/// Sets the modification time of all files to a hundred days ago.
fn make_files_old(directory: &std::path::Path) {
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(100 * 24);
    for path in fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            make_files_old(&path);
        } else {
            fs::File::options().write(true).open(&path).expect("a file").set_modified(long_ago).expect("a time");
        }
    }
}

#[test]
fn an_unusable_entry_is_recorded_in_the_journal() {
    let project = with_open_demand();
    let (path, _) = only_entry(&project);
    fs::write(&path, "{").expect("a file");
    stop(&project);
    let log = project.run(&["log", "--json"]).stdout;
    assert!(log.contains("of rule `readme` cannot be used: it is truncated. It was removed"), "{log}");
}

#[test]
fn a_promised_demand_with_a_damaged_entry_is_opened_again() {
    let project = with_open_demand();
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    let (path, _) = only_entry(&project);
    assert!(path.to_string_lossy().ends_with(".passed.json"));
    fs::write(&path, "{").expect("a file");
    let reply = stop(&project);
    assert_eq!(reply.json()["decision"], "block");
    assert!(notice(&reply).contains(".passed.json` of rule `readme` cannot be used"), "{}", notice(&reply));
    assert_eq!(summary(&project), "queued 1x readme: src/a.py");
}

#[test]
fn a_failed_demand_is_closed_when_it_is_met() {
    let project = with_rule("readme", &README_RULE.replace("safety", "max_holds: 1\nsafety"));
    project.file("src/a.py", "changed\n");
    assert_eq!(stop(&project).json()["decision"], "block");
    stop(&project);
    assert_eq!(summary(&project), "failed 2x readme: src/a.py");
    project.file("README.md", "It works well.\n");
    assert_eq!(stop(&project).stdout, "");
    assert_eq!(summary(&project), "skipped 2x readme: src/a.py");
}

#[test]
fn unreadable_entries_without_a_demand_are_removed_and_reported() {
    let project = with_open_demand();
    let directory = queue_directory(&project);
    for (name, text) in [
        ("0123456789ab.queued.json", "{"),
        ("0123456789ac.skipped.json", "no"),
        ("0123456789ad.failed.json", "{}"),
        ("foo.passed.json", ""),
        ("foo.json", "{"),
    ] {
        fs::write(directory.join(name), text).expect("a file");
    }
    // Linchpin looks for old entries only once a day, and has already done so.
    assert_eq!(notice(&stop(&project)), "");
    fs::remove_file(demands_directory(&project).join("last-forgotten")).expect("a file");
    let mut notices: Vec<String> = notice(&stop(&project)).lines().map(str::to_owned).collect();
    notices.sort();
    insta::assert_snapshot!(notices.join("\n"), @"



    Linchpin: the queue entry `0123456789ab.queued.json` cannot be used: it is truncated. It was removed; a demand that still holds is made again
    Linchpin: the queue entry `0123456789ac.skipped.json` cannot be used: it is not JSON. It was removed; a demand that still holds is made again
    Linchpin: the queue entry `0123456789ad.failed.json` cannot be used: a field is missing or has the wrong type. It was removed; a demand that still holds is made again
    Linchpin: the queue entry `foo.passed.json` cannot be used: it is truncated. It was removed; a demand that still holds is made again
    ");
    let log = project.run(&["log", "--json"]).stdout;
    assert!(log.contains("the queue entry `foo.passed.json` cannot be used"), "{log}");
    fs::remove_file(directory.join("foo.json")).expect("other files are left alone");
    assert_eq!(summary(&project), "queued 3x readme: src/a.py");
}

#[test]
fn check_reports_a_damaged_entry_of_a_promise() {
    let project = with_open_demand();
    assert_eq!(stop_with_message(&project, "<promise>readme</promise>").stdout, "");
    project.git(&["add", "-A"]);
    assert_eq!(project.run(&["check", "--staged"]).code, Some(0));
    let (path, entry) = only_entry(&project);
    fs::write(&path, "{").expect("a file");
    let reply = project.run(&["check", "--staged"]);
    assert_eq!(reply.code, Some(1));
    let note = reply.stdout.lines().find(|line| line.starts_with("Note: ")).unwrap_or_default();
    let hash = entry["trigger_hash"].as_str().expect("a hash");
    insta::assert_snapshot!(note.replace(hash, "[HASH]"), @"Note: the queue entry `[HASH].passed.json` of rule `readme` cannot be used: it is truncated. It is ignored, and the next stop removes it.");
    assert_eq!(project.run(&["check", "--staged"]).stdout.matches("cannot be used").count(), 1);
    assert!(!project.run(&["status", "--json"]).stdout.is_empty() && path.exists());
    // `check` and `status` do not delete the damaged entry. The next stop deletes it, and records that in the journal.
    stop(&project);
    assert!(!path.exists());
    let log = project.run(&["log", "--json"]).stdout;
    assert!(log.contains(".passed.json` of rule `readme` cannot be used: it is truncated. It was removed"), "{log}");
}
