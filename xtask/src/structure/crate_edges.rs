//! Checks that crates depend only on crates that they may use.

use super::source::Crate;
use super::{Check, Finding};

/// Each crate, and the crates that it may depend on. The list is in order: a crate comes after those that it may depend
/// on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("path", &[]),
    ("runner", &[]),
    ("code", &["path"]),
    ("shell", &["path", "code"]),
    ("engine", &["path", "shell"]),
    ("policy", &["path", "engine", "shell"]),
    ("agents", &["path", "engine", "shell"]),
    ("store", &["path", "engine"]),
    ("tree", &["path", "engine"]),
    ("work", &["store"]),
    ("guard", &["path", "shell", "engine", "policy", "agents", "store", "tree", "work", "runner"]),
    ("driver", &["path", "engine", "policy", "agents", "store", "work", "runner", "guard"]),
    ("cli", &["path", "shell", "engine", "policy", "agents", "store", "tree", "work", "runner", "guard", "driver"]),
    ("testkit", &[]),
    ("xtask", &["agents", "policy"]),
];

pub fn check(crates: &[Crate]) -> Vec<Finding> {
    let finding = |krate: &Crate, detail| Finding { check: Check::CrateEdge, location: krate.name.clone(), detail };
    let mut findings = Vec::new();
    for krate in crates {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == krate.name) else {
            findings.push(finding(krate, "is not in the table of crates".to_owned()));
            continue;
        };
        for dependency in krate.dependencies.iter().filter(|dependency| !allowed.contains(&dependency.as_str())) {
            findings.push(finding(krate, format!("must not depend on {dependency}")));
        }
    }
    findings
}
