//! Possible originals of recorded commands with a masked secret. The original text of such a command is unknown.

use store::mask::{self, MASK};

/// A reference to a shell variable. Rules do not know the value of this variable.
const UNKNOWN_WORD: &str = "$LINCHPIN_MASKED";

/// Possible originals of a masked command: one with an unknown word in place of each mask, and, for each kind of
/// secret, one with an example of the secret in place of each mask. If a rule judges all possible originals like the
/// masked command, the rule's result does not depend on the secret. Empty if the command has no mask.
pub fn possible_originals(command: &str) -> Vec<String> {
    if !command.contains(MASK) {
        return Vec::new();
    }
    let secrets = mask::example_secrets().map(|secret| command.replace(MASK, &secret));
    std::iter::once(with_unknown_words(command)).chain(secrets).collect()
}

/// The command with an unknown word in place of each mask.
fn with_unknown_words(command: &str) -> String {
    let mut text = String::with_capacity(command.len() + UNKNOWN_WORD.len());
    let mut rest = command;
    let mut quote = None;
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(MASK) {
            // The shell expands no variables in single quotes, so these quotes are closed before the word and opened
            // again after it.
            let (before, after_word) = if quote == Some('\'') { ("'\"", "\"'") } else { ("", "") };
            text.extend([before, UNKNOWN_WORD, after_word]);
            rest = after;
            continue;
        }
        let mut length = character.len_utf8();
        match (quote, character) {
            (None | Some('"'), '\\') => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
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
