//! Files in which commands stand behind a mark, each in a line of its own: `entry: ruff check`, `ExecStart=/usr/bin/x`.

/// For a shell, one a line.
pub(super) fn commands(text: &str, marks: &[&str]) -> String {
    text.lines().filter_map(|line| command(line, marks)).flat_map(|command| [command, "\n"]).collect()
}

fn command<'t>(line: &'t str, marks: &[&str]) -> Option<&'t str> {
    let place = |mark: &&str| {
        let start = line.find(*mark)?;
        // A mark is a word of its own.
        let is_whole = !line.get(..start)?.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        is_whole.then_some((start, start + mark.len()))
    };
    let (start, end) = marks.iter().find_map(place)?;
    let is_in_braces = line.get(..start)?.contains('{');
    let value = line.get(end..)?;
    let value = if is_in_braces { value.split(['}', ',']).next().unwrap_or(value) } else { value };
    let value = value.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(quoted.unwrap_or(value)).filter(|value| !value.is_empty() && !value.starts_with(['|', '>', '{', '[']))
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn behind_marks() {
        let text = "- hosts: x\n  tasks:\n    - shell: a b\n    - name: y\n      command: 'c d'\n";
        assert_eq!(commands(text, &["shell:", "command:"]), "a b\nc d\n");
        assert_eq!(commands("  - {id: x, entry: a b, language: system}\n", &["entry:"]), "a b\n");
        assert_eq!(commands("[Service]\nExecStart=/bin/a b\n", &["ExecStart="]), "/bin/a b\n");
        assert_eq!(commands("reentry: a\nentry: |\n", &["entry:"]), "");
    }
}
