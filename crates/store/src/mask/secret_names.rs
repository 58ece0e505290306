//! Names of secrets, such as `password` and `api_key`.

/// How likely it is that the value of a name is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretLikelihood {
    /// Every value is a secret, except references and keywords.
    Certain,
    /// A value that looks random is a secret.
    Possible,
    None,
}

/// If the last word of a name ends with one of these, the value is a secret: `PGPASSWORD`, `npm_authToken`,
/// `client-secret`.
const CERTAIN_ENDINGS: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"];

/// If a name ends with one of these words and `key`, the value is a secret: `API_KEY`.
const WORDS_BEFORE_KEY: [&str; 11] =
    ["api", "access", "private", "secret", "signing", "encryption", "auth", "account", "master", "deploy", "license"];

const POSSIBLE_NAMES: [&str; 11] =
    ["key", "auth", "credential", "credentials", "cookie", "signature", "sig", "pat", "jwt", "bearer", "pw"];

/// Only the last two words of a name count, so that `PASSWORD_FILE`, `max_tokens` and `token-budget` do not name
/// secrets.
pub(super) fn likelihood_of(name: &str) -> SecretLikelihood {
    let mut words = words(name);
    let (Some(last), second_last) = (words.next(), words.next()) else { return SecretLikelihood::None };
    if CERTAIN_ENDINGS.iter().any(|ending| last.ends_with(ending)) {
        return SecretLikelihood::Certain;
    }
    match (last.as_str(), second_last.as_deref()) {
        ("key", Some(word)) if WORDS_BEFORE_KEY.contains(&word) => SecretLikelihood::Certain,
        ("base", Some("key")) | ("pass" | "pwd", Some(_)) => SecretLikelihood::Certain,
        (word, _) if POSSIBLE_NAMES.contains(&word) => SecretLikelihood::Possible,
        _ => SecretLikelihood::None,
    }
}

/// Splits a name into lower-case words, last first: at characters other than letters and digits, and between a
/// lower-case and an upper-case letter.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = '_';
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            let starts_word =
                !previous.is_ascii_alphanumeric() || (character.is_ascii_uppercase() && previous.is_ascii_lowercase());
            if starts_word {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(character.to_ascii_lowercase());
            }
        }
        previous = character;
    }
    words.into_iter().rev()
}
