//! Checks that the paths in backticks in `ARCHITECTURE.md` exist.
//!
//! A path can be complete, which means relative to `crates/`. It can also be the end of a complete path if the same
//! block of text contains a complete path in the same crate. A block is a table row, a list item or a paragraph. A
//! component in capitals, such as `AGENT`, stands for any name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Check, Finding};

const DOCUMENT: &str = "ARCHITECTURE.md";

pub fn check() -> Result<Vec<Finding>> {
    let text = fs::read_to_string(DOCUMENT).with_context(|| format!("`{DOCUMENT}` cannot be read"))?;
    let mut paths = BTreeSet::from(["crates".to_owned()]);
    collect_paths(Path::new("crates"), "", &mut paths)?;
    Ok(missing_paths(&text, &paths).into_iter().map(finding).collect())
}

fn finding((line, path): (usize, &str)) -> Finding {
    let location = format!("{DOCUMENT}:{line}");
    Finding { check: Check::DocumentedPath, location, detail: format!("there is no `{path}`") }
}

/// Adds the paths of all files and directories below a directory. `prefix` is the path of that directory, with a slash.
fn collect_paths(directory: &Path, prefix: &str, paths: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect_paths(&entry.path(), &format!("{path}/"), paths)?;
        }
        paths.insert(path);
    }
    Ok(())
}

/// Returns the paths in a Markdown text that are not among `existing`, each with its line number.
pub fn missing_paths<'t>(text: &'t str, existing: &BTreeSet<String>) -> Vec<(usize, &'t str)> {
    let mut missing = Vec::new();
    for block in blocks(text) {
        let crates: Vec<&str> = block.iter().filter_map(|(_, path)| crate_of_full_path(path, existing)).collect();
        missing.extend(block.into_iter().filter(|(_, path)| !is_existing(path, &crates, existing)));
    }
    missing
}

/// Returns the paths of each block, each with its line number.
fn blocks(text: &str) -> Vec<Vec<(usize, &str)>> {
    let mut blocks = vec![Vec::new()];
    for (line, number) in text.lines().zip(1..) {
        let is_list_item = line.starts_with("- ") || line.split_once(". ").is_some_and(|(number, _)| is_number(number));
        if line.is_empty() || line.starts_with('|') || is_list_item {
            blocks.push(Vec::new());
        }
        let code_spans = line.split('`').skip(1).step_by(2);
        if let Some(block) = blocks.last_mut() {
            block.extend(code_spans.filter(|span| is_path(span)).map(|path| (number, path)));
        }
    }
    blocks
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_path(span: &str) -> bool {
    let has_path_characters = span.chars().all(|char| char.is_ascii_alphanumeric() || "/._-".contains(char));
    has_path_characters
        && (span.contains('/') || Path::new(span).extension().is_some_and(|extension| extension == "rs"))
}

/// Returns the crate that contains a path; `None` if the path is not relative to `crates/`.
fn crate_of_full_path<'p>(path: &'p str, existing: &BTreeSet<String>) -> Option<&'p str> {
    let (name, _) = path.split_once('/')?;
    existing.contains(&format!("{name}/Cargo.toml")).then_some(name)
}

fn is_existing(path: &str, crates: &[&str], existing: &BTreeSet<String>) -> bool {
    let components: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    existing.iter().any(|other| {
        let others: Vec<&str> = other.split('/').collect();
        let is_in_named_crate = others.first().is_some_and(|name| crates.contains(name));
        let is_full = others.len() == components.len();
        let end = others.len().checked_sub(components.len()).and_then(|start| others.get(start..));
        (is_full || is_in_named_crate)
            && end.is_some_and(|end| components.iter().zip(end).all(|(component, name)| matches(component, name)))
    })
}

/// True if a component of a documented path matches the name of a file or directory. A component in capitals matches
/// every name with the same extension.
fn matches(component: &str, name: &str) -> bool {
    let (stem, extension) = component.split_once('.').unwrap_or((component, ""));
    let is_any_name = !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_any_name { name.split_once('.').map_or("", |(_, end)| end) == extension } else { component == name }
}
