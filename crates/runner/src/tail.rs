//! The end of a process's output.

use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// The number of bytes that are kept from the end of each stream.
pub const OUTPUT_LIMIT: usize = 4 * 1024;
/// The length of the longest UTF-8 character in bytes. This many extra bytes are kept, so that a cut character is never
/// in the part that is returned.
const MAX_CHARACTER_BYTES: usize = 4;

/// Keeps the end of a stream, which a separate thread reads until the other end closes it.
pub struct Tail {
    state: Arc<Mutex<TailState>>,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct TailState {
    end: Vec<u8>,
    /// The total number of bytes, including those that are not kept.
    length: u64,
    last_written: Option<Instant>,
}

impl Tail {
    pub fn spawn(pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(TailState::default()));
        let shared_state = Arc::clone(&state);
        let reader = thread::Builder::new().spawn(move || read(pipe, &shared_state))?;
        Ok(Self { state, reader })
    }

    /// True if the stream has ended.
    pub fn is_complete(&self) -> bool {
        self.reader.is_finished()
    }

    pub fn text(&self) -> String {
        text(&self.state().end)
    }

    pub fn length(&self) -> u64 {
        self.state().length
    }

    pub fn last_written(&self) -> Option<Instant> {
        self.state().last_written
    }

    fn state(&self) -> MutexGuard<'_, TailState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(mut pipe: impl Read, state: &Mutex<TailState>) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.end.extend_from_slice(buffer.get(..length).unwrap_or_default());
                let excess = state.end.len().saturating_sub(OUTPUT_LIMIT + MAX_CHARACTER_BYTES);
                state.end.drain(..excess);
                state.length += u64::try_from(length).unwrap_or(0);
                state.last_written = Some(Instant::now());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The output read before the error is kept.
            Err(_) => return,
        }
    }
}

fn text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    let start = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_LIMIT));
    text.drain(..start);
    text
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn tail(bytes: Vec<u8>) -> String {
        let tail = Tail::spawn(Cursor::new(bytes)).unwrap();
        while !tail.is_complete() {
            thread::yield_now();
        }
        tail.text()
    }

    #[test]
    fn the_end_is_kept() {
        assert_eq!(tail(b"all of it".to_vec()), "all of it");
        assert_eq!(tail(Vec::new()), "");
        let long = tail([vec![b'a'; 100_000], b"the end".to_vec()].concat());
        assert_eq!((long.len(), long.ends_with("aaathe end")), (OUTPUT_LIMIT, true));
    }

    #[test]
    fn characters_are_not_cut() {
        for character in ["ä", "→", "🦀"] {
            for shift in 0..character.len() {
                let output = character.repeat(5_000) + &"x".repeat(shift);
                let kept = tail(output.clone().into_bytes());
                assert!(output.ends_with(&kept), "{character} {shift}");
                assert!(
                    kept.len() > OUTPUT_LIMIT - MAX_CHARACTER_BYTES && kept.len() <= OUTPUT_LIMIT,
                    "{character} {shift}"
                );
            }
        }
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(tail(b"a\xffb".to_vec()), "a\u{fffd}b");
        let noise = tail(vec![0xff; 10_000]);
        assert!(noise.len() <= OUTPUT_LIMIT && noise.chars().all(|character| character == '\u{fffd}'));
    }
}
