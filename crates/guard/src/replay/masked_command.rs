//! Recorded commands with a masked secret, whose original text is unknown.

use store::mask::{self, MASK};

/// A word whose value is only known at run time. Rules treat it as unknown.
const UNKNOWN_WORD: &str = "$LINCHPIN_MASKED";

/// Possible originals of a command: one with an unknown word in place of each mask, and one with an example for each
/// kind of secret. If a rule judges all of them like the masked command, it does not depend on the secret. Empty if the
/// command has no mask.
pub fn possible_originals(command: &str) -> Vec<String> {
    if !command.contains(MASK) {
        return Vec::new();
    }
    let secrets = mask::example_secrets().map(|secret| command.replace(MASK, &secret));
    std::iter::once(with_unknown_words(command)).chain(secrets).collect()
}

fn with_unknown_words(command: &str) -> String {
    let mut text = String::with_capacity(command.len() + UNKNOWN_WORD.len());
    let mut rest = command;
    let mut quote = None;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(MASK) {
            // The shell expands no variables in single quotes, so the quotes are closed before the word and opened
            // after it.
            let (before, after_word) = if quote == Some('\'') { ("'\"", "\"'") } else { ("", "") };
            text.extend([before, UNKNOWN_WORD, after_word]);
            rest = after;
            continue;
        }
        let mut length = letter.len_utf8();
        match (quote, letter) {
            (None | Some('"'), '\\') => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        let (head, tail) = rest.split_at(length);
        text.push_str(head);
        rest = tail;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_become_unknown_words() {
        let cases = [
            ("deploy --token ***", "deploy --token $LINCHPIN_MASKED"),
            ("X=*** run", "X=$LINCHPIN_MASKED run"),
            (r#"curl -H "Authorization: ***""#, r#"curl -H "Authorization: $LINCHPIN_MASKED""#),
            ("curl -u 'me:***'", r#"curl -u 'me:'"$LINCHPIN_MASKED"''"#),
            (r#"a \' *** "'***" '"***'"#, r#"a \' $LINCHPIN_MASKED "'$LINCHPIN_MASKED" '"'"$LINCHPIN_MASKED"''"#),
            ("plain \\", "plain \\"),
        ];
        for (command, expected) in cases {
            assert_eq!(with_unknown_words(command), expected);
        }
    }
}
