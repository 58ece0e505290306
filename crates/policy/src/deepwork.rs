//! Warnings about DeepWork's rules, which are not read: the rules in `.deepwork`, and rule lists in the old format.

use std::path::{Path, PathBuf};

use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::files::folder::PolicyFolder;
use crate::files::reading;
use crate::import::{self, Conversion};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlNode};

const DIRECTORY: &str = ".deepwork";
const CONFIG: &str = ".deepwork/config.yml";
const DEFAULT_RULES: &str = ".deepwork/rules";

/// A warning for each directory or list with rules that were not imported, with the command that imports them.
/// `rules_dir` is the directory of the project's rules.
pub fn warnings(folder: &PolicyFolder, rules_dir: &Path) -> Vec<Diagnostic> {
    let folders = unread_rules_directory(&folder.base, rules_dir).map(|name| {
        let help = format!(
            "run `linchpin rules import {name}` to copy them, or set `rules_dir: {name}` in `.linchpin/config.yml` \
             to read them instead of those in `.linchpin/rules`"
        );
        warning(&name, "the rules in this folder are not read", help)
    });
    let lists =
        import::FILE_NAMES.into_iter().filter(|name| is_unread_list(&folder.base, name, rules_dir)).map(|name| {
            let help = format!("run `linchpin rules import {name}` to convert them to rules, then delete the list");
            warning(name, "the rules in this list are not read", help)
        });
    folders.into_iter().chain(lists).collect()
}

/// Warnings about DeepWork rules that are not read, for a project without a Linchpin policy.
pub fn deepwork_warnings(folder: &PolicyFolder) -> Vec<Diagnostic> {
    warnings(folder, &folder.rules())
}

/// True if the list exists and has a rule without an imported file.
fn is_unread_list(root: &Path, name: &str, rules_dir: &Path) -> bool {
    let path = root.join(name);
    if !path.is_file() {
        return false;
    }
    let Ok(text) = read_bounded(&path, SIZE_LIMIT) else { return true };
    let Conversion { rules, problems } = import::convert(&Source::new(name, text), root);
    !problems.is_empty() || !rules.iter().all(|rule| rules_dir.join(format!("{}.md", rule.id)).is_file())
}

fn warning(name: &str, message: &str, help: String) -> Diagnostic {
    Diagnostic::warning(DiagnosticKind::NotFound, message, &Source::new(name, ""), None).help(help)
}

/// The directory of DeepWork's rules, unless the project's rules are read from it, or all of them were imported
/// already.
fn unread_rules_directory(root: &Path, rules_dir: &Path) -> Option<String> {
    let name = rules_directory(root)?;
    let directory = root.join(&name);
    let is_read =
        directory == rules_dir || directory.canonicalize().ok()? == rules_dir.canonicalize().unwrap_or_default();
    let is_imported = |path: &PathBuf| path.file_name().is_some_and(|name| rules_dir.join(name).is_file());
    let mut files = rule_files(&directory);
    (!is_read && !files.all(|path| is_imported(&path))).then_some(name)
}

/// Returns the directory with DeepWork's rules, for a person who tries to import `.deepwork` itself.
pub fn importable_rules(directory: &Path) -> Option<PathBuf> {
    let root = directory.parent().filter(|_| directory.ends_with(DIRECTORY))?;
    rules_directory(root).map(|name| root.join(name))
}

/// The directory with DeepWork's rules. The path in DeepWork's configuration may be relative to the project's root or
/// to `.deepwork`.
fn rules_directory(root: &Path) -> Option<String> {
    let rules_dir = configured_rules_dir(&root.join(CONFIG));
    let below_deepwork = rules_dir.as_ref().map(|name| format!("{DIRECTORY}/{name}"));
    let has_rules = |name: &String| rule_files(&root.join(name)).next().is_some();
    rules_dir.into_iter().chain(below_deepwork).chain([DEFAULT_RULES.to_owned()]).find(has_rules)
}

fn rule_files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let files = reading::files_with_extension(directory, "md").unwrap_or_default();
    files.into_iter().filter(|path| !reading::is_readme(path))
}

/// The value of `rules: {rules_dir: …}` or `rules_dir` in DeepWork's configuration.
fn configured_rules_dir(config: &Path) -> Option<String> {
    let source = Source::new(CONFIG, read_bounded(config, SIZE_LIMIT).ok()?);
    let root = yaml::parse(&source, 0..source.text.len()).ok()?;
    let nested = value_of(&root, "rules").and_then(|rules| value_of(rules, "rules_dir"));
    match &nested.or_else(|| value_of(&root, "rules_dir"))?.value {
        Yaml::Text(name) if !name.starts_with('/') && !name.contains("..") => {
            Some(name.trim_start_matches("./").trim_end_matches('/').to_owned())
        }
        _ => None,
    }
}

fn value_of<'n>(node: &'n YamlNode, name: &str) -> Option<&'n YamlNode> {
    let Yaml::Map(entries) = &node.value else { return None };
    entries.iter().find(|(key, _)| key.text == name).map(|(_, node)| node)
}
