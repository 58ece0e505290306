//! Tests that the root of a session is determined at its first event, and that the agent cannot change it.

use std::fs;

use engine::EventKind;

use super::*;
use crate::tests::{Scratch, event, write};

/// The root that session `s` gets for an event in this directory.
fn root_of(scratch: &Scratch, cwd: &str) -> SessionRoot {
    pin_root(&in_directory(scratch, cwd), None, &scratch.environment)
}

fn in_directory(scratch: &Scratch, cwd: &str) -> Event {
    Event { cwd: scratch.root.join(cwd).to_string_lossy().into_owned(), ..event(EventKind::Prompt) }
}

/// A project with a nested project that has its own policy.
fn nested() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("inner/.linchpin/config.yml", "").file("inner/src/a", "");
    scratch
}

#[test]
fn a_session_is_guarded_by_the_outermost_policy_around_its_first_event() {
    for cwd in ["", "inner", "inner/src"] {
        let scratch = nested();
        let found = root_of(&scratch, cwd);
        assert_eq!(found.project.root, scratch.root, "{cwd}");
        assert!(found.is_first_event && found.project.tiers.project.is_some());
    }
}

#[test]
fn a_session_keeps_the_root_of_its_first_event() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    assert_eq!(root_of(&scratch, "one").project.root, scratch.root.join("one"));
    let later = root_of(&scratch, "two");
    assert_eq!((later.project.root, later.is_first_event), (scratch.root.join("one"), false));
    // A policy that is later created in the directory above does not change the root.
    scratch.file(".linchpin/config.yml", "");
    assert_eq!(root_of(&scratch, "one").project.root, scratch.root.join("one"));
}

#[test]
fn another_agent_or_session_is_another_session() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    root_of(&scratch, "one");
    for other in [
        Event { session: "other".to_owned(), ..in_directory(&scratch, "two") },
        Event { agent: "codex".to_owned(), ..in_directory(&scratch, "two") },
    ] {
        let found = pin_root(&other, None, &scratch.environment);
        assert_eq!((found.project.root, found.is_first_event), (scratch.root.join("two"), true));
    }
}

#[test]
fn an_event_without_a_session_is_always_the_first() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        let nameless = Event { session: String::new(), ..in_directory(&scratch, "") };
        assert!(pin_root(&nameless, None, &scratch.environment).is_first_event);
    }
    assert!(stored_root("claude", "", &scratch.environment).is_none());
}

#[test]
fn a_dry_run_and_a_directory_without_a_policy_are_not_stored() {
    let scratch = Scratch::new();
    let dry_run = Event { is_dry_run: true, ..in_directory(&scratch, "") };
    assert!(pin_root(&dry_run, None, &scratch.environment).is_first_event);
    assert!(root_of(&scratch, "").is_first_event, "the dry run left nothing behind");

    let bare = Scratch::bare();
    assert!(root_of(&bare, "").is_first_event && root_of(&bare, "").is_first_event);
    // As soon as a policy exists, it applies.
    bare.file(".linchpin/config.yml", "");
    assert!(root_of(&bare, "").project.tiers.project.is_some());
    assert!(!root_of(&bare, "").is_first_event);
}

#[test]
fn a_policy_that_vanishes_during_the_session_still_counts() {
    let scratch = Scratch::new();
    root_of(&scratch, "");
    fs::remove_dir_all(scratch.root.join(".linchpin")).expect("removed");
    let later = root_of(&scratch, "");
    assert!(!later.is_first_event && later.project.tiers.project.is_some());
    // A session that begins now has no policy.
    let new = Event { session: "new".to_owned(), ..in_directory(&scratch, "") };
    assert!(pin_root(&new, None, &scratch.environment).project.tiers.project.is_none());
}

#[test]
fn a_session_under_the_users_policy_alone_is_not_given_a_project_policy_later() {
    let scratch = Scratch::bare();
    write(&scratch.environment.config.join("config.yml"), "");
    assert!(root_of(&scratch, "").is_first_event);
    let later = root_of(&scratch, "");
    assert!(!later.is_first_event && later.project.tiers.project.is_none() && later.project.tiers.user.is_some());
}

#[test]
fn a_session_that_starts_above_its_projects_gets_the_root_of_the_first_one_that_it_enters() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("plain/a", "");
    let start = scratch.root.to_string_lossy().into_owned();
    let at = |cwd: &str| pin_root(&in_directory(&scratch, cwd), Some(&start), &scratch.environment);
    assert_eq!(at("plain").project.root, scratch.root);
    assert_eq!(at("one").project.root, scratch.root.join("one"));
    let later = at("plain");
    assert_eq!((later.project.root, later.is_first_event), (scratch.root.join("one"), false));
}

#[test]
fn the_agents_session_directory_precedes_the_working_directory() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    let directory = |name: &str| scratch.root.join(name).to_string_lossy().into_owned();
    let first_event = Event { session_directories: vec![directory("one")], ..in_directory(&scratch, "two") };
    assert_eq!(pin_root(&first_event, None, &scratch.environment).project.root, scratch.root.join("one"));
    let other = Event { session: "other".to_owned(), ..first_event };
    assert_eq!(pin_root(&other, Some(&directory("two")), &scratch.environment).project.root, scratch.root.join("two"));
    // If the agent names its session directory by a relative path, the path is ignored.
    let third = Event { session: "third".to_owned(), ..other };
    assert_eq!(pin_root(&third, Some("two"), &scratch.environment).project.root, scratch.root.join("one"));
}

#[test]
fn a_deleted_directory_counts_as_its_nearest_existing_ancestor() {
    let scratch = nested();
    assert_eq!(root_of(&scratch, "inner/removed/deeper").project.root, scratch.root);
    let nowhere = Event { cwd: String::new(), session: "other".to_owned(), ..event(EventKind::Prompt) };
    assert_eq!(pin_root(&nowhere, None, &scratch.environment).project.root, scratch.environment.cwd);
}

#[cfg(unix)]
#[test]
fn a_symlink_resolves_to_its_project() {
    let scratch = Scratch::new();
    let link = scratch.environment.temp.join("link");
    std::os::unix::fs::symlink(&scratch.root, &link).expect("a link");
    let via_symlink = Event { cwd: link.to_string_lossy().into_owned(), ..event(EventKind::Prompt) };
    assert_eq!(pin_root(&via_symlink, None, &scratch.environment).project.root, scratch.root);
}

#[test]
fn a_damaged_root_file_is_ignored() {
    let scratch = Scratch::new();
    let file = root_file("claude", "s", &scratch.environment);
    for text in ["", "policy", "policy ", "policy relative/path", "something else altogether"] {
        write(&file, text);
        assert!(stored_root("claude", "s", &scratch.environment).is_none(), "{text:?}");
        assert!(root_of(&scratch, "").is_first_event, "{text:?}");
    }
}

#[test]
fn of_two_first_events_the_one_that_wrote_first_wins() {
    let scratch = Scratch::new();
    let file = root_file("claude", "s", &scratch.environment);
    store_root(&file, &scratch.root, true);
    store_root(&file, Path::new("/elsewhere"), false);
    let found = stored_root("claude", "s", &scratch.environment).expect("a root");
    assert_eq!(found.root, scratch.root);
}

#[test]
fn a_command_in_a_session_uses_the_sessions_project() {
    fn of_claude(name: &str) -> Option<std::ffi::OsString> {
        (name == "CLAUDE_CODE_SESSION_ID").then(|| "s".into())
    }
    let scratch = Scratch::bare().with_variables(of_claude);
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    let mut environment = scratch.environment.clone();
    environment.cwd = scratch.root.join("two");
    assert_eq!(project_of_command(&environment).root, scratch.root.join("two"), "the session has no stored root");
    root_of(&scratch, "one");
    assert_eq!(project_of_command(&environment).root, scratch.root.join("one"));
}
