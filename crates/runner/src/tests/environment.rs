use std::collections::BTreeMap;

use super::stage::Stage;
use crate::{Confinement, VARIABLES};

/// What `env` prints, on a stage with every known variable, one that is asked for and one that nobody asked for.
fn printed(confinement: impl Fn(&Stage) -> Confinement) -> BTreeMap<String, String> {
    let mut stage = Stage::new();
    for name in VARIABLES.iter().filter(|name| !["PATH", "HOME", "TMPDIR"].contains(*name)) {
        stage.set(name, format!("value of {name}"));
    }
    stage.set("ASKED_FOR", "two\tparts = one");
    stage.set("SECRET_TOKEN", "secret");
    stage.set("LD_LIBRARY_PATH", "/outside");
    stage.more_variables = vec!["ASKED_FOR".to_owned(), "NOT_SET".to_owned()];
    let outcome = stage.run(&["env"], confinement(&stage)).unwrap();
    outcome
        .stdout
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[test]
fn a_program_sees_what_is_known_and_asked_for() {
    let free = printed(|_| Confinement::Off);
    let mut expected: Vec<&str> = VARIABLES.iter().copied().chain(["ASKED_FOR"]).collect();
    expected.sort_unstable();
    let found: Vec<&str> = free.keys().map(String::as_str).collect();
    assert_eq!(found, expected);
    assert_eq!(free["ASKED_FOR"], "two\tparts = one");
    assert_eq!(free["CARGO_HOME"], "value of CARGO_HOME");
    println!("{free:#?}");
}

#[test]
fn confined_it_sees_the_same() {
    if !crate::is_supported() {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let confined = printed(|stage| Confinement::Require { root: stage.path("repo") });
    let free = printed(|_| Confinement::Off);
    assert!(confined.keys().eq(free.keys()));
}

#[test]
fn a_variable_is_named_once() {
    let mut names = VARIABLES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), VARIABLES.len());
}
