//! Lines of a file: onwards from a byte, backwards from the end, packed or not. Never more than a bound at once.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// A line longer than this is passed over.
const LINE_LIMIT: usize = 16 * 1024 * 1024;

const CHUNK: u64 = 64 * 1024;

/// A packed file is not unpacked further than this.
pub(super) const UNPACK_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) fn is_packed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("zst"))
}

/// The length of the text, where it can be had without reading it.
pub(super) fn unpacked_length(path: &Path) -> io::Result<Option<u64>> {
    if is_packed(path) { Ok(None) } else { Ok(Some(std::fs::metadata(path)?.len())) }
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

/// Every whole line until about `budget` bytes are read. Returns the bytes of the lines read; half a line at the end
/// is not one of them.
pub(super) fn for_each(source: &mut dyn BufRead, budget: u64, mut each: impl FnMut(&[u8])) -> io::Result<u64> {
    let mut read = 0;
    let mut line = Vec::new();
    let mut length = 0_u64;
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() {
            return Ok(read);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        length += taken as u64;
        if line.len() + taken <= LINE_LIMIT {
            line.extend_from_slice(buffer.get(..taken).unwrap_or_default());
        }
        source.consume(taken);
        if end.is_some() {
            if line.len() as u64 == length {
                each(line.trim_ascii());
            }
            read += length;
            length = 0;
            line.clear();
            if read >= budget {
                return Ok(read);
            }
        }
    }
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
