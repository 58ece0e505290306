//! Short digests of texts.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The length of a digest in bytes: enough to rule out accidental collisions.
const BYTES: usize = 12;

/// The first 12 bytes of the SHA-256, in hex.
pub fn digest(text: impl AsRef<[u8]>) -> String {
    let mut hex = String::with_capacity(2 * BYTES);
    for byte in Sha256::digest(text).iter().take(BYTES) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
