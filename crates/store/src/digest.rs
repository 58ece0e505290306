//! Keyed digests: of what is not stored, so that two of the same can be told from two different ones.
//!
//! HMAC-SHA256 under a key of 32 random bytes that each database makes for itself, cut to 128 bits, as 32 hex digits.
//! Without the database nobody can tell from a digest whether a guess at a prompt is right, and digests of two
//! databases cannot be compared. Whoever has the database has the key.
//!
//! What has one: `prompt` and `message` (of their text), `input` and `output` of a tool call and `extra`, the fields
//! that no adapter understands (of their JSON). Inputs hold file contents, so they have no finer digest than the whole.

use engine::event::{Event, ToolCall};
use serde_json::{Map, Value};

use crate::digest_key::DigestKey;
use crate::{Result, Store, StoreError};

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
