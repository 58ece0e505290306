//! Masking: secrets in text become `***`, everything else stays as it is.
//!
//! What counts as a secret:
//! - a token of a well-known shape (`tokens.rs`), wherever it stands, and the body of a PEM private key;
//! - the password in a URL, and a long random user name there;
//! - the value of something that is named like a secret (`names.rs`): `GITHUB_TOKEN=…`, `--password …`, `--api-key=…`,
//!   `"client_secret": "…"`, `X-Api-Key: …`; where the name or the form is less sure (`KEY=…`, `token: …` in prose),
//!   only a value that looks random;
//! - what follows `Authorization:` and `Cookie:`, and a long word after `Bearer`;
//! - passwords that a program takes in its own way: `curl -u user:…`, `mysql -p…`, `docker login -p …`, `sshpass -p …`.
//!
//! A reference (`$TOKEN`, `$(…)`, `{{ … }}`, `<token>`) is no secret. Masking what is masked changes nothing. One pass
//! over the bytes without regular expressions: one to five microseconds for an ordinary command.

mod masked;
mod names;
mod scan;
mod tokens;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use masked::{Masked, MaskedValue};

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// What is masked is looked at again, in case the pieces now read differently (quotes in quotes in quotes); the second
/// look finds nothing in any text that people write.
const LOOKS: usize = 8;

/// `text` without its secrets.
pub fn mask(text: &str) -> Masked<'_> {
    Masked::new(without_secrets(text))
}

fn without_secrets(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    for _ in 0..LOOKS {
        match mask_once(&masked) {
            Some(again) => masked = Cow::Owned(again),
            None => break,
        }
    }
    masked
}

/// Secrets of every shape that is known, made up: what a mask may stand for.
pub fn examples() -> impl Iterator<Item = String> {
    tokens::examples()
}

/// None where there is nothing to mask.
fn mask_once(text: &str) -> Option<String> {
    let spans = scan::secrets(text);
    if spans.is_empty() {
        return None;
    }
    let mut masked = String::with_capacity(text.len());
    let mut kept_from = 0;
    for span in spans {
        masked.push_str(text.get(kept_from..span.start).unwrap_or_default());
        masked.push_str(MASK);
        kept_from = span.end;
    }
    masked.push_str(text.get(kept_from..).unwrap_or_default());
    Some(masked)
}

/// A value with the secrets in its texts masked, and every text under a secret's name.
pub fn json(value: &Value) -> MaskedValue<'_> {
    MaskedValue::new(value_without_secrets(value))
}

fn value_without_secrets(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) => match without_secrets(text) {
            Cow::Borrowed(_) => Cow::Borrowed(value),
            Cow::Owned(masked) => Cow::Owned(Value::String(masked)),
        },
        Value::Array(items) => {
            Cow::Owned(Value::Array(items.iter().map(|item| value_without_secrets(item).into_owned()).collect()))
        }
        Value::Object(fields) => Cow::Owned(Value::Object(map(fields))),
        Value::Null | Value::Bool(_) | Value::Number(_) => Cow::Borrowed(value),
    }
}

/// The same of an object's fields.
fn map(fields: &Map<String, Value>) -> Map<String, Value> {
    fields.iter().map(|(name, value)| (name.clone(), field(name, value))).collect()
}

fn field(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if scan::is_secret_under(name, text) => Value::String(MASK.to_owned()),
        _ => value_without_secrets(value).into_owned(),
    }
}
