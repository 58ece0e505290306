//! Reads lines of a file, forwards from an offset or backwards from the end, within limits. Files may be
//! zstd-compressed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The maximum length of a line in bytes. Longer lines are skipped.
const LINE_LIMIT: usize = 16 * 1024 * 1024;

const CHUNK: u64 = 64 * 1024;

/// At most this many bytes before a position are used to check, at the next reading, that the file is still the same.
/// Most lines are shorter and contain a time, so these bytes differ between files.
const TAIL_LENGTH: usize = 4096;

/// The maximum number of bytes that are decompressed from a file.
pub(super) const DECOMPRESSION_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("zst"))
}

/// Opens a file at `offset`, which counts bytes of the decompressed text.
pub(super) fn open_at(path: &Path, offset: u64) -> io::Result<Box<dyn BufRead>> {
    let mut file = File::open(path)?;
    if is_compressed(path) {
        let unpacked = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file)).map_err(io::Error::other)?;
        let mut source = BufReader::new(unpacked.take(DECOMPRESSION_LIMIT));
        io::copy(&mut source.by_ref().take(offset), &mut io::sink())?;
        return Ok(Box::new(source));
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok(Box::new(BufReader::new(file)))
}

/// The result of reading a part of a file.
pub(super) struct LinesRead {
    pub length: u64,
    /// The last line that was read, or the end of that line if it is long.
    pub tail: Vec<u8>,
    /// True if the part ends within a line that is skipped because it is too long.
    pub is_within_line: bool,
    /// True if the part ends at the limit, not at the end of the file.
    pub has_more: bool,
}

/// Calls `each` for every complete line, up to and including the first one that ends at least `limit` bytes after the
/// start of the source. An incomplete line at the end is left for the next call, unless the line is too long and
/// therefore skipped. `is_within_line`: true if the source begins within a skipped line.
pub(super) fn for_each(
    source: &mut dyn BufRead,
    mut is_within_line: bool,
    limit: u64,
    mut each: impl FnMut(&[u8]),
) -> io::Result<LinesRead> {
    let mut length = 0_u64;
    let mut line = Vec::new();
    let mut tail = Vec::new();
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() || length >= limit {
            return Ok(LinesRead { length, tail: end_of(&tail), is_within_line, has_more: !buffer.is_empty() });
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

/// Returns the first result of `pick` for the lines within the last `limit` bytes, from the last line upwards.
pub(super) fn from_end<T>(
    file: &mut (impl Read + Seek),
    limit: u64,
    pick: impl Fn(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let length = file.seek(SeekFrom::End(0))?;
    let floor = length.saturating_sub(limit);
    let mut start = length;
    // The end of a line whose start is not read yet.
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
