//! Lines of a file: onwards from a byte, backwards from the end, packed or not. Never more than a bound at once.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// A line longer than this is passed over.
const LINE_LIMIT: usize = 16 * 1024 * 1024;

const CHUNK: u64 = 64 * 1024;

/// Most lines are shorter, and every line has its time in it: no two files end the same.
const TAIL_LENGTH: usize = 4096;

/// A packed file is not unpacked further than this.
pub(super) const UNPACK_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) fn is_packed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("zst"))
}

/// The text from `offset` on.
pub(super) fn open_at(path: &Path, offset: u64) -> io::Result<Box<dyn BufRead>> {
    let mut file = File::open(path)?;
    if is_packed(path) {
        let unpacked = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file)).map_err(io::Error::other)?;
        let mut source = BufReader::new(unpacked.take(UNPACK_LIMIT));
        io::copy(&mut source.by_ref().take(offset), &mut io::sink())?;
        return Ok(Box::new(source));
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok(Box::new(BufReader::new(file)))
}

/// A piece of a file that was read.
pub(super) struct Stretch {
    pub length: u64,
    /// What it ends with: the last line, or the end of it.
    pub tail: Vec<u8>,
    /// It ends within a line that is passed over.
    pub is_within_line: bool,
    /// It ends at the limit, not with the file.
    pub has_more: bool,
}

/// Every whole line, up to the first one that ends beyond `limit` bytes. Half a line at the end is left for the next time,
/// unless it is one to be passed over. If the source `is_within_line`, it begins with the rest of such a line.
pub(super) fn for_each(
    source: &mut dyn BufRead,
    mut is_within_line: bool,
    limit: u64,
    mut each: impl FnMut(&[u8]),
) -> io::Result<Stretch> {
    let mut length = 0_u64;
    let mut line = Vec::new();
    let mut tail = Vec::new();
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() || length >= limit {
            return Ok(Stretch { length, tail: end_of(&tail), is_within_line, has_more: !buffer.is_empty() });
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        line.extend_from_slice(buffer.get(..taken).unwrap_or_default());
        source.consume(taken);
        let was_within_line = is_within_line;
        is_within_line = end.is_none() && (was_within_line || line.len() > LINE_LIMIT);
        if end.is_none() && !is_within_line {
            continue;
        }
        if !was_within_line && !is_within_line {
            each(line.trim_ascii());
        }
        length += line.len() as u64;
        std::mem::swap(&mut tail, &mut line);
        line.clear();
    }
}

fn end_of(text: &[u8]) -> Vec<u8> {
    text.get(text.len().saturating_sub(TAIL_LENGTH)..).unwrap_or_default().to_vec()
}

/// The first thing that `pick` takes from a line, from the last line upwards, within the last `limit` bytes.
pub(super) fn from_end<T>(
    file: &mut (impl Read + Seek),
    limit: u64,
    pick: impl Fn(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let length = file.seek(SeekFrom::End(0))?;
    let floor = length.saturating_sub(limit);
    let mut start = length;
    // What was read and not yet looked at: the rear part of a line whose front lies further up.
    let mut rest: Vec<u8> = Vec::new();
    while start > floor {
        let size = CHUNK.min(start - floor);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut chunk = Vec::new();
        file.by_ref().take(size).read_to_end(&mut chunk)?;
        let Some(first_newline) = chunk.iter().position(|byte| *byte == b'\n') else {
            chunk.extend_from_slice(&rest);
            rest = chunk;
            continue;
        };
        let front = chunk.get(..first_newline).unwrap_or_default().to_vec();
        chunk.extend_from_slice(&rest);
        let whole = chunk.get(first_newline + 1..).unwrap_or_default();
        if let Some(picked) = whole.rsplit(|byte| *byte == b'\n').find_map(&pick) {
            return Ok(Some(picked));
        }
        rest = front;
    }
    Ok(if start == 0 { pick(&rest) } else { None })
}
