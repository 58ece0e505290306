//! Agents that cannot work whatever they are told: no quota left, or not signed in. To start them again would change nothing.

/// What agents print, and what it means.
const SIGNS: &[(&str, &str)] = &[
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

/// At most so many characters of an agent's output are quoted.
const LONGEST_QUOTE: usize = 200;

/// Why an agent that failed cannot work at all, by the last lines of its output.
pub fn why_unusable(output: &str) -> Option<&'static str> {
    let output = output.to_lowercase();
    SIGNS.iter().find(|(sign, _)| output.contains(sign)).map(|(_, meaning)| *meaning)
}

/// The last line that says so.
pub fn quoted_line(output: &str) -> String {
    let line = output.lines().rev().find(|line| why_unusable(line).is_some()).unwrap_or_default();
    line.trim().chars().take(LONGEST_QUOTE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_say() {
        assert_eq!(why_unusable("Claude AI usage limit reached|1760000000"), Some(QUOTA));
        assert_eq!(why_unusable("Error: 429 Too Many Requests"), Some(QUOTA));
        assert_eq!(why_unusable("Invalid API key · Please run /login"), Some(SIGNED_OUT));
        assert_eq!(why_unusable("thread 'main' panicked"), None);
    }
}
