//! The log file of an agent's output, with secrets masked.
//!
//! A secret is recognized only as a whole. Therefore output is masked in whole lines, and lines that belong together
//! are masked together: those of a private key, and lines joined by a backslash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use runner::Stream;
use store::{Masked, mask};

/// The maximum size of a log.
pub const MAX_LOG_SIZE: usize = 10 * 1024 * 1024;
/// The maximum length of a line, or of a group of lines that belong together. Longer ones are masked and written in
/// pieces.
const MAX_PENDING: usize = 256 * 1024;
/// The maximum length of a word that is kept in one piece, because it may be a secret.
const MAX_WORD_LENGTH: usize = 64 * 1024;

pub struct AgentLog {
    /// `None` if the file cannot be created. The agent then runs without a log.
    file: Option<File>,
    written: usize,
    /// Output that is not written yet. Each stream has its own buffer.
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl AgentLog {
    pub fn new(path: &Path) -> Self {
        let create = || -> io::Result<File> {
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            policy::write_private_file(path, "")?;
            File::options().append(true).open(path)
        };
        Self { file: create().ok(), written: 0, stdout: Vec::new(), stderr: Vec::new() }
    }

    pub fn append(&mut self, stream: Stream, piece: &[u8]) {
        if self.file.is_none() || self.written >= MAX_LOG_SIZE {
            return;
        }
        let pending = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        pending.extend_from_slice(piece);
        let ready: Vec<u8> = pending.drain(..complete_text(pending)).collect();
        self.write(&ready);
    }

    /// Writes the remaining output. Called when the agent has ended.
    pub fn finish(&mut self) {
        for rest in [std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr)] {
            self.write(&rest);
        }
    }

    fn write(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.write_masked(&mask(&text));
    }

    fn write_masked(&mut self, text: &Masked<'_>) {
        let remaining = MAX_LOG_SIZE.saturating_sub(self.written);
        let Some(file) = self.file.as_mut().filter(|_| remaining > 0) else { return };
        let written = text.as_bytes().get(..text.len().min(remaining)).unwrap_or_default();
        self.written += written.len();
        let notice = if self.written == MAX_LOG_SIZE { "\n(the rest was not recorded)\n" } else { "" };
        // A failure to write the log does not stop the agent.
        let _ = file.write_all(written).and_then(|()| file.write_all(notice.as_bytes()));
    }
}

/// Returns the length of the pending output that can be masked without waiting for more.
fn complete_text(pending: &[u8]) -> usize {
    let mut end = 0;
    let mut is_in_key = false;
    let mut position = 0;
    // Progress lines for a terminal end with a carriage return.
    for line in pending.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        if !line.ends_with(b"\n") && !line.ends_with(b"\r") {
            break;
        }
        position += line.len();
        let text = line.trim_ascii_end();
        is_in_key |= contains(text, b"PRIVATE KEY-----") && contains(text, b"-----BEGIN ");
        is_in_key &= !contains(text, b"-----END ");
        if !is_in_key && !text.ends_with(b"\\") {
            end = position;
        }
    }
    if pending.len() - end <= MAX_PENDING {
        return end;
    }
    // The text is too long to wait for more output, so it is cut between words.
    let word = pending.iter().rposition(u8::is_ascii_whitespace).map_or(0, |blank| blank + 1);
    if pending.len() - word <= MAX_WORD_LENGTH { word } else { pending.len() }
}

fn contains(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_text(stream: Stream, output: &str, size: usize) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("runs/r1/1.log");
        let mut log = AgentLog::new(&file);
        for piece in output.as_bytes().chunks(size) {
            log.append(stream, piece);
        }
        log.finish();
        fs::read_to_string(file).expect("a log")
    }

    #[test]
    fn secrets_are_masked_in_pieces_of_any_size() {
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
            "MIIEvQIBADANBgkqhkiG9w0\n".repeat(20)
        );
        let escaped = serde_json::json!({ "text": key }).to_string();
        let output = format!(
            "export GITHUB_TOKEN=hunter2hunter2\n{key}{escaped}\ncurl \\\n  -u me:hunter2 https://x.example\nlast"
        );
        for size in [1, 7, 64, 10_000] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(log_text(Stream::Stdout, &output, size), @r#"
                export GITHUB_TOKEN=***
                -----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----
                {"text":"-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\n"}
                curl \
                  -u me:*** https://x.example
                last
                "#);
            }
        }
    }

    #[test]
    fn secrets_are_masked_if_stdout_and_stderr_alternate() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("1.log");
        let mut log = AgentLog::new(&file);
        for (stream, piece) in
            [(Stream::Stdout, "PASSWORD=hun"), (Stream::Stderr, "warning\n"), (Stream::Stdout, "ter2 ./deploy\n")]
        {
            log.append(stream, piece.as_bytes());
        }
        assert_eq!(fs::read_to_string(file).expect("a log"), "warning\nPASSWORD=*** ./deploy\n");
    }

    #[test]
    fn a_log_is_cut_at_its_maximum_size() {
        for line in ["x".repeat(1024 * 1024), "a word and a line\n".repeat(50_000)] {
            let log = log_text(Stream::Stdout, &line.repeat(12), 1024 * 1024);
            assert!(log.len() < MAX_LOG_SIZE + 100 && log.ends_with("(the rest was not recorded)\n"));
        }
    }

    #[test]
    fn a_private_key_without_an_end_line_is_masked() {
        let output = format!("-----BEGIN RSA PRIVATE KEY-----\n{}", "MIIEvQIBADANBgkqhkiG9w0\n".repeat(20));
        assert_eq!(log_text(Stream::Stderr, &output, 100), "-----BEGIN RSA PRIVATE KEY-----***");
    }
}
