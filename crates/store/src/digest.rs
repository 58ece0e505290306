//! Keyed digests of values that are not stored, so that equal values can be recognized.
//!
//! A digest is HMAC-SHA256 under a random 32-byte key of the database, truncated to 128 bits, as 32 hex digits. Without
//! the database, nobody can test whether a guessed prompt has a given digest, and digests of two databases cannot be
//! compared. The key is stored in the database, so anyone with the database has the key.
//!
//! Digests are kept of `prompt` and `message`, and of the JSON of a tool call's `input` and `output` and of `extra`
//! (fields that no adapter understands). An input may contain file contents, so only the whole input has a digest, not
//! its fields.

use engine::event::{Event, ToolCall};
use serde_json::{Map, Value};

use crate::digest_key::DigestKey;
use crate::{Result, Store, StoreError};

impl Store {
    /// Returns the digest of a string under this database's key.
    pub fn digest(&mut self, text: &str) -> Result<String> {
        Ok(self.digest_key()?.digest_of_text(text))
    }

    /// Returns the digests of the parts of `event` that are not stored in full.
    pub(crate) fn digests(&mut self, event: &Event) -> Result<Map<String, Value>> {
        let mut digests = Map::new();
        let mut add = |name: &str, digest: Option<String>| {
            digests.extend(digest.map(|digest| (name.to_owned(), Value::String(digest))));
        };
        let key = self.digest_key()?;
        add("prompt", event.prompt.as_ref().map(|text| key.digest_of_text(text)));
        add("message", event.message.as_ref().map(|text| key.digest_of_text(text)));
        if let Some(tool) = &event.tool {
            add("input", input_digest(key, tool));
            add("output", tool.output.as_ref().and_then(|output| key.digest_of_json(output)));
        }
        if !event.extra.is_empty() {
            add("extra", key.digest_of_json(&event.extra));
        }
        Ok(digests)
    }

    /// Returns the digest of a tool call's input, as stored in [`JournalEntry::digests`](crate::JournalEntry) under
    /// `input`; none without input.
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
    Some(&tool.input).filter(|input| !input.is_null()).and_then(|input| key.digest_of_json(input))
}
