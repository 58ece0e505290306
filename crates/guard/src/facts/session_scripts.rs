//! Scripts that the session wrote earlier and runs now.
//!
//! The journal shows which session wrote a file: by the paths of file tools, and by the effects of shell commands. The
//! journal is not read for files that have not changed since the session began.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use path::Access;
use path::pattern::Pattern;
use shell::{self, Effect, FileContents, SimpleCommand};
use store::{MentioningCall, SessionKey, Store, StoreError};

use super::session_journal::SessionJournal;

/// The maximum size of a script in bytes. Longer scripts are not read.
const MAX_BYTES: u64 = 64 * 1024;
/// The maximum number of calls that mention a file's name and are examined.
const MAX_MENTIONS: usize = 1000;
/// The maximum number of copies in a row that are followed.
const MAX_COPIES: usize = 3;

/// The contents of a file that the session wrote; `None` if it did not, or if the file is a binary. `Unknown` if the
/// journal cannot be read. `since` is the session's start in milliseconds since 1970.
pub fn written(path: &Path, since: i64, history: &SessionJournal) -> Option<FileContents> {
    let metadata = fs::metadata(path).ok()?;
    if changed(&metadata) < since || metadata.is_dir() {
        return None;
    }
    let store = match Store::open_existing_read(&history.store, history.options) {
        Err(StoreError::Missing { .. }) => return None,
        store => store,
    };
    match store.and_then(|store| ScriptSearch { store: &store, history }.wrote(path, MAX_COPIES)) {
        Ok(true) => content(path, &metadata),
        Ok(false) => None,
        Err(_) => Some(FileContents::Unknown),
    }
}

struct ScriptSearch<'a> {
    store: &'a Store,
    history: &'a SessionJournal,
}

impl ScriptSearch<'_> {
    /// True if the session wrote the file. A copy counts as written if its source does; `copies` limits how many copies
    /// in a row are followed.
    fn wrote(&self, path: &Path, copies: usize) -> Result<bool, StoreError> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(false) };
        let key = SessionKey { agent: &self.history.agent, session: &self.history.session };
        Ok(self.is_written_by_one_of(&self.store.mentions(key, name, MAX_MENTIONS)?, path, copies)?
            || self.is_written_by_one_of(&self.store.possible_mentions(key, name, MAX_MENTIONS)?, path, copies)?)
    }

    fn is_written_by_one_of(
        &self,
        mentions: &[MentioningCall],
        path: &Path,
        copies: usize,
    ) -> Result<bool, StoreError> {
        for mention in mentions {
            if self.is_written_by(mention, path, copies)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_written_by(&self, mention: &MentioningCall, path: &Path, copies: usize) -> Result<bool, StoreError> {
        let home = self.history.home.as_deref();
        let placed = |named: &str, folder: &str| PathBuf::from(path::normalize(&path::absolute(named, folder, home)));
        let is_it = |named: &Path| named == path || named.canonicalize().ok() == path.canonicalize().ok();
        let mut by_tool = mention.paths.iter().filter(|file| file.access == Some(Access::Write));
        if by_tool.any(|file| is_it(&placed(&file.path, &mention.cwd))) {
            return Ok(true);
        }
        let Some(script) = mention.command.as_deref().map(shell::parse) else { return Ok(false) };
        let effects = script.effects();
        let of_command = |effect: &&Effect, wanted: Access| effect.access == Some(wanted);
        for effect in effects.iter().filter(|effect| of_command(effect, Access::Write)) {
            let command = effect.command.and_then(|place| script.commands.get(place));
            let folders = effect.directories.list().unwrap_or_default();
            let folders = || folders.iter().map(|folder| path::absolute(folder, &mention.cwd, home));
            let named = effect.path.as_deref().unwrap_or_default();
            let is_selected = |folder: String| {
                let named = placed(named, &folder);
                is_it(&named) || effect.expansion == shell::PathExpansion::ShellGlob && fits(&named, path)
            };
            if !folders().any(is_selected) {
                continue;
            }
            match command.and_then(SimpleCommand::program) {
                // These programs change metadata, not contents.
                Some("chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "touch" | "mkdir") => {}
                Some("cp" | "mv" | "install" | "ln") if copies > 0 => {
                    let sources = effects.iter().filter(|source| source.command == effect.command);
                    let sources = sources.filter(|source| of_command(source, Access::Read) || source.access.is_none());
                    for source in sources.filter_map(|source| source.path.as_deref()) {
                        for folder in folders() {
                            if self.wrote(&placed(source, &folder), copies - 1)? {
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

/// True if the pattern matches the path.
fn fits(pattern: &Path, path: &Path) -> bool {
    let relative = |path: &Path| path.to_str().map(|text| text.trim_start_matches('/').to_owned());
    let pattern = relative(pattern).and_then(|pattern| Pattern::parse(&pattern).ok());
    pattern.zip(relative(path)).is_some_and(|(pattern, path)| pattern.matches(&path))
}

/// The time of the last change to the file or its metadata, in milliseconds since 1970. Unlike the modification time,
/// it cannot be set.
#[cfg(unix)]
fn changed(metadata: &fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ctime().saturating_mul(1000).saturating_add(999)
}

#[cfg(not(unix))]
fn changed(metadata: &fs::Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(i64::MAX)
}

fn content(path: &Path, metadata: &fs::Metadata) -> Option<FileContents> {
    // Reading a pipe would block.
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
        Err(error) if is_program(error.as_bytes()) => None,
        Ok(text) if is_program(text.as_bytes()) => None,
        _ => Some(FileContents::Unknown),
    }
}

/// True for a binary. A known signature is not enough: Bash runs any file without a NUL in its first line as a script.
fn is_program(bytes: &[u8]) -> bool {
    const MAGIC: &[&[u8]] = &[b"\x7FELF", b"\xCF\xFA\xED\xFE", b"\xCA\xFE\xBA\xBE", b"MZ", b"\0asm"];
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first_line.contains(&0) && MAGIC.iter().any(|magic| bytes.starts_with(magic))
}
