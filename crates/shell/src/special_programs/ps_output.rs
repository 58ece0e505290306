//! Placeholders for lines in the output of `ps`. The lines are not known, but if a search such as `grep` selects a
//! line, the pattern of the search is the name of the process.

use crate::model::Word;

/// The prefix of a placeholder for a line. The search pattern follows.
const PROCESS: &str = "a process ";

pub(crate) fn any_line() -> Word {
    Word { raw: PROCESS.to_owned(), ..Word::unknown() }
}

pub(crate) fn is_process_line(line: &Word) -> bool {
    line.raw.starts_with(PROCESS)
}

/// Adds a search pattern to the line. `grep '[n]ame'` is a common way to exclude the process of `grep` from the output.
pub(crate) fn with_pattern(line: &Word, pattern: &str) -> Word {
    Word { raw: format!("{}{}", line.raw, pattern.replace(['[', ']'], "")), ..line.clone() }
}

/// Returns a field of a line. The first or second field of the line of a process is the process ID. If the line is a
/// path, it is returned unchanged.
pub(crate) fn field(line: &Word, pattern: &str, field: &str) -> Word {
    let line = if is_process_line(line) { with_pattern(line, pattern) } else { line.clone() };
    match line.raw.strip_prefix(PROCESS) {
        Some(name) if !name.is_empty() && matches!(field, "1" | "2") => {
            Word { placeholder: Some(format!("pid-of-{name}")), ..Word::unknown() }
        }
        Some(_) => Word::unknown(),
        None => line,
    }
}
