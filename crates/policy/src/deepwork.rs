//! What a project has from DeepWork that is not read: rules in `.deepwork`, and lists in the old format.

use std::path::{Path, PathBuf};

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

/// The folder of DeepWork's rules, unless ours are read from there or a file of ours has the name of each.
fn unread_rules(root: &Path, rules_dir: &Path) -> Option<String> {
    let name = rules_folder(root)?;
    let there = root.join(&name);
    let is_read = there == rules_dir || there.canonicalize().ok()? == rules_dir.canonicalize().unwrap_or_default();
    let is_copied = |path: &PathBuf| path.file_name().is_some_and(|name| rules_dir.join(name).is_file());
    let mut files = rule_files(&there);
    (!is_read && !files.all(|path| is_copied(&path))).then_some(name)
}

/// What to import in the place of `.deepwork` itself.
pub fn rules_beside(folder: &Path) -> Option<PathBuf> {
    let root = folder.parent().filter(|_| folder.ends_with(FOLDER))?;
    rules_folder(root).map(|name| root.join(name))
}

/// The folder that holds DeepWork's rules. What its configuration names may be meant from the project's root or from `.deepwork`.
fn rules_folder(root: &Path) -> Option<String> {
    let named = configured(&root.join(CONFIG));
    let below = named.as_ref().map(|name| format!("{FOLDER}/{name}"));
    let has_rules = |name: &String| rule_files(&root.join(name)).next().is_some();
    named.into_iter().chain(below).chain([RULES.to_owned()]).find(has_rules)
}

fn rule_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = reading::files_with_extension(folder, "md").unwrap_or_default();
    files.into_iter().filter(|path| !reading::is_readme(path))
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
