//! What a project has from DeepWork that is not read: rules in `.deepwork`, and lists in the old format.

use std::path::Path;

use crate::files::folder::PolicyFolder;
use crate::files::reading;
use crate::import;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlNode};

const FOLDER: &str = ".deepwork";
const CONFIG: &str = ".deepwork/config.yml";
const RULES: &str = ".deepwork/rules";

/// A warning for each, with how to take it over. `rules_dir`: where the project's rules are read from.
pub fn warnings(folder: &PolicyFolder, rules_dir: &Path) -> Vec<Diagnostic> {
    let unread = unread_rules(&folder.base, rules_dir).map(|name| {
        let help = format!(
            "`linchpin rules import {name}` copies them; `rules_dir: {name}` in `.linchpin/config.yml` would read them in place \
             of those in `.linchpin/rules`"
        );
        warning(&name, "the rules in this folder are not read", help)
    });
    let lists = import::FILE_NAMES.into_iter().filter(|name| folder.base.join(name).is_file()).map(|name| {
        let help = format!("`linchpin rules import {name}` makes them rules; then delete the list");
        warning(name, "the rules in this list are not read", help)
    });
    unread.into_iter().chain(lists).collect()
}

/// The same where there is no policy yet.
pub fn deepwork_warnings(folder: &PolicyFolder) -> Vec<Diagnostic> {
    warnings(folder, &folder.rules())
}

fn warning(name: &str, message: &str, help: String) -> Diagnostic {
    Diagnostic::warning(ErrorKind::NotFound, message, &Source::new(name, ""), None).help(help)
}

/// The folder of DeepWork's rules, unless ours are read from there or it holds none. What its configuration names may be
/// meant from the project's root or from `.deepwork`.
fn unread_rules(root: &Path, rules_dir: &Path) -> Option<String> {
    let named = configured(&root.join(CONFIG));
    let below = named.as_ref().map(|name| format!("{FOLDER}/{name}"));
    let has_rules =
        |name: &String| reading::files_with_extension(&root.join(name), "md").is_ok_and(|files| !files.is_empty());
    let name = named.into_iter().chain(below).chain([RULES.to_owned()]).find(has_rules)?;
    let there = root.join(&name);
    let is_read = there == rules_dir || there.canonicalize().ok()? == rules_dir.canonicalize().unwrap_or_default();
    (!is_read).then_some(name)
}

/// `rules: {rules_dir: …}` of DeepWork's configuration, or `rules_dir` beside it.
fn configured(config: &Path) -> Option<String> {
    let source = Source::new(CONFIG, std::fs::read_to_string(config).ok()?);
    let root = yaml::parse(&source, 0..source.text.len()).ok()?;
    let nested = entry(&root, "rules").and_then(|rules| entry(rules, "rules_dir"));
    match &nested.or_else(|| entry(&root, "rules_dir"))?.value {
        Yaml::Text(name) if !name.starts_with('/') && !name.contains("..") => {
            Some(name.trim_start_matches("./").trim_end_matches('/').to_owned())
        }
        _ => None,
    }
}

fn entry<'n>(node: &'n YamlNode, name: &str) -> Option<&'n YamlNode> {
    let Yaml::Map(entries) = &node.value else { return None };
    entries.iter().find(|(key, _)| key.text == name).map(|(_, node)| node)
}
