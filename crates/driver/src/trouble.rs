//! Agents that cannot work whatever they are told: no quota left, or not signed in. To start them again would change nothing.

/// Who failed and says so knows no better words; each stands for what it means to a person.
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

/// What is the matter with an agent that failed, by the end of what it said.
pub fn recognised(said: &str) -> Option<&'static str> {
    let said = said.to_lowercase();
    SIGNS.iter().find(|(sign, _)| said.contains(sign)).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_say() {
        assert_eq!(recognised("Claude AI usage limit reached|1760000000"), Some(QUOTA));
        assert_eq!(recognised("Error: 429 Too Many Requests"), Some(QUOTA));
        assert_eq!(recognised("Invalid API key · Please run /login"), Some(SIGNED_OUT));
        assert_eq!(recognised("thread 'main' panicked"), None);
    }
}
