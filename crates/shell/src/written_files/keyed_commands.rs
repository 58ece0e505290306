//! Files in which commands follow a key, on the same line or in an indented block: `entry: ruff check`,
//! `ExecStart=/usr/bin/x`, `shell: |`.

/// Returns the commands as a script, one per line.
pub(crate) fn commands(text: &str, keys: &[&str]) -> String {
    let mut commands = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(value) = value(line, keys) else { continue };
        if value.starts_with(['|', '>']) {
            let depth = depth(line);
            while let Some(inner) = lines.next_if(|inner| inner.trim().is_empty() || self::depth(inner) > depth) {
                commands.push_str(inner.trim());
                commands.push(if value.starts_with('>') { ' ' } else { '\n' });
            }
            commands.push('\n');
        } else if !value.is_empty() && !value.starts_with(['{', '[']) {
            commands.push_str(value);
            commands.push('\n');
        }
    }
    commands
}

/// Returns the indentation of a line.
fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the value after one of the keys.
fn value<'t>(line: &'t str, keys: &[&str]) -> Option<&'t str> {
    let range_of_key = |key: &&str| {
        let start = line.find(*key)?;
        let before = line.get(..start)?;
        // A key must be a separate word, and not in a comment that starts with `#`. The key `//go:generate` is itself a
        // comment.
        let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        (is_whole && !before.trim_start().starts_with('#')).then_some((start, start + key.len()))
    };
    let (start, end) = keys.iter().find_map(range_of_key)?;
    let is_in_braces = line.get(..start)?.contains('{');
    let value = line.get(end..)?;
    let value = if is_in_braces { value.split(['}', ',']).next().unwrap_or(value) } else { value };
    let value = value.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(quoted.unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_follow_keys() {
        let text = "- hosts: x\n  tasks:\n    - shell: a b\n    - name: y\n      command: 'c d'\n";
        assert_eq!(commands(text, &["shell:", "command:"]), "a b\nc d\n");
        assert_eq!(commands("  - {id: x, entry: a b, language: system}\n", &["entry:"]), "a b\n");
        assert_eq!(commands("[Service]\nExecStart=/bin/a b\n", &["ExecStart="]), "/bin/a b\n");
        assert_eq!(commands("reentry: a\n# entry: b\nentry:\n", &["entry:"]), "");
    }

    #[test]
    fn commands_in_blocks() {
        let text = "- shell: |\n    a b\n\n    c\n- name: x\n";
        assert_eq!(commands(text, &["shell:"]), "a b\n\nc\n\n");
        assert_eq!(commands("entry: >-\n  a\n  b\nid: x\n", &["entry:"]), "a b \n");
    }
}
