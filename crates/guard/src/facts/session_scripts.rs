//! Reads scripts that the session wrote earlier and runs now.
//!
//! The journal shows which session wrote a file: it has the paths that file tools wrote, and the shell commands with
//! their effects. If a file has not changed since the session began, the journal is not read.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use path::Access;
use path::pattern::Pattern;
use shell::{self, Effect, FileContents, SimpleCommand};
use store::{CallInput, SessionKey, Store, StoreError};

use super::fact_sources::FactSources;

/// The maximum size of a script in bytes. Longer scripts are not read.
const MAX_BYTES: u64 = 64 * 1024;
/// The maximum number of calls that are examined for one file because they mention its name, and of those that are
/// examined because they may mention it.
const MAX_MENTIONS: usize = 1000;
/// The maximum number of copies that are followed back: from a file to its source, to the source of that file, and so
/// on.
const MAX_COPIES: usize = 3;

/// The contents of a file that the session wrote; `None` if the session did not write the file, or if the file is a
/// binary or does not exist. The contents are `Unknown` if the journal cannot be read, or if the file is too large, not
/// a regular file, not readable or not text. `since` is the session's start in milliseconds since 1970.
pub fn contents_written_by_session(path: &Path, since: i64, sources: &FactSources) -> Option<FileContents> {
    let metadata = fs::metadata(path).ok()?;
    if change_time(&metadata) < since || metadata.is_dir() {
        return None;
    }
    let store = match Store::open_read_only(&sources.journal_path, sources.options) {
        Err(StoreError::Missing { .. }) => return None,
        store => store,
    };
    match store.and_then(|store| ScriptSearch { store: &store, sources }.session_wrote(path, MAX_COPIES)) {
        Ok(true) => contents(path, &metadata),
        Ok(false) => None,
        Err(_) => Some(FileContents::Unknown),
    }
}

struct ScriptSearch<'a> {
    store: &'a Store,
    sources: &'a FactSources,
}

impl ScriptSearch<'_> {
    /// True if the session wrote the file. A copy that the session made counts as written only if the session also
    /// wrote the file that was copied. `max_copies` limits how many successive copies are followed back; a copy beyond
    /// this limit counts as written.
    fn session_wrote(&self, path: &Path, max_copies: usize) -> Result<bool, StoreError> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(false) };
        let key = SessionKey { agent: &self.sources.agent, session: &self.sources.session };
        Ok(self.is_written_by_one_of(&self.store.calls_mentioning(key, name, MAX_MENTIONS)?, path, max_copies)?
            || self.is_written_by_one_of(
                &self.store.calls_possibly_mentioning(key, name, MAX_MENTIONS)?,
                path,
                max_copies,
            )?)
    }

    fn is_written_by_one_of(&self, mentions: &[CallInput], path: &Path, max_copies: usize) -> Result<bool, StoreError> {
        for mention in mentions {
            if self.is_written_by(mention, path, max_copies)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_written_by(&self, mention: &CallInput, path: &Path, max_copies: usize) -> Result<bool, StoreError> {
        let home = self.sources.home.as_deref();
        let absolute =
            |path: &str, directory: &str| PathBuf::from(path::normalize(&path::absolute(path, directory, home)));
        let is_same_file = |other: &Path| other == path || other.canonicalize().ok() == path.canonicalize().ok();
        let mut written_by_tool = mention.paths.iter().filter(|file| file.access == Some(Access::Write));
        if written_by_tool.any(|file| is_same_file(&absolute(&file.path, &mention.cwd))) {
            return Ok(true);
        }
        let Some(script) = mention.command.as_deref().map(shell::parse) else { return Ok(false) };
        let effects = script.effects();
        let has_access = |effect: &&Effect, access: Access| effect.access == Some(access);
        for effect in effects.iter().filter(|effect| has_access(effect, Access::Write)) {
            let command = effect.command_index.and_then(|index| script.commands.get(index));
            let directories = effect.directories.list().unwrap_or_default();
            let directories = || directories.iter().map(|directory| path::absolute(directory, &mention.cwd, home));
            let written = effect.path.as_deref().unwrap_or_default();
            let writes_path = |directory: String| {
                let written = absolute(written, &directory);
                is_same_file(&written)
                    || effect.expansion == shell::PathExpansion::ShellGlob && glob_matches(&written, path)
            };
            if !directories().any(writes_path) {
                continue;
            }
            match command.and_then(SimpleCommand::program) {
                // These programs do not write the contents of files.
                Some("chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "touch" | "mkdir") => {}
                Some("cp" | "mv" | "install" | "ln") if max_copies > 0 => {
                    let sources = effects.iter().filter(|source| source.command_index == effect.command_index);
                    let sources = sources.filter(|source| has_access(source, Access::Read) || source.access.is_none());
                    for source in sources.filter_map(|source| source.path.as_deref()) {
                        for directory in directories() {
                            if self.session_wrote(&absolute(source, &directory), max_copies - 1)? {
                                return Ok(true);
                            }
                        }
                    }
                }
                _ => return Ok(true),
            }
        }
        Ok(false)
    }
}

/// True if the glob matches the path.
fn glob_matches(pattern: &Path, path: &Path) -> bool {
    let relative = |path: &Path| path.to_str().map(|text| text.trim_start_matches('/').to_owned());
    let pattern = relative(pattern).and_then(|pattern| Pattern::parse(&pattern).ok());
    pattern.zip(relative(path)).is_some_and(|(pattern, path)| pattern.matches(&path))
}

/// The time of the last change to the file or its metadata, in milliseconds since 1970, rounded up to the end of the
/// second. Unlike the modification time, programs cannot set this time.
#[cfg(unix)]
fn change_time(metadata: &fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().saturating_mul(1000).saturating_add(999)
}

#[cfg(not(unix))]
fn change_time(metadata: &fs::Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(i64::MAX)
}

/// The contents of the file; `None` for a binary.
fn contents(path: &Path, metadata: &fs::Metadata) -> Option<FileContents> {
    // Only regular files are read: reading a pipe would block.
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Some(FileContents::Unknown);
    }
    let mut bytes = Vec::new();
    let Ok(_) = fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)) else {
        return Some(FileContents::Unknown);
    };
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Some(FileContents::Text(text.into())),
        // The file is a binary, not a script.
        Err(error) if is_binary(error.as_bytes()) => None,
        Ok(text) if is_binary(text.as_bytes()) => None,
        _ => Some(FileContents::Unknown),
    }
}

/// True for a binary: a file that begins with a known signature and has a NUL byte in its first line. Bash would run a
/// file without such a NUL byte as a script.
fn is_binary(bytes: &[u8]) -> bool {
    const MAGIC_NUMBERS: &[&[u8]] = &[b"\x7FELF", b"\xCF\xFA\xED\xFE", b"\xCA\xFE\xBA\xBE", b"MZ", b"\0asm"];
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first_line.contains(&0) && MAGIC_NUMBERS.iter().any(|magic| bytes.starts_with(magic))
}
