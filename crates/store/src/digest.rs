//! Keyed digests: of what is not stored, so that two of the same can be told from two different ones.
//!
//! HMAC-SHA256 under a key of 32 random bytes that each database makes for itself, cut to 128 bits, as 32 hex digits.
//! Without the database nobody can tell from a digest whether a guess at a prompt is right, and digests of two
//! databases cannot be compared. Whoever has the database has the key.
//!
//! What has one: `prompt` and `message` (of their text), `input` and `output` of a tool call and `extra`, the fields
//! that no adapter understands (of their JSON). Inputs hold file contents, so they have no finer digest than the whole.

use std::fmt::Write as _;
use std::io;

use engine::event::{Event, ToolCall};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::{Result, Store, StoreError};

const BYTES_KEPT: usize = 16;

/// A database's own key.
#[derive(Clone)]
pub(crate) struct DigestKey(Hmac<Sha256>);

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DigestKey(…)")
    }
}

impl DigestKey {
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(key).ok().map(Self)
    }

    fn of_text(&self, text: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(text.as_bytes());
        hex(mac)
    }

    fn of_json(&self, value: &impl serde::Serialize) -> Option<String> {
        let mut writer = MacWriter(self.0.clone());
        serde_json::to_writer(&mut writer, value).ok()?;
        Some(hex(writer.0))
    }
}

struct MacWriter(Hmac<Sha256>);

impl io::Write for MacWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hex(mac: Hmac<Sha256>) -> String {
    let mut digits = String::with_capacity(BYTES_KEPT * 2);
    for byte in mac.finalize().into_bytes().iter().take(BYTES_KEPT) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

impl Store {
    /// The digest of a text under this database's key.
    pub fn digest(&mut self, text: &str) -> Result<String> {
        Ok(self.digest_key()?.of_text(text))
    }

    /// The digests of what is in `event` and is not stored as it is.
    pub(crate) fn digests(&mut self, event: &Event) -> Result<Map<String, Value>> {
        let mut digests = Map::new();
        let mut put = |name: &str, digest: Option<String>| {
            digests.extend(digest.map(|digest| (name.to_owned(), Value::String(digest))));
        };
        let key = self.digest_key()?;
        put("prompt", event.prompt.as_ref().map(|text| key.of_text(text)));
        put("message", event.message.as_ref().map(|text| key.of_text(text)));
        if let Some(tool) = &event.tool {
            put("input", input_digest(key, tool));
            put("output", tool.output.as_ref().and_then(|output| key.of_json(output)));
        }
        if !event.extra.is_empty() {
            put("extra", key.of_json(&event.extra));
        }
        Ok(digests)
    }

    /// The digest of a tool call's input, as [`Entry::digests`](crate::Entry) has it under `input`; none where there is no
    /// input.
    pub fn input_digest(&mut self, event: &Event) -> Result<Option<String>> {
        let key = self.digest_key()?;
        Ok(event.tool.as_ref().and_then(|tool| input_digest(key, tool)))
    }

    fn digest_key(&mut self) -> Result<&DigestKey> {
        if self.digest_key.is_none() {
            let key: Vec<u8> =
                self.connection.query_row("SELECT value FROM meta WHERE name = 'digest_key'", [], |row| row.get(0))?;
            self.digest_key = DigestKey::new(&key);
        }
        self.digest_key.as_ref().ok_or(StoreError::Corrupt)
    }
}

fn input_digest(key: &DigestKey, tool: &ToolCall) -> Option<String> {
    Some(&tool.input).filter(|input| !input.is_null()).and_then(|input| key.of_json(input))
}
