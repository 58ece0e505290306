//! Policy files on disk: which there are, and their texts, within limits.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::rules::Tier;

use super::bounded::{SIZE_LIMIT, read_bounded};
use super::folder::PolicyFolder;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

const FILES_LIMIT: usize = 10_000;

/// So many bytes tell whether a file begins with a front matter.
const START_LIMIT: u64 = 256;

/// What a rules folder holds, sorted.
#[derive(Debug, Default)]
pub struct RuleFiles {
    pub markdown: Vec<PathBuf>,
    pub libraries: Vec<PathBuf>,
    /// About the folder. One that is given a front matter is a rule.
    pub pages: Vec<PathBuf>,
    /// Folders that hold such files, which nobody reads.
    unread: Vec<PathBuf>,
    /// `.yaml` files that are not read, because there is a `.yml` of the same name.
    twins: Vec<PathBuf>,
    /// What is wrong with the folder's contents, and with which path.
    wrong: Option<(PathBuf, String)>,
    /// The folder, where nothing in it can be a rule.
    empty: Option<PathBuf>,
}

/// Folders are read flat. One that is not there holds nothing.
pub fn rule_files(folder: &Path) -> io::Result<RuleFiles> {
    let mut files = RuleFiles::default();
    for path in paths_in(folder)? {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") if is_readme(&path) => files.pages.push(path),
            Some("md") => files.markdown.push(path),
            Some("yml" | "yaml") => files.libraries.push(path),
            _ if path.is_dir() && holds_rules(&path) => files.unread.push(path),
            _ => {}
        }
    }
    files.twins = take_twins(&mut files.libraries);
    files.empty = (files.markdown.is_empty() && files.libraries.is_empty()).then(|| folder.to_owned());
    let count = files.markdown.len() + files.libraries.len();
    if count > FILES_LIMIT {
        files.wrong =
            Some((folder.to_owned(), format!("{count} rule files are more than the {FILES_LIMIT} that are read")));
        files.markdown.truncate(FILES_LIMIT);
        files.libraries.truncate(FILES_LIMIT - files.markdown.len());
    }
    Ok(files)
}

/// A rules folder may have pages about itself: `README.md`, and `readme.md` or `README.de.md` unless they begin as a rule does.
pub fn is_readme(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let mut parts = name.split('.');
    let is_named_so =
        parts.next().is_some_and(|stem| stem.eq_ignore_ascii_case("readme")) && parts.next_back() == Some("md");
    name == "README.md" || (is_named_so && begins_as_page(path))
}

/// Whether a file can be read and has no front matter.
fn begins_as_page(path: &Path) -> bool {
    // What is no file might never end.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut start = Vec::new();
    if !is_file || fs::File::open(path).and_then(|file| file.take(START_LIMIT).read_to_end(&mut start)).is_err() {
        return false;
    }
    let is_blank = |letter: char| letter.is_whitespace() || letter == '\u{feff}';
    !String::from_utf8_lossy(&start).trim_start_matches(is_blank).starts_with("---")
}

pub fn holds_rules(folder: &Path) -> bool {
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let is_rule = |path: &PathBuf| is_yaml(path) || (is_markdown(path) && !is_readme(path));
    paths_in(folder).is_ok_and(|paths| paths.iter().any(is_rule))
}

/// The files of a folder whose names end so, sorted. A folder that is not there holds nothing.
pub fn files_with_extension(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = paths_in(folder)?;
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.truncate(FILES_LIMIT);
    Ok(files)
}

/// Whether a file's name says that it is YAML.
pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml")
}

/// The YAML files of a folder, sorted. A folder that is not there holds nothing.
pub fn yaml_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = paths_in(folder)?;
    files.retain(|path| is_yaml(path));
    files.truncate(FILES_LIMIT);
    Ok(files)
}

/// Takes out, and returns, each `NAME.yaml` that stands beside a `NAME.yml`: both would go by the same name.
pub fn take_twins(files: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let is_twin = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml") && files.contains(&path.with_extension("yml"))
    };
    let twins: Vec<PathBuf> = files.iter().filter(|path| is_twin(path)).cloned().collect();
    files.retain(|path| !twins.contains(path));
    twins
}

/// `noun`: what such files are.
pub fn twin_problem(folder: &PolicyFolder, twin: &Path, noun: &str) -> Diagnostic {
    let (this, other) = (folder.shown(twin), folder.shown(&twin.with_extension("yml")));
    let name = twin.file_stem().unwrap_or_default().to_string_lossy();
    let message = format!("`{this}` and `{other}` are two {noun} named `{name}`");
    let source = Source::new(this, "");
    Diagnostic::error(ErrorKind::InvalidValue, message, &source, None)
        .help("delete one of them or give it another name; until then the `.yml` counts")
}

fn paths_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // A link that leads nowhere is there, and cannot be read.
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder.symlink_metadata().is_err() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    // As bytes: paths compare part by part, which is slow and orders no better.
    paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(paths)
}

impl RuleFiles {
    pub fn problems(&self, folder: &PolicyFolder) -> impl Iterator<Item = Diagnostic> {
        let twins = self.twins.iter().map(|twin| twin_problem(folder, twin, "rule libraries"));
        let wrong = self.wrong.iter().map(|(path, message)| {
            let source = Source::new(folder.shown(path), "");
            Diagnostic::error(ErrorKind::InvalidValue, message, &source, None)
        });
        // Where there are rules, each of them is refused for it.
        let outside = self.empty.iter().filter_map(|path| outside(folder, path));
        twins.chain(wrong).chain(outside)
    }
}

impl RuleFiles {
    /// What looks as if it were read and is not.
    pub fn doubts(&self, folder: &PolicyFolder) -> impl Iterator<Item = Diagnostic> {
        self.unread.iter().map(|path| {
            let source = Source::new(folder.shown(path), "");
            let message = "the rules in this folder are not read";
            Diagnostic::warning(ErrorKind::NotFound, message, &source, None)
                .help("rules lie in the rules folder itself: move them up; groups of rules are libraries (`NAME.yml`)")
        })
    }
}

/// A warning where the configuration names a rules folder that is not there.
pub fn missing(folder: &PolicyFolder, rules_dir: &Path) -> Option<Diagnostic> {
    if rules_dir == folder.rules() || rules_dir.symlink_metadata().is_ok() {
        return None;
    }
    let named = folder.shown(rules_dir);
    let message = format!("`rules_dir` names `{named}`, which does not exist, so no rules are read from there");
    let source = Source::new(folder.shown(&folder.config()), "");
    let help = format!("create `{named}` and put the rules there, or correct `rules_dir`");
    Some(Diagnostic::warning(ErrorKind::NotFound, message, &source, None).help(help))
}

/// A warning where the configuration names another rules folder, and the usual one holds rules.
pub fn out_of_force(folder: &PolicyFolder, rules_dir: &Path) -> Option<Diagnostic> {
    let usual = folder.rules();
    let is_usual = usual == rules_dir || usual.canonicalize().ok()? == rules_dir.canonicalize().unwrap_or_default();
    if is_usual || !holds_rules(&usual) {
        return None;
    }
    let (usual, named) = (folder.shown(&usual), folder.shown(rules_dir));
    let message = format!("the rules in this folder are not in force: `rules_dir` names `{named}` in its place");
    let help = format!(
        "`linchpin rules import {usual}` copies them to `{named}`; without `rules_dir` in `.linchpin/config.yml` they are read here"
    );
    Some(Diagnostic::warning(ErrorKind::NotFound, message, &Source::new(usual, ""), None).help(help))
}

/// What is wrong with a path that leads out of the project.
fn outside(folder: &PolicyFolder, path: &Path) -> Option<Diagnostic> {
    let source = || Source::new(folder.shown(path), "");
    let message = "a link that leads out of the project is not followed";
    leads_out(folder, path).then(|| Diagnostic::error(ErrorKind::Unreadable, message, &source(), None))
}

/// A file's text; `None` where there is no such file.
pub fn read(folder: &PolicyFolder, path: &Path) -> Result<Option<Source>, Box<Diagnostic>> {
    if let Some(problem) = outside(folder, path) {
        return Err(Box::new(problem));
    }
    match read_bounded(path, SIZE_LIMIT) {
        Ok(text) => Ok(Some(Source::new(folder.shown(path), Arc::from(text)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let message = format!("the file is larger than the {} KiB that are read", SIZE_LIMIT / 1024);
            let source = Source::new(folder.shown(path), "");
            Err(Box::new(Diagnostic::error(ErrorKind::TooLarge, message, &source, None)))
        }
        Err(error) => Err(Box::new(unreadable(folder, path, &error))),
    }
}

/// Whether a repository would have us read, and show, what is not its own.
fn leads_out(folder: &PolicyFolder, path: &Path) -> bool {
    let of_project = folder.tier == Tier::Project;
    match (of_project, path.canonicalize(), folder.base.canonicalize()) {
        (true, Ok(real), Ok(base)) => !real.starts_with(base),
        _ => false,
    }
}

pub fn unreadable(folder: &PolicyFolder, path: &Path, error: &io::Error) -> Diagnostic {
    let source = Source::new(folder.shown(path), "");
    let message = if error.kind() == io::ErrorKind::InvalidData {
        "the file is not UTF-8 text".to_owned()
    } else if error.kind() == io::ErrorKind::NotADirectory {
        "this is not a folder, so no rules are read from there".to_owned()
    } else {
        format!("cannot be read: {error}")
    };
    Diagnostic::error(ErrorKind::Unreadable, message, &source, None)
}
