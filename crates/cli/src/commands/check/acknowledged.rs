//! Acknowledgements in commits: `Linchpin-Ack: NAME (reason)`, a line of its own.

const TRAILER: &str = "linchpin-ack:";

/// The names that messages acknowledge, ids or titles.
pub fn names(messages: &str) -> Vec<String> {
    let named = |line: &str| {
        let line = line.trim();
        let rest = line.get(TRAILER.len()..).filter(|_| line.to_ascii_lowercase().starts_with(TRAILER))?;
        let name = rest.split_once('(').map_or(rest, |(name, _)| name).trim();
        (!name.is_empty()).then(|| name.to_owned())
    };
    messages.lines().filter_map(named).collect()
}

/// The line that acknowledges a rule.
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
        assert_eq!(names(&message), ["readme", "Source and test"]);
    }
}
