//! Recognizes agents that cannot work at all: no quota left, or not signed in. Starting them again would not help.

/// Messages that agents print, in lower case, each with its meaning.
const KNOWN_MESSAGES: &[(&str, &str)] = &[
    ("usage limit reached", QUOTA),
    ("hit your usage limit", QUOTA),
    ("rate limit reached", QUOTA),
    ("rate_limit_error", QUOTA),
    ("quota exceeded", QUOTA),
    ("exceeded your current quota", QUOTA),
    ("insufficient_quota", QUOTA),
    ("resource_exhausted", QUOTA),
    ("credit balance is too low", QUOTA),
    ("too many requests", QUOTA),
    ("invalid api key", SIGNED_OUT),
    ("invalid_api_key", SIGNED_OUT),
    ("api key not valid", SIGNED_OUT),
    ("authentication_error", SIGNED_OUT),
    ("not logged in", SIGNED_OUT),
    ("please run /login", SIGNED_OUT),
    ("401 unauthorized", SIGNED_OUT),
    ("oauth token has expired", SIGNED_OUT),
];

const QUOTA: &str = "its quota is used up";
const SIGNED_OUT: &str = "it is not signed in";

/// The maximum number of characters quoted from an agent's output.
const MAX_QUOTE_LENGTH: usize = 200;

/// Returns why a failed agent cannot work at all, according to the last lines of its output.
pub fn why_unusable(output: &str) -> Option<&'static str> {
    let output = output.to_lowercase();
    KNOWN_MESSAGES.iter().find(|(message, _)| output.contains(message)).map(|(_, meaning)| *meaning)
}

/// Returns the last line that contains one of the known messages.
pub fn quoted_line(output: &str) -> String {
    let line = output.lines().rev().find(|line| why_unusable(line).is_some()).unwrap_or_default();
    line.trim().chars().take(MAX_QUOTE_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_unusable_agents_are_recognized() {
        assert_eq!(why_unusable("Claude AI usage limit reached|1760000000"), Some(QUOTA));
        assert_eq!(why_unusable("Error: 429 Too Many Requests"), Some(QUOTA));
        assert_eq!(why_unusable("Invalid API key · Please run /login"), Some(SIGNED_OUT));
        assert_eq!(why_unusable("thread 'main' panicked"), None);
    }
}
