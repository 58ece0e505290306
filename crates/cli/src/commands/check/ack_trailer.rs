//! Acknowledgements in commit messages: a separate line `Linchpin-Ack: NAME (reason)`.

const TRAILER: &str = "linchpin-ack:";

/// An acknowledgement in a commit message.
#[derive(Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The rule's id or title.
    pub name: String,
    pub reason: String,
}

/// Returns the acknowledgements in commit messages.
pub fn trailers(messages: &str) -> Vec<Trailer> {
    let read = |line: &str| {
        let line = line.trim();
        let rest = line.get(TRAILER.len()..).filter(|_| line.to_ascii_lowercase().starts_with(TRAILER))?;
        let (name, reason) = rest.split_once('(').unwrap_or((rest, ""));
        let reason = reason.strip_suffix(')').unwrap_or(reason).trim().to_owned();
        let name = name.trim().to_owned();
        (!name.is_empty()).then_some(Trailer { name, reason })
    };
    messages.lines().filter_map(read).collect()
}

/// Returns the line that acknowledges a rule.
pub fn trailer(rule: &str, reason: &str) -> String {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("Linchpin-Ack: {rule} ({reason})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_read_as_it_was_written() {
        let message = format!(
            "Fix it\n\n{}\nlinchpin-ack: Source and test\nNot Linchpin-Ack: x\nLinchpin-Ack: (y)\n",
            trailer("readme", "typo\nonly")
        );
        let found: Vec<_> = trailers(&message).into_iter().map(|trailer| (trailer.name, trailer.reason)).collect();
        assert_eq!(
            found,
            [("readme".to_owned(), "typo only".to_owned()), ("Source and test".to_owned(), String::new())]
        );
    }
}
