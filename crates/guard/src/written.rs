//! Scripts that the session wrote: what is in them when they are run.
//!
//! Who wrote a file is told by the journal, by the file tools' paths and by what shell commands did. A file that has not
//! changed since the session began needs no journal.

use std::fs;
use std::io::Read;
use std::path::Path;

use engine::event::Access;
use engine::shell::{self, Written};
use store::{Mention, SessionKey, Store};

use crate::live_facts::History;

/// Longer ones are not read.
const MAX_BYTES: u64 = 64 * 1024;
/// Events that are looked through.
const MAX_MENTIONS: usize = 50;

/// What is in a file, if the session wrote it; `None` if it did not, or if it is no text. `since`: when the session began, in
/// milliseconds since 1970.
pub fn written(path: &Path, since: i64, history: &History) -> Option<Written> {
    let metadata = fs::metadata(path).ok()?;
    if changed(&metadata) < since || metadata.is_dir() {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let key = SessionKey { agent: &history.agent, session: &history.session };
    let store = Store::open_existing_read(&history.store, history.options).ok()?;
    let mentions = store.mentions(key, name, MAX_MENTIONS).ok()?;
    mentions
        .iter()
        .any(|mention| wrote(mention, path, history.home.as_deref()))
        .then(|| content(path, &metadata))
        .flatten()
}

fn wrote(mention: &Mention, path: &Path, home: Option<&str>) -> bool {
    let is_it = |named: &str, folder: &str| {
        let named = engine::paths::tidy(&engine::paths::absolute(named, folder, home));
        Path::new(&named) == path || Path::new(&named).canonicalize().ok() == path.canonicalize().ok()
    };
    let by_tool = mention.paths.iter().filter(|file| file.access == Access::Write);
    if by_tool.clone().any(|file| is_it(&file.path, &mention.cwd)) {
        return true;
    }
    let script = mention.command.as_deref().map(shell::parse);
    let effects = script.iter().flat_map(shell::Script::effects);
    let mut writes = effects.filter(|effect| effect.access == Some(Access::Write));
    writes.any(|effect| {
        let folders = effect.folders.list().unwrap_or_default();
        let folders = folders.iter().map(|folder| engine::paths::absolute(folder, &mention.cwd, home));
        effect.path.is_some_and(|path| folders.into_iter().any(|folder| is_it(&path, &folder)))
    })
}

/// When anything about it last changed, in milliseconds since 1970. Unlike the time of its content, nobody sets that.
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

fn content(path: &Path, metadata: &fs::Metadata) -> Option<Written> {
    // To read from a pipe would be to wait for it.
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Some(Written::Unknown);
    }
    let mut bytes = Vec::new();
    let Ok(_) = fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)) else {
        return Some(Written::Unknown);
    };
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(Written::Text)
}
