//! Suggests a known word in place of a misspelled one.

/// Returns the known word that is closest to `word`; `None` if `word` is too different from every known word to be a
/// typo.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        // Of several equally close words, a word with the same first letter is preferred, because the first letter is
        // rarely mistyped.
        .min_by_key(|(distance, candidate)| {
            (*distance, !lower.chars().next().is_some_and(|first| candidate.starts_with(first)))
        })
        .map(|(_, candidate)| candidate)
}

pub fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_words_are_suggested() {
        let known = ["command_pattern", "paths", "on", "action"];
        assert_eq!(closest("comand_pattern", known), Some("command_pattern"));
        assert_eq!(closest("path", known), Some("paths"));
        assert_eq!(closest("Action", known), Some("action"));
        assert_eq!(closest("node", ["mode", "nodes"]), Some("nodes"));
        assert_eq!(closest("colour", known), None);
        assert_eq!(closest("", known), None);
    }
}
