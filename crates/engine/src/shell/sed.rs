//! What a script of `sed` does beside changing text: `r` and `w` name files, `e` runs a command.

use crate::event::Access;

/// What a script names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SedScript {
    pub(super) touches: Vec<(Access, String)>,
    /// Texts for a shell; `None` for one that is not known before.
    pub(super) runs: Vec<Option<String>>,
}

pub(super) fn read(script: &str) -> SedScript {
    let mut found = SedScript::default();
    for line in script.split(['\n', ';', '{', '}']) {
        let command = without_address(line.trim());
        let mut letters = command.chars();
        let name = letters.next();
        let rest = letters.as_str().trim();
        match name {
            Some('r' | 'R') if !rest.is_empty() => found.touches.push((Access::Read, rest.to_owned())),
            Some('w' | 'W') if !rest.is_empty() => found.touches.push((Access::Write, rest.to_owned())),
            Some('e') => found.runs.push((!rest.is_empty()).then(|| rest.to_owned())),
            Some('s') => found.substitution(letters.as_str()),
            _ => {}
        }
    }
    found
}

/// What the one command `s/FROM/TO/flags` says, where a script is nothing else.
pub(super) fn only_substitution(script: &str) -> Option<(&str, &str)> {
    let text = script.trim().strip_prefix('s')?;
    let mark = text.chars().next().filter(char::is_ascii_punctuation)?;
    match parts(text.get(1..)?, mark).collect::<Vec<_>>().as_slice() {
        [from, to, flags] if flags.chars().all(|flag| "gIip".contains(flag)) => Some((from, to)),
        _ => None,
    }
}

/// Whether a script does no more than to change lines: all that it prints goes where they go.
pub(super) fn only_edits(script: &str) -> bool {
    let SedScript { touches, runs } = read(script);
    let is_edit = |line: &str| {
        let command = without_address(line.trim());
        command.is_empty() || command == "d" || only_substitution(command).is_some_and(|(from, _)| !from.contains('['))
    };
    touches.is_empty() && runs.is_empty() && script.lines().all(is_edit)
}

impl SedScript {
    /// `/from/to/flags`, behind the `s`.
    fn substitution(&mut self, text: &str) {
        let Some(mark) = text.chars().next() else { return };
        let Some(flags) = text.get(mark.len_utf8()..).and_then(|text| parts(text, mark).nth(2)) else { return };
        if let Some((_, file)) = flags.split_once('w') {
            self.touches.push((Access::Write, file.trim().to_owned()));
        } else if flags.contains('e') {
            self.runs.push(None);
        }
    }
}

/// The parts between marks that no backslash stands before.
fn parts(text: &str, mark: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |letter| {
        let ends = letter == mark && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    })
}

/// `1,$`, `/re/`, `2!`
fn without_address(command: &str) -> &str {
    let mut rest = command;
    loop {
        let trimmed = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || " ,$!~+".contains(letter));
        let Some(inside) = trimmed.strip_prefix('/') else { return trimmed };
        let mut ends = parts(inside, '/');
        let length = ends.next().map_or(inside.len(), str::len);
        let Some(behind) = inside.get(length + 1..) else { return "" };
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let SedScript { touches, runs } = read(script);
        let touches = touches.iter().map(|(access, path)| format!("{access:?} {path}"));
        let runs = runs.iter().map(|run| format!("runs {}", run.as_deref().unwrap_or("?")));
        touches.chain(runs).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn files_and_commands() {
        let cases = [
            ("s/read/write/g", ""),
            ("1,$p", ""),
            ("/^e rm/d", ""),
            ("s|a/b|c|", ""),
            ("r .env", "Read .env"),
            ("1r .env", "Read .env"),
            ("/x/ r .env", "Read .env"),
            ("p;w out.txt", "Write out.txt"),
            ("s/a/b/w out.txt", "Write out.txt"),
            ("1e rm -rf x", "runs rm -rf x"),
            ("s/^/ls/e", "runs ?"),
            ("s/\\/e/x/", ""),
        ];
        for (script, expected) in cases {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
