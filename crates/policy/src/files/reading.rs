//! Lists the files of a policy and reads them, within limits.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::rules::Tier;

use super::bounded::{SIZE_LIMIT, read_bounded};
use super::folder::PolicyFolder;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

const FILES_LIMIT: usize = 10_000;

/// The number of bytes that are read to check whether a file starts with frontmatter.
const FRONTMATTER_PEEK: u64 = 256;

/// The files in a directory of rules, sorted.
#[derive(Debug, Default)]
pub struct RuleFiles {
    pub markdown: Vec<PathBuf>,
    pub libraries: Vec<PathBuf>,
    /// Pages about the directory, which are not rules. They are recorded as inputs, because such a page becomes a rule
    /// when frontmatter is added to it.
    pub readmes: Vec<PathBuf>,
    /// Subdirectories with rule files, which are not read.
    unread_directories: Vec<PathBuf>,
    /// `NAME.yaml` files that are not read, because `NAME.yml` exists.
    duplicates: Vec<PathBuf>,
    /// The directory and an error message, if it has too many files.
    too_many: Option<(PathBuf, String)>,
    /// The directory, if it has no rule files.
    empty: Option<PathBuf>,
}

/// Lists a directory of rules without its subdirectories. A missing directory is empty.
pub fn rule_files(directory: &Path) -> io::Result<RuleFiles> {
    let mut files = RuleFiles::default();
    for path in paths_in(directory)? {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") if is_readme(&path) => files.readmes.push(path),
            Some("md") => files.markdown.push(path),
            Some("yml" | "yaml") => files.libraries.push(path),
            _ if path.is_dir() && has_rule_files(&path) => files.unread_directories.push(path),
            _ => {}
        }
    }
    files.duplicates = take_duplicate_yaml(&mut files.libraries);
    files.empty = (files.markdown.is_empty() && files.libraries.is_empty()).then(|| directory.to_owned());
    let count = files.markdown.len() + files.libraries.len();
    if count > FILES_LIMIT {
        files.too_many = Some((
            directory.to_owned(),
            format!("{count} rule files exceed the limit of {FILES_LIMIT}; the rest is ignored"),
        ));
        files.markdown.truncate(FILES_LIMIT);
        files.libraries.truncate(FILES_LIMIT - files.markdown.len());
    }
    Ok(files)
}

/// True for a page about a directory of rules: `README.md`, `readme.md`, `README.de.md` and the like, unless it starts
/// with frontmatter as rules do.
pub fn is_readme(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let mut parts = name.split('.');
    let has_readme_name =
        parts.next().is_some_and(|stem| stem.eq_ignore_ascii_case("readme")) && parts.next_back() == Some("md");
    has_readme_name && has_no_frontmatter(path)
}

/// True if the file is readable and does not start with frontmatter.
fn has_no_frontmatter(path: &Path) -> bool {
    // Reading a pipe or device can block.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut start = Vec::new();
    if !is_file || fs::File::open(path).and_then(|file| file.take(FRONTMATTER_PEEK).read_to_end(&mut start)).is_err() {
        return false;
    }
    let is_blank = |character: char| character.is_whitespace() || character == '\u{feff}';
    !String::from_utf8_lossy(&start).trim_start_matches(is_blank).starts_with("---")
}

pub fn has_rule_files(directory: &Path) -> bool {
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let is_rule = |path: &PathBuf| is_yaml(path) || (is_markdown(path) && !is_readme(path));
    paths_in(directory).is_ok_and(|paths| paths.iter().any(is_rule))
}

/// The files of a directory with this extension, sorted. A missing directory is empty.
pub fn files_with_extension(directory: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = paths_in(directory)?;
    files.retain(|path| path.extension().is_some_and(|file_extension| file_extension == extension));
    files.truncate(FILES_LIMIT);
    Ok(files)
}

pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml")
}

/// The YAML files of a directory, sorted. A missing directory is empty.
pub fn yaml_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = paths_in(directory)?;
    files.retain(|path| is_yaml(path));
    files.truncate(FILES_LIMIT);
    Ok(files)
}

/// Removes and returns each `NAME.yaml` for which `NAME.yml` exists: both would have the same name.
pub fn take_duplicate_yaml(files: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let is_duplicate = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml") && files.contains(&path.with_extension("yml"))
    };
    let duplicates: Vec<PathBuf> = files.iter().filter(|path| is_duplicate(path)).cloned().collect();
    files.retain(|path| !duplicates.contains(path));
    duplicates
}

/// An error for a file `NAME.yaml` next to `NAME.yml`. `noun` names the kind of the files in the plural, such as
/// `workflows`.
pub fn duplicate_yaml_problem(folder: &PolicyFolder, duplicate: &Path, noun: &str) -> Diagnostic {
    let (this, other) = (folder.display_name(duplicate), folder.display_name(&duplicate.with_extension("yml")));
    let name = duplicate.file_stem().unwrap_or_default().to_string_lossy();
    let message = format!("`{this}` and `{other}` are both {noun} named `{name}`");
    let source = Source::new(this, "");
    Diagnostic::error(DiagnosticKind::InvalidValue, message, &source, None)
        .help("delete or rename one of them; until then the `.yml` file is used")
}

fn paths_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // A dangling symlink exists but is unreadable, which is an error.
        Err(error) if error.kind() == io::ErrorKind::NotFound && directory.symlink_metadata().is_err() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    // Compared as bytes, because `Path` compares by component, which is slower.
    paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(paths)
}

impl RuleFiles {
    pub fn problems(&self, folder: &PolicyFolder) -> impl Iterator<Item = Diagnostic> {
        let duplicates =
            self.duplicates.iter().map(|duplicate| duplicate_yaml_problem(folder, duplicate, "rule libraries"));
        let too_many = self.too_many.iter().map(|(path, message)| {
            let source = Source::new(folder.display_name(path), "");
            Diagnostic::error(DiagnosticKind::InvalidValue, message, &source, None)
        });
        // If the directory is outside of the project, each of its rule files is an error. If it has none, the error is
        // reported for the directory.
        let outside = self.empty.iter().filter_map(|path| outside_error(folder, path));
        duplicates.chain(too_many).chain(outside)
    }

    /// Warnings about subdirectories with rules, which are not read.
    pub fn warnings(&self, folder: &PolicyFolder) -> impl Iterator<Item = Diagnostic> {
        self.unread_directories.iter().map(|path| {
            let source = Source::new(folder.display_name(path), "");
            let message = "the rules in this folder are not read";
            Diagnostic::warning(DiagnosticKind::NotFound, message, &source, None)
                .help("move the rules up into the rules folder; to group rules, write a library (`NAME.yml`)")
        })
    }
}

/// A warning if `rules_dir` names a directory that does not exist.
pub fn missing_rules_dir(folder: &PolicyFolder, rules_dir: &Path) -> Option<Diagnostic> {
    if rules_dir == folder.rules() || rules_dir.symlink_metadata().is_ok() {
        return None;
    }
    let rules_dir_name = folder.display_name(rules_dir);
    let message =
        format!("`rules_dir` names `{rules_dir_name}`, which does not exist, so no rules are read from there");
    let source = Source::new(folder.display_name(&folder.config()), "");
    let help = format!("create `{rules_dir_name}` and put the rules there, or correct `rules_dir`");
    Some(Diagnostic::warning(DiagnosticKind::NotFound, message, &source, None).help(help))
}

/// A warning if `rules_dir` names another directory although the default directory has rules.
pub fn unused_default_rules_dir(folder: &PolicyFolder, rules_dir: &Path) -> Option<Diagnostic> {
    let default_dir = folder.rules();
    let is_default =
        default_dir == rules_dir || default_dir.canonicalize().ok()? == rules_dir.canonicalize().unwrap_or_default();
    if is_default || !has_rule_files(&default_dir) {
        return None;
    }
    let (default_dir, rules_dir_name) = (folder.display_name(&default_dir), folder.display_name(rules_dir));
    let message = format!("the rules in this folder are ignored, because `rules_dir` names `{rules_dir_name}`");
    let help = format!(
        "run `linchpin rules import {default_dir}` to copy them to `{rules_dir_name}`, or remove `rules_dir` from \
         `.linchpin/config.yml` to read them here"
    );
    Some(Diagnostic::warning(DiagnosticKind::NotFound, message, &Source::new(default_dir, ""), None).help(help))
}

/// An error if the path is a symlink out of the project.
fn outside_error(folder: &PolicyFolder, path: &Path) -> Option<Diagnostic> {
    let source = || Source::new(folder.display_name(path), "");
    let message = "this symlink leads out of the project, so it is not followed";
    is_outside_project(folder, path).then(|| Diagnostic::error(DiagnosticKind::Unreadable, message, &source(), None))
}

/// Reads a file; `None` if it does not exist.
pub fn read(folder: &PolicyFolder, path: &Path) -> Result<Option<Source>, Box<Diagnostic>> {
    if let Some(problem) = outside_error(folder, path) {
        return Err(Box::new(problem));
    }
    match read_bounded(path, SIZE_LIMIT) {
        Ok(text) => Ok(Some(Source::new(folder.display_name(path), Arc::from(text)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let message = format!("the file is larger than the limit of {} KiB", SIZE_LIMIT / 1024);
            let source = Source::new(folder.display_name(path), "");
            Err(Box::new(Diagnostic::error(DiagnosticKind::TooLarge, message, &source, None)))
        }
        Err(error) => Err(Box::new(unreadable(folder, path, &error))),
    }
}

/// True if a project's file is a symlink to a file outside of the project. Following it could show private files of the
/// user.
fn is_outside_project(folder: &PolicyFolder, path: &Path) -> bool {
    let is_in_project = folder.tier == Tier::Project;
    match (is_in_project, path.canonicalize(), folder.base.canonicalize()) {
        (true, Ok(real), Ok(base)) => !real.starts_with(base),
        _ => false,
    }
}

pub fn unreadable(folder: &PolicyFolder, path: &Path, error: &io::Error) -> Diagnostic {
    let source = Source::new(folder.display_name(path), "");
    let message = if error.kind() == io::ErrorKind::InvalidData {
        "the file is not UTF-8 text".to_owned()
    } else if error.kind() == io::ErrorKind::NotADirectory {
        "this is not a folder, so no rules are read from it".to_owned()
    } else {
        format!("cannot be read: {error}")
    };
    Diagnostic::error(DiagnosticKind::Unreadable, message, &source, None)
}
