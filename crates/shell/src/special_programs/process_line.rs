//! Lines about processes, as `ps` prints them. Nobody knows them, but what was looked for in one names its process.

use crate::model::Word;

/// How such a line is called; behind it stands what was looked for in it.
const PROCESS: &str = "a process ";

pub(crate) fn any() -> Word {
    Word { raw: PROCESS.to_owned(), ..Word::unknown() }
}

pub(crate) fn is_one(line: &Word) -> bool {
    line.raw.starts_with(PROCESS)
}

/// The line, of which one more thing is known. `[n]ame` finds all but the search itself.
pub(crate) fn with(line: &Word, wanted: &str) -> Word {
    Word { raw: format!("{}{}", line.raw, wanted.replace(['[', ']'], "")), ..line.clone() }
}

/// A field of a line: of a process, its number stands first or second; of a path, it is the path.
pub(crate) fn field(line: &Word, chosen: &str, field: &str) -> Word {
    let line = if is_one(line) { with(line, chosen) } else { line.clone() };
    match line.raw.strip_prefix(PROCESS) {
        Some(name) if !name.is_empty() && matches!(field, "1" | "2") => {
            Word { means: Some(format!("pid-of-{name}")), ..Word::unknown() }
        }
        Some(_) => Word::unknown(),
        None => line,
    }
}
