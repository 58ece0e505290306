//! Names under which secrets are kept.

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// The value is a secret, whatever it looks like.
    Sure,
    /// The value may be a secret: it is one if it looks random.
    Maybe,
    /// Nothing of the kind.
    None,
}

/// A name that ends so is a secret's: `PGPASSWORD`, `npm_authToken`, `client-secret`.
const SURE_ENDINGS: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"];

/// Before `key`, these words make it a secret.
const SECRET_KEYS: [&str; 11] =
    ["api", "access", "private", "secret", "signing", "encryption", "auth", "account", "master", "deploy", "license"];

const MAYBE: [&str; 11] =
    ["key", "auth", "credential", "credentials", "cookie", "signature", "sig", "pat", "jwt", "bearer", "pw"];

/// Judged by the name's last words, so that `PASSWORD_FILE`, `max_tokens` and `token-budget` are nothing special.
pub(super) fn secrecy(name: &str) -> Secrecy {
    let mut words = words(name);
    let (Some(last), before) = (words.next(), words.next()) else { return Secrecy::None };
    if SURE_ENDINGS.iter().any(|ending| last.ends_with(ending)) {
        return Secrecy::Sure;
    }
    match (last.as_str(), before.as_deref()) {
        ("key", Some(word)) if SECRET_KEYS.contains(&word) => Secrecy::Sure,
        ("base", Some("key")) | ("pass" | "pwd", Some(_)) => Secrecy::Sure,
        (word, _) if MAYBE.contains(&word) => Secrecy::Maybe,
        _ => Secrecy::None,
    }
}

/// The words of a name, last first, in lower case: parted by anything that is no letter or digit, and where a capital
/// follows a small letter.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = '_';
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            let starts =
                !previous.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && previous.is_ascii_lowercase());
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(letter.to_ascii_lowercase());
            }
        }
        previous = letter;
    }
    words.into_iter().rev()
}
