//! The root of a session: it is fixed at the first event, and the agent cannot change it.

use std::fs;

use engine::EventKind;

use super::*;
use crate::tests::{Scratch, event, write};

/// The root that session `s` gets for an event in this folder.
fn root_of(scratch: &Scratch, cwd: &str) -> SessionRoot {
    fix_for_event(&in_folder(scratch, cwd), None, &scratch.environment)
}

fn in_folder(scratch: &Scratch, cwd: &str) -> Event {
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
        assert!(found.is_first && found.project.tiers.project.is_some());
    }
}

#[test]
fn a_session_keeps_the_root_of_its_first_event() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    assert_eq!(root_of(&scratch, "one").project.root, scratch.root.join("one"));
    let later = root_of(&scratch, "two");
    assert_eq!((later.project.root, later.is_first), (scratch.root.join("one"), false));
    // A policy that is later created in the directory above changes nothing either.
    scratch.file(".linchpin/config.yml", "");
    assert_eq!(root_of(&scratch, "one").project.root, scratch.root.join("one"));
}

#[test]
fn another_agent_or_session_is_another_session() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    root_of(&scratch, "one");
    for other in [
        Event { session: "other".to_owned(), ..in_folder(&scratch, "two") },
        Event { agent: "codex".to_owned(), ..in_folder(&scratch, "two") },
    ] {
        let found = fix_for_event(&other, None, &scratch.environment);
        assert_eq!((found.project.root, found.is_first), (scratch.root.join("two"), true));
    }
}

#[test]
fn an_event_without_a_session_is_always_the_first() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        let nameless = Event { session: String::new(), ..in_folder(&scratch, "") };
        assert!(fix_for_event(&nameless, None, &scratch.environment).is_first);
    }
    assert!(stored_root("claude", "", &scratch.environment).is_none());
}

#[test]
fn a_dry_run_and_a_folder_without_a_policy_are_not_stored() {
    let scratch = Scratch::new();
    let dry_run = Event { is_dry_run: true, ..in_folder(&scratch, "") };
    assert!(fix_for_event(&dry_run, None, &scratch.environment).is_first);
    assert!(root_of(&scratch, "").is_first, "the dry run left nothing behind");

    let bare = Scratch::bare();
    assert!(root_of(&bare, "").is_first && root_of(&bare, "").is_first);
    // As soon as a policy exists, it applies.
    bare.file(".linchpin/config.yml", "");
    assert!(root_of(&bare, "").project.tiers.project.is_some());
    assert!(!root_of(&bare, "").is_first);
}

#[test]
fn a_policy_that_vanishes_during_the_session_still_counts() {
    let scratch = Scratch::new();
    root_of(&scratch, "");
    fs::remove_dir_all(scratch.root.join(".linchpin")).expect("removed");
    let later = root_of(&scratch, "");
    assert!(!later.is_first && later.project.tiers.project.is_some());
    // A session that begins now has no policy.
    let new = Event { session: "new".to_owned(), ..in_folder(&scratch, "") };
    assert!(fix_for_event(&new, None, &scratch.environment).project.tiers.project.is_none());
}

#[test]
fn a_session_under_the_users_policy_alone_is_not_given_a_project_policy_later() {
    let scratch = Scratch::bare();
    write(&scratch.environment.config.join("config.yml"), "");
    assert!(root_of(&scratch, "").is_first);
    let later = root_of(&scratch, "");
    assert!(!later.is_first && later.project.tiers.project.is_none() && later.project.tiers.user.is_some());
}

#[test]
fn a_session_that_starts_above_its_projects_is_guarded_by_the_first_it_comes_to() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("plain/a", "");
    let start = scratch.root.to_string_lossy().into_owned();
    let at = |cwd: &str| fix_for_event(&in_folder(&scratch, cwd), Some(&start), &scratch.environment);
    assert_eq!(at("plain").project.root, scratch.root);
    assert_eq!(at("one").project.root, scratch.root.join("one"));
    let later = at("plain");
    assert_eq!((later.project.root, later.is_first), (scratch.root.join("one"), false));
}

#[test]
fn the_agents_session_folder_precedes_the_working_directory() {
    let scratch = Scratch::bare();
    scratch.file("one/.linchpin/config.yml", "").file("two/.linchpin/config.yml", "");
    let folder = |name: &str| scratch.root.join(name).to_string_lossy().into_owned();
    let first_event = Event { session_folders: vec![folder("one")], ..in_folder(&scratch, "two") };
    assert_eq!(fix_for_event(&first_event, None, &scratch.environment).project.root, scratch.root.join("one"));
    let other = Event { session: "other".to_owned(), ..first_event };
    assert_eq!(
        fix_for_event(&other, Some(&folder("two")), &scratch.environment).project.root,
        scratch.root.join("two")
    );
    // Only absolute paths count as folders.
    let third = Event { session: "third".to_owned(), ..other };
    assert_eq!(fix_for_event(&third, Some("two"), &scratch.environment).project.root, scratch.root.join("one"));
}

#[test]
fn a_deleted_folder_counts_as_its_nearest_existing_ancestor() {
    let scratch = nested();
    assert_eq!(root_of(&scratch, "inner/removed/deeper").project.root, scratch.root);
    let nowhere = Event { cwd: String::new(), session: "other".to_owned(), ..event(EventKind::Prompt) };
    assert_eq!(fix_for_event(&nowhere, None, &scratch.environment).project.root, scratch.environment.cwd);
}

#[cfg(unix)]
#[test]
fn a_symlink_resolves_to_its_project() {
    let scratch = Scratch::new();
    let link = scratch.environment.temp.join("link");
    std::os::unix::fs::symlink(&scratch.root, &link).expect("a link");
    let via_symlink = Event { cwd: link.to_string_lossy().into_owned(), ..event(EventKind::Prompt) };
    assert_eq!(fix_for_event(&via_symlink, None, &scratch.environment).project.root, scratch.root);
}

#[test]
fn a_damaged_root_file_is_ignored() {
    let scratch = Scratch::new();
    let file = root_file("claude", "s", &scratch.environment);
    for text in ["", "policy", "policy ", "policy relative/path", "something else altogether"] {
        write(&file, text);
        assert!(stored_root("claude", "s", &scratch.environment).is_none(), "{text:?}");
        assert!(root_of(&scratch, "").is_first, "{text:?}");
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
