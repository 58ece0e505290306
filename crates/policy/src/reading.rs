//! Policy files on disk: which there are, and their texts, within limits.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::rules::Tier;

use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::folder::PolicyFolder;
use crate::source::Source;

const FILE_LIMIT: u64 = 256 * 1024;
const FILES_LIMIT: usize = 10_000;

/// What a rules folder holds, sorted.
#[derive(Debug, Default)]
pub struct RuleFiles {
    pub markdown: Vec<PathBuf>,
    pub libraries: Vec<PathBuf>,
    /// Folders that hold such files, which nobody reads.
    unread: Vec<PathBuf>,
    /// What is wrong with the folder's contents, and with which path.
    wrong: Option<(PathBuf, String)>,
}

/// Folders are read flat. One that is not there holds nothing.
pub fn rule_files(folder: &Path) -> io::Result<RuleFiles> {
    let mut files = RuleFiles::default();
    for path in paths_in(folder)? {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") => files.markdown.push(path),
            Some("yml") => files.libraries.push(path),
            Some("yaml") => files.wrong = Some((path, "a rule library's name ends in `.yml`".to_owned())),
            _ if path.is_dir() && holds_rules(&path) => files.unread.push(path),
            _ => {}
        }
    }
    let count = files.markdown.len() + files.libraries.len();
    if count > FILES_LIMIT {
        files.wrong =
            Some((folder.to_owned(), format!("{count} rule files are more than the {FILES_LIMIT} that are read")));
        files.markdown.truncate(FILES_LIMIT);
        files.libraries.truncate(FILES_LIMIT - files.markdown.len());
    }
    Ok(files)
}

fn holds_rules(folder: &Path) -> bool {
    let is_rule = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md" || extension == "yml");
    paths_in(folder).is_ok_and(|paths| paths.iter().any(is_rule))
}

/// The files of a folder whose names end so, sorted. A folder that is not there holds nothing.
pub fn files_with_extension(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = paths_in(folder)?;
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.truncate(FILES_LIMIT);
    Ok(files)
}

fn paths_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    // As bytes: paths compare part by part, which is slow and orders no better.
    paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(paths)
}

impl RuleFiles {
    pub fn problem(&self, folder: &PolicyFolder) -> Option<Diagnostic> {
        let (path, message) = self.wrong.as_ref()?;
        let source = Source::new(folder.shown(path), "");
        Some(Diagnostic::error(ErrorKind::InvalidValue, message, &source, None))
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

/// A file's text; `None` where there is no such file.
pub fn read(folder: &PolicyFolder, path: &Path) -> Result<Option<Source>, Box<Diagnostic>> {
    if leads_out(folder, path) {
        let source = Source::new(folder.shown(path), "");
        let message = "a link that leads out of the project is not followed";
        return Err(Box::new(Diagnostic::error(ErrorKind::Unreadable, message, &source, None)));
    }
    match read_text(path) {
        Ok(text) => Ok(Some(Source::new(folder.shown(path), Arc::from(text)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let message = format!("the file is larger than the {} KiB that are read", FILE_LIMIT / 1024);
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
    } else {
        format!("cannot be read: {error}")
    };
    Diagnostic::error(ErrorKind::Unreadable, message, &source, None)
}

fn read_text(path: &Path) -> io::Result<String> {
    // A pipe or device would make the hook wait, as soon as it is opened.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let file = fs::File::open(path)?;
    let mut text = String::new();
    let read = file.take(FILE_LIMIT + 1).read_to_string(&mut text)?;
    if read as u64 > FILE_LIMIT {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}
