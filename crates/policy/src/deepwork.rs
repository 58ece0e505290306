//! Warnings about DeepWork's rules, which are not read: the rules in `.deepwork`, and rule lists in the old format.

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

/// A warning for each folder or list, with the command that imports it. `rules_dir` is the project's rules folder.
pub fn warnings(folder: &PolicyFolder, rules_dir: &Path) -> Vec<Diagnostic> {
    let unread = unread_rules(&folder.base, rules_dir).map(|name| {
        let help = format!(
            "run `linchpin rules import {name}` to copy them, or set `rules_dir: {name}` in `.linchpin/config.yml` \
             to read them instead of those in `.linchpin/rules`"
        );
        warning(&name, "the rules in this folder are not read", help)
    });
    let lists = import::FILE_NAMES.into_iter().filter(|name| folder.base.join(name).is_file()).map(|name| {
        let help = format!("run `linchpin rules import {name}` to convert them to rules, then delete the list");
        warning(name, "the rules in this list are not read", help)
    });
    unread.into_iter().chain(lists).collect()
}

/// The warnings for a project without a policy.
pub fn deepwork_warnings(folder: &PolicyFolder) -> Vec<Diagnostic> {
    warnings(folder, &folder.rules())
}

fn warning(name: &str, message: &str, help: String) -> Diagnostic {
    Diagnostic::warning(ErrorKind::NotFound, message, &Source::new(name, ""), None).help(help)
}

/// The folder of DeepWork's rules, unless it is the project's rules folder, or all its rules were imported already.
fn unread_rules(root: &Path, rules_dir: &Path) -> Option<String> {
    let name = rules_folder(root)?;
    let folder = root.join(&name);
    let is_read = folder == rules_dir || folder.canonicalize().ok()? == rules_dir.canonicalize().unwrap_or_default();
    let is_imported = |path: &PathBuf| path.file_name().is_some_and(|name| rules_dir.join(name).is_file());
    let mut files = rule_files(&folder);
    (!is_read && !files.all(|path| is_imported(&path))).then_some(name)
}

/// The folder to import instead of `.deepwork` itself.
pub fn importable_rules(folder: &Path) -> Option<PathBuf> {
    let root = folder.parent().filter(|_| folder.ends_with(FOLDER))?;
    rules_folder(root).map(|name| root.join(name))
}

/// The folder with DeepWork's rules. The path in DeepWork's configuration may be relative to the project's root or to
/// `.deepwork`.
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

/// The value of `rules: {rules_dir: …}` or `rules_dir` in DeepWork's configuration.
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
