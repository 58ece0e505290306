//! Checks that pure crates have a `clippy.toml` that forbids side effects.
//!
//! Clippy enforces the list in that file. This check only ensures that every pure crate has the file, and that all of
//! these files are equal.

use std::fs;

use super::source::Crate;
use super::{Check, Finding};

const PURE: [&str; 4] = ["path", "code", "shell", "engine"];

/// A sample of the items that the `clippy.toml` of each pure crate must forbid.
const FORBIDDEN: [&str; 5] =
    ["std::time::SystemTime", "std::env::var", "std::fs::File", "std::process::Command", "std::fs::read_to_string"];

pub fn check(crates: &[Crate]) -> Vec<Finding> {
    let pure = crates.iter().filter(|krate| PURE.contains(&krate.name.as_str()));
    let lists: Vec<(&str, String)> = pure
        .map(|krate| (krate.name.as_str(), fs::read_to_string(krate.directory.join("clippy.toml")).unwrap_or_default()))
        .collect();
    let Some((_, first)) = lists.first() else { return Vec::new() };
    lists.iter().filter_map(|(name, list)| problem(list, first).map(|detail| finding(name, detail))).collect()
}

fn finding(name: &str, detail: String) -> Finding {
    Finding { check: Check::Purity, location: name.to_owned(), detail }
}

fn problem(list: &str, first: &str) -> Option<String> {
    match FORBIDDEN.iter().find(|name| !list.contains(&format!("\"{name}\""))) {
        Some(name) => Some(format!("its clippy.toml does not forbid {name}")),
        None => (list != first).then(|| "its clippy.toml differs from that of the other pure crates".to_owned()),
    }
}
