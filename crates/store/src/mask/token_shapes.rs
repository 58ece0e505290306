//! Tokens with a well-known shape, such as `ghp_…`.

struct Shape {
    prefix: &'static str,
    /// The minimum number of letters, digits, `_` and `-` after the prefix.
    min_length: usize,
    /// True if the token must contain a digit, because its prefix may also start an ordinary word.
    requires_digit: bool,
}

const fn shape(prefix: &'static str, min_length: usize) -> Shape {
    Shape { prefix, min_length, requires_digit: false }
}

const fn shape_with_digit(prefix: &'static str, min_length: usize) -> Shape {
    Shape { prefix, min_length, requires_digit: true }
}

const SHAPES: [Shape; 36] = [
    // GitHub
    shape("ghp_", 20),
    shape("gho_", 20),
    shape("ghu_", 20),
    shape("ghs_", 20),
    shape("ghr_", 20),
    shape("github_pat_", 20),
    // GitLab
    shape("glpat-", 16),
    shape("glptt-", 16),
    shape("gldt-", 16),
    shape("glrt-", 16),
    // Slack
    shape_with_digit("xoxb-", 10),
    shape_with_digit("xoxp-", 10),
    shape_with_digit("xoxa-", 10),
    shape_with_digit("xoxr-", 10),
    shape_with_digit("xoxs-", 10),
    shape_with_digit("xoxe-", 10),
    shape_with_digit("xapp-", 10),
    // OpenAI, Anthropic and others
    shape_with_digit("sk-", 20),
    // Google
    shape("AIza", 30),
    shape("ya29.", 20),
    // Package registries
    shape("npm_", 30),
    shape_with_digit("pypi-", 32),
    shape_with_digit("dckr_pat_", 16),
    // Stripe
    shape("sk_live_", 10),
    shape("sk_test_", 10),
    shape("rk_live_", 10),
    shape("rk_test_", 10),
    shape("whsec_", 16),
    // Others
    shape_with_digit("hf_", 30),
    shape_with_digit("dop_v1_", 30),
    shape_with_digit("SG.", 30),
    shape_with_digit("shpat_", 30),
    shape_with_digit("AGE-SECRET-KEY-", 20),
    shape_with_digit("tskey-", 16),
    shape_with_digit("lin_api_", 20),
    shape_with_digit("ATATT3", 30),
];

/// Returns an invented token of each shape, and a random word.
pub(super) fn examples() -> impl Iterator<Item = String> {
    const FILLER: &str = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0";
    let shapes = SHAPES.iter().map(|shape| format!("{}{FILLER}", shape.prefix));
    shapes.chain(["AKIAA1B2C3D4E5F6G7H8".to_owned(), format!("eyJ{FILLER}.{FILLER}.{FILLER}"), FILLER.to_owned()])
}

/// Returns the length of the token at the start of `text`.
pub(super) fn token_length(text: &str) -> Option<usize> {
    aws_key_length(text).or_else(|| jwt_length(text)).or_else(|| SHAPES.iter().find_map(|shape| shape.length(text)))
}

impl Shape {
    fn length(&self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix(self.prefix)?;
        let word = token_run(rest);
        let fits =
            word.len() >= self.min_length && (!self.requires_digit || word.bytes().any(|byte| byte.is_ascii_digit()));
        fits.then_some(self.prefix.len() + word.len())
    }
}

/// An AWS access key id: a known four-letter prefix, and exactly sixteen capitals and digits.
fn aws_key_length(text: &str) -> Option<usize> {
    const LENGTH: usize = 20;
    let has_known_prefix = ["AKIA", "ASIA", "ABIA", "ACCA"].iter().any(|prefix| text.starts_with(prefix));
    let word = token_run(text);
    let fits = has_known_prefix
        && word.len() == LENGTH
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    fits.then_some(LENGTH)
}

/// A JSON Web Token: three base64 parts, the first of which is a JSON object. The signature may be missing.
fn jwt_length(text: &str) -> Option<usize> {
    if !text.starts_with("eyJ") {
        return None;
    }
    let header = token_run(text);
    let payload = token_run(text.get(header.len()..)?.strip_prefix('.')?);
    let unsigned_length = header.len() + 1 + payload.len();
    if header.len() < 10 || payload.len() < 10 {
        return None;
    }
    let signature =
        text.get(unsigned_length..).and_then(|rest| rest.strip_prefix('.')).map_or(0, |rest| 1 + token_run(rest).len());
    Some(unsigned_length + signature)
}

/// Returns the longest prefix of letters, digits, `_` and `-`.
fn token_run(text: &str) -> &str {
    let end = text.bytes().position(|byte| !is_token_byte(byte)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// True for a long string of token characters with both letters and digits that is not a path or a version.
pub(super) fn looks_random(value: &str) -> bool {
    const MIN_LENGTH: usize = 16;
    const MIN_DISTINCT_BYTES: u32 = 8;
    let mut seen: u128 = 0;
    let (mut letters, mut digits) = (0, 0);
    for byte in value.bytes() {
        if !is_token_byte(byte) && !matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b':') {
            return false;
        }
        letters += usize::from(byte.is_ascii_alphabetic());
        digits += usize::from(byte.is_ascii_digit());
        seen |= 1 << (byte & 0x7f);
    }
    value.len() >= MIN_LENGTH
        && seen.count_ones() >= MIN_DISTINCT_BYTES
        && letters > 0
        && digits > 1
        && !looks_like_path(value)
}

fn looks_like_path(value: &str) -> bool {
    value.starts_with(['/', '.', '~'])
        || value.contains("://")
        || value.rsplit_once('.').is_some_and(|(_, extension)| (1..=5).contains(&extension.len()))
        || value.split('/').any(|part| part.len() < 12 && value.contains('/'))
}
