//! Values of parameter expansions: `$NAME`, `${NAME…}`, `$@`.

use super::expansion_operators::apply_operator;
use super::{ScalarOrArray, State, Value};

/// Numeric shell variables, whose exact values do not matter.
const NUMBERS: &[&str] =
    &["RANDOM", "SRANDOM", "PPID", "BASHPID", "UID", "EUID", "SECONDS", "EPOCHSECONDS", "LINENO", "COLUMNS", "LINES"];

/// True for the operators that apply to an unset variable: `:-x`, `=x`, `:?message`.
pub(super) fn is_default_operator(operator: &str) -> bool {
    operator.strip_prefix(':').unwrap_or(operator).starts_with(['-', '=', '?'])
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the length of the variable name at the start of a string.
fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Returns the index at which a range starts: `2`, or ` -1`, which counts from the end.
fn start_index(range: &str, count: usize) -> Option<usize> {
    match range.trim().parse::<i64>().ok()? {
        from if from < 0 => count.checked_sub(usize::try_from(from.unsigned_abs()).ok()?),
        from => usize::try_from(from).ok(),
    }
}

/// The result of an expansion.
pub(crate) enum Expanded {
    One(Value),
    /// `$@`: each value is a word of its own, also in double quotes.
    Several(Vec<Value>),
}

impl State {
    /// Returns the value of an expansion that runs no commands; `None` if it is not known.
    pub(crate) fn expand(&self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix('$')?;
        let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
        match inside {
            "$" | "!" | "?" => Some(Expanded::One(Value::unknown_number())),
            "@" | "*" | "#" | "!#" => self.expand_arguments(inside),
            _ if inside.starts_with("@:") => self.expand_arguments(inside),
            _ => match inside.strip_prefix('!') {
                Some(inside) => self.expand_indirectly(inside),
                None => self.expand_variable(inside),
            },
        }
    }

    /// Expands the positional parameters: `$@`, `$*`, `$#`, `${!#}`, `${@:2}`.
    fn expand_arguments(&self, inside: &str) -> Option<Expanded> {
        let arguments = self.arguments()?;
        match inside {
            "#" => Some(Expanded::One(Value::literal(arguments.len().to_string()))),
            "!#" => arguments.last().cloned()?.map(Expanded::One),
            _ => {
                // Positional parameters are numbered from 1. A negative offset counts from the end: -1 stands for the
                // last parameter.
                let range = inside.strip_prefix("@:");
                let from = range.map_or(Some(1), |range| start_index(range, arguments.len() + 1))?.saturating_sub(1);
                let arguments = arguments.iter().skip(from).cloned();
                arguments.collect::<Option<Vec<_>>>().map(Expanded::Several)
            }
        }
    }

    /// Expands `${!NAME}`, and the keys of an array: `${!NAME[@]}`.
    fn expand_indirectly(&self, inside: &str) -> Option<Expanded> {
        if let Some(name) = inside.strip_suffix("[@]") {
            return self.variables.array(name).map(|array| Expanded::Several(array.keys()));
        }
        // Indirect expansion: the variable holds the name of another variable, whose value is expanded.
        let (name, operator) = inside.split_at(name_length(inside));
        let target = self.target_name(name).filter(|_| !operator.starts_with('['))?;
        self.expand(&format!("${{{target}{operator}}}"))
    }

    /// Expands a variable or an element of an array: `$NAME`, `${NAME[0]}`, `${NAME%.rs}`.
    fn expand_variable(&self, inside: &str) -> Option<Expanded> {
        let (name, operator) = inside.split_at(name_length(inside));
        if let Some(elements) = self.variables.array(name) {
            if matches!(operator, "[@]" | "[*]") {
                return Some(Expanded::Several(elements.values()));
            }
            if let Some(range) = operator.strip_prefix("[@]:").filter(|range| !is_default_operator(range)) {
                let from = start_index(range, elements.len())?;
                return Some(Expanded::Several(elements.values().into_iter().skip(from).collect()));
            }
            if let Some(key) = operator.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
                let key = self.array_key(key, elements)?;
                return elements.element(&key).or_else(|| elements.element_at(key.parse().ok()?)).map(Expanded::One);
            }
        }
        let value = self.value(name)?;
        let evaluated = self.evaluated_range(operator);
        let operator = evaluated.as_deref().unwrap_or(operator);
        match operator {
            "" => Some(Expanded::One(value)),
            _ if apply_operator(&value, operator).is_some() => apply_operator(&value, operator).map(Expanded::One),
            // The variable has a value, so the default in the expansion is not used. An inherited variable may be
            // unset: `:?` then ends the shell, but the other operators use the default.
            _ if is_default_operator(operator)
                && !value.text.is_empty()
                && (self.variables.values.contains_key(name) || operator.trim_start_matches(':').starts_with('?')) =>
            {
                Some(Expanded::One(value))
            }
            _ => None,
        }
    }

    /// `${!NAME}`: returns the name that the variable holds.
    pub(crate) fn target_name(&self, name: &str) -> Option<String> {
        let target = self.value(name).filter(|value| !value.is_placeholder && is_name(&value.text))?;
        Some(target.text.to_string())
    }

    pub(super) fn value(&self, name: &str) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            if number == 0 {
                return self.parameters.zero.clone();
            }
            let arguments = self.arguments()?;
            return match number.checked_sub(1) {
                None => None,
                Some(index) => arguments.get(index).cloned().unwrap_or_else(|| Some(Value::literal(""))),
            };
        }
        let name = self.variables.references.get(name).map_or(name, |target| target);
        match self.variables.assumed_index.and_then(|index| self.variables.possible.get(name)?.at(index)) {
            Some(ScalarOrArray::Scalar(value)) => return Some(value.clone()),
            Some(ScalarOrArray::Array(array)) => return array.element("0"),
            None => {}
        }
        match self.variables.values.get(name) {
            Some(None) => self.variables.arrays.get(name).and_then(|array| array.element("0")),
            Some(value) => value.clone(),
            None if matches!(name, "SHELL" | "BASH") => Some(Value::literal("bash")),
            // In a run of a loop (`linchpin run`), agents are told to call Linchpin through this variable.
            None if name == "LINCHPIN_BIN" => Some(Value::literal("linchpin")),
            None if name == "_" => self.parameters.last_word.clone(),
            None if name == "IFS" => Some(Value::literal(" \t\n")),
            None if name == "TMPDIR" => Some(Value::placeholder(path::TEMP_PLACEHOLDER)),
            None if name == "CLAUDE_PROJECT_DIR" => Some(Value::placeholder(path::PROJECT_ROOT_PLACEHOLDER)),
            None if NUMBERS.contains(&name) => Some(Value::unknown_number()),
            None if name == "HOME" => Some(Value { tilde: true, ..Value::literal("~") }),
            None if name.starts_with("XDG_") => {
                xdg_default(name).map(|path| Value { tilde: true, ..Value::literal(path) })
            }
            None if name == "PWD" => self.directory.possible.only().map(|directory| Value {
                tilde: directory.starts_with('~'),
                ..Value::placeholder(if directory.is_empty() { "." } else { directory })
            }),
            None => None,
        }
    }

    /// The known positional parameters: `$1`, `$2`, ….
    fn arguments(&self) -> Option<&[Option<Value>]> {
        self.parameters.positional.list(self.variables.assumed_index)
    }
}

/// The usual values of the XDG variables.
fn xdg_default(variable: &str) -> Option<&'static str> {
    match variable {
        "XDG_CONFIG_HOME" => Some("~/.config"),
        "XDG_STATE_HOME" => Some("~/.local/state"),
        "XDG_DATA_HOME" => Some("~/.local/share"),
        "XDG_CACHE_HOME" => Some("~/.cache"),
        _ => None,
    }
}
