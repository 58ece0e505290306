//! Masking replaces secrets in strings with `***`.
//!
//! Secrets are:
//! - tokens of a well-known shape (`token_shapes.rs`), anywhere, and the body of a PEM private key;
//! - the password in a URL, or a long random user name there;
//! - the value after the name of a secret (`secret_names.rs`): `GITHUB_TOKEN=…`, `--password …`, `--api-key=…`,
//!   `"client_secret": "…"`, `X-Api-Key: …`; if the name or the form is less certain (`KEY=…`, `token: …` in prose),
//!   only a value that looks random;
//! - the value of `Authorization:` and `Cookie:` headers, and a long word after `Bearer`;
//! - passwords in program-specific arguments: `curl -u user:…`, `mysql -p…`, `docker login -p …`, `sshpass -p …`.
//!
//! A reference (`$TOKEN`, `$(…)`, `{{ … }}`, `<token>`) is not a secret. Masking is idempotent. It reads the bytes a
//! few times, without regular expressions, and takes one to five microseconds for an ordinary command.

mod masked;
mod scan;
mod secret_names;
mod token_shapes;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use masked::{Masked, MaskedValue};

/// The replacement of a secret.
pub const MASK: &str = "***";

/// A masked string is scanned again, because its remaining pieces may parse differently now (nested quotes). In
/// realistic strings, the second pass finds nothing.
const MAX_PASSES: usize = 8;

/// Returns `text` with its secrets replaced.
pub fn mask(text: &str) -> Masked<'_> {
    Masked::new(without_secrets(text))
}

fn without_secrets(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        match mask_once(&masked) {
            Some(text) => masked = Cow::Owned(text),
            None => break,
        }
    }
    masked
}

/// Returns an invented secret of every known shape. Callers put them in the place of a masked value, to judge what the
/// original could have been.
pub fn example_secrets() -> impl Iterator<Item = String> {
    token_shapes::examples()
}

/// Returns `None` if there is nothing to mask.
fn mask_once(text: &str) -> Option<String> {
    let spans = scan::secrets(text);
    if spans.is_empty() {
        return None;
    }
    let mut masked = String::with_capacity(text.len());
    let mut copied_until = 0;
    for span in spans {
        masked.push_str(text.get(copied_until..span.start).unwrap_or_default());
        masked.push_str(MASK);
        copied_until = span.end;
    }
    masked.push_str(text.get(copied_until..).unwrap_or_default());
    Some(masked)
}

/// Masks the secrets in the strings of a value, and every string field with the name of a secret.
pub fn mask_json(value: &Value) -> MaskedValue<'_> {
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
        Value::Object(fields) => Cow::Owned(Value::Object(mask_fields(fields))),
        Value::Null | Value::Bool(_) | Value::Number(_) => Cow::Borrowed(value),
    }
}

/// Like [`mask_json`], for the fields of an object.
fn mask_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    fields.iter().map(|(name, value)| (name.clone(), mask_field(name, value))).collect()
}

fn mask_field(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if scan::is_secret_value(name, text) => Value::String(MASK.to_owned()),
        _ => value_without_secrets(value).into_owned(),
    }
}
