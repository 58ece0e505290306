//! What `$NAME` and its like stand for.

use super::expansion_operators::changed;
use super::{Held, State, Value};

/// Variables of the shell that are numbers. Nobody cares which.
const NUMBERS: &[&str] =
    &["RANDOM", "SRANDOM", "PPID", "BASHPID", "UID", "EUID", "SECONDS", "EPOCHSECONDS", "LINENO", "COLUMNS", "LINES"];

/// `:-x`, `=x`, `:?message`: what counts only for a variable that has no value.
pub(super) fn is_default(operator: &str) -> bool {
    operator.strip_prefix(':').unwrap_or(operator).starts_with(['-', '=', '?'])
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Of the name that a text begins with.
fn name_length(text: &str) -> usize {
    text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len())
}

/// `2`, or ` -1`: from the end.
fn place(range: &str, count: usize) -> Option<usize> {
    match range.trim().parse::<i64>().ok()? {
        from if from < 0 => count.checked_sub(usize::try_from(from.unsigned_abs()).ok()?),
        from => usize::try_from(from).ok(),
    }
}

/// What an expansion is.
pub(crate) enum Expanded {
    One(Value),
    /// `$@`: each a word of its own, even between quotes.
    Several(Vec<Value>),
}

impl State {
    /// The value of an expansion without commands in it; `None` where it is not known.
    pub(crate) fn expand(&self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix('$')?;
        let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
        match inside {
            "$" | "!" | "?" => Some(Expanded::One(Value::some_number())),
            "@" | "*" | "#" | "!#" => self.expand_arguments(inside),
            _ if inside.starts_with("@:") => self.expand_arguments(inside),
            _ => match inside.strip_prefix('!') {
                Some(inside) => self.expand_indirectly(inside),
                None => self.expand_variable(inside),
            },
        }
    }

    /// `$@`, `$*`, `$#`, `${!#}`, `${@:2}`
    fn expand_arguments(&self, inside: &str) -> Option<Expanded> {
        let arguments = self.arguments()?;
        match inside {
            "#" => Some(Expanded::One(Value::plain(arguments.len().to_string()))),
            "!#" => arguments.last().cloned()?.map(Expanded::One),
            _ => {
                // They count from one, and those from the end from behind the last.
                let range = inside.strip_prefix("@:");
                let from = range.map_or(Some(1), |range| place(range, arguments.len() + 1))?.saturating_sub(1);
                let arguments = arguments.iter().skip(from).cloned();
                arguments.collect::<Option<Vec<_>>>().map(Expanded::Several)
            }
        }
    }

    /// `${!NAME}`, and the keys of an array: `${!NAME[@]}`
    fn expand_indirectly(&self, inside: &str) -> Option<Expanded> {
        if let Some(name) = inside.strip_suffix("[@]") {
            return self.variables.array(name).map(|array| Expanded::Several(array.keys()));
        }
        // The value of the variable that it names.
        let (name, operator) = inside.split_at(name_length(inside));
        let meant = self.named_by(name).filter(|_| !operator.starts_with('['))?;
        self.expand(&format!("${{{meant}{operator}}}"))
    }

    /// `$NAME`, `${NAME[0]}`, `${NAME%.rs}`
    fn expand_variable(&self, inside: &str) -> Option<Expanded> {
        let (name, operator) = inside.split_at(name_length(inside));
        if let Some(elements) = self.variables.array(name) {
            if matches!(operator, "[@]" | "[*]") {
                return Some(Expanded::Several(elements.values()));
            }
            if let Some(range) = operator.strip_prefix("[@]:").filter(|range| !is_default(range)) {
                let from = place(range, elements.len())?;
                return Some(Expanded::Several(elements.values().into_iter().skip(from).collect()));
            }
            if let Some(key) = operator.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
                let key = self.key(key, elements)?;
                return elements.named(&key).or_else(|| elements.at(key.parse().ok()?)).map(Expanded::One);
            }
        }
        let value = self.value(name)?;
        let counted = self.counted_range(operator);
        let operator = counted.as_deref().unwrap_or(operator);
        match operator {
            "" => Some(Expanded::One(value)),
            // The default of what has a value.
            _ if changed(&value, operator).is_some() => changed(&value, operator).map(Expanded::One),
            // One from outside may not be there.
            _ if is_default(operator)
                && !value.text.is_empty()
                && (self.variables.values.contains_key(name) || operator.trim_start_matches(':').starts_with('?')) =>
            {
                Some(Expanded::One(value))
            }
            _ => None,
        }
    }

    /// `${!NAME}`: the variable that it is the name of.
    pub(crate) fn named_by(&self, name: &str) -> Option<String> {
        let meant = self.value(name).filter(|value| !value.in_kind && is_name(&value.text))?;
        Some(meant.text.to_string())
    }

    pub(super) fn value(&self, name: &str) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            if number == 0 {
                return self.parameters.zero.clone();
            }
            let arguments = self.arguments()?;
            return match number.checked_sub(1) {
                None => None,
                Some(place) => arguments.get(place).cloned().unwrap_or_else(|| Some(Value::plain(""))),
            };
        }
        let name = self.variables.references.get(name).map_or(name, |meant| meant);
        match self.variables.assumes.and_then(|number| self.variables.possible.get(name)?.at(number)) {
            Some(Held::One(value)) => return Some(value.clone()),
            Some(Held::Several(array)) => return array.named("0"),
            None => {}
        }
        match self.variables.values.get(name) {
            Some(None) => self.variables.arrays.get(name).and_then(|array| array.named("0")),
            Some(value) => value.clone(),
            None if matches!(name, "SHELL" | "BASH") => Some(Value::plain("bash")),
            // In a run of the loop; agents are told to call it so.
            None if name == "LINCHPIN_BIN" => Some(Value::plain("linchpin")),
            None if name == "_" => self.parameters.last_word.clone(),
            None if name == "IFS" => Some(Value::plain(" \t\n")),
            None if name == "TMPDIR" => Some(Value::in_kind(path::TEMP)),
            None if name == "CLAUDE_PROJECT_DIR" => Some(Value::in_kind(path::ROOT)),
            None if NUMBERS.contains(&name) => Some(Value::some_number()),
            None if name == "HOME" => Some(Value { tilde: true, ..Value::plain("~") }),
            None if name.starts_with("XDG_") => in_home(name).map(|place| Value { tilde: true, ..Value::plain(place) }),
            None if name == "PWD" => self.directory.folders.only().map(|folder| Value {
                tilde: folder.starts_with('~'),
                ..Value::in_kind(if folder.is_empty() { "." } else { folder })
            }),
            None => None,
        }
    }

    /// `$1`, `$2`, …, as far as they are known.
    fn arguments(&self) -> Option<&[Option<Value>]> {
        self.parameters.positional.list(self.variables.assumes)
    }
}

/// Where the folders of a user are, as good as everywhere.
fn in_home(variable: &str) -> Option<&'static str> {
    match variable {
        "XDG_CONFIG_HOME" => Some("~/.config"),
        "XDG_STATE_HOME" => Some("~/.local/state"),
        "XDG_DATA_HOME" => Some("~/.local/share"),
        "XDG_CACHE_HOME" => Some("~/.cache"),
        _ => None,
    }
}
