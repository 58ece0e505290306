//! A database's key for digests.

use std::fmt::Write as _;
use std::io;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A digest is truncated to this length.
const DIGEST_BYTES: usize = 16;

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

    pub(crate) fn digest_of_text(&self, text: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(text.as_bytes());
        truncated_hex(mac)
    }

    pub(crate) fn digest_of_json(&self, value: &impl serde::Serialize) -> Option<String> {
        let mut writer = MacWriter(self.0.clone());
        serde_json::to_writer(&mut writer, value).ok()?;
        Some(truncated_hex(writer.0))
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

fn truncated_hex(mac: Hmac<Sha256>) -> String {
    let mut digits = String::with_capacity(DIGEST_BYTES * 2);
    for byte in mac.finalize().into_bytes().iter().take(DIGEST_BYTES) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
