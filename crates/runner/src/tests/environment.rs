use std::collections::BTreeMap;

use super::scratch_project::ScratchProject;
use crate::{INHERITED_VARIABLES, SandboxMode};

/// Returns the environment that a program gets if every inherited variable, one extra variable, and two variables that
/// the program must not inherit are set.
fn inherited_environment(sandbox: impl Fn(&ScratchProject) -> SandboxMode) -> BTreeMap<String, String> {
    let mut project = ScratchProject::new();
    for name in INHERITED_VARIABLES.iter().filter(|name| !["PATH", "HOME", "TMPDIR"].contains(*name)) {
        project.set(name, format!("value of {name}"));
    }
    project.set("ASKED_FOR", "two\tparts = one");
    project.set("SECRET_TOKEN", "secret");
    project.set("LD_LIBRARY_PATH", "/outside");
    project.extra_variables = vec!["ASKED_FOR".to_owned(), "NOT_SET".to_owned()];
    let outcome = project.run(&["env"], sandbox(&project)).unwrap();
    outcome
        .stdout
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[test]
fn a_program_inherits_the_known_and_the_extra_variables() {
    let unconfined = inherited_environment(|_| SandboxMode::Off);
    let mut expected: Vec<&str> = INHERITED_VARIABLES.iter().copied().chain(["ASKED_FOR"]).collect();
    expected.sort_unstable();
    let found: Vec<&str> = unconfined.keys().map(String::as_str).collect();
    assert_eq!(found, expected);
    assert_eq!(unconfined["ASKED_FOR"], "two\tparts = one");
    assert_eq!(unconfined["CARGO_HOME"], "value of CARGO_HOME");
}

#[test]
fn a_confined_program_inherits_the_same_variables() {
    if !crate::is_sandbox_supported() {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let confined = inherited_environment(|project| SandboxMode::Require { root: project.path("repo") });
    let unconfined = inherited_environment(|_| SandboxMode::Off);
    assert!(confined.keys().eq(unconfined.keys()));
}

#[test]
fn every_inherited_variable_is_listed_once() {
    let mut names = INHERITED_VARIABLES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), INHERITED_VARIABLES.len());
}
