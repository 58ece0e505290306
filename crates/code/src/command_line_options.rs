//! Command line options that a program declares: `parser.add_argument("--out", default="build")`, `args =
//! parser.parse_args()`.
//!
//! Arguments are not assigned to options: each option may be any of the arguments, or its default.

use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::value::Value;

/// With more arguments than this, the options are unknown.
const MAX_WORDS: usize = 8;

impl Evaluator {
    pub(super) fn declare_option(&mut self, arguments: &Arguments) {
        let flags: Vec<&str> = arguments.positional.iter().filter_map(Value::only_string).collect();
        let long = flags.iter().find(|flag| flag.starts_with("--")).or_else(|| flags.first());
        let named = arguments.named("dest").and_then(Value::only_string).or(long.copied());
        let Some(name) = named.map(|name| name.trim_start_matches('-').replace('-', "_")) else { return };
        // These options have a value other than one word.
        let is_plain = ["action", "nargs", "const"].iter().all(|key| arguments.named(key).is_none());
        let kind = arguments.named("type");
        let is_path = matches!(kind, Some(Value::QualifiedName(name)) if name.ends_with("Path"));
        let is_text = matches!(kind, Some(Value::QualifiedName(name)) if name == "str");
        // A required positional argument always has a value.
        let otherwise = if named.is_some_and(|name| name.starts_with('-')) { Value::Unknown } else { Value::Pending };
        let default = arguments.named("default").cloned().unwrap_or(otherwise);
        let default = if is_path { default.into_path() } else { default };
        let value = if is_plain && (kind.is_none() || is_path || is_text) { default } else { Value::Unknown };
        let known = self.options.get(&name).cloned().unwrap_or(Value::Pending).or(value);
        if self.options.get(&name) != Some(&known) {
            self.names.changed = true;
            self.options.insert(name, known);
        }
    }

    pub(super) fn parsed_options(&self, arguments: &Arguments) -> Value {
        if self.outline.classes.are_dynamic {
            return Value::Unknown;
        }
        let given = arguments.positional.first().or(self.inputs.arguments.as_ref());
        let words: Option<Vec<Value>> = match given {
            Some(Value::Pending) => return Value::Pending,
            Some(Value::List(words)) => Some(words.iter().filter(|word| **word != Value::Instance).cloned().collect()),
            _ => None,
        };
        let words = words.filter(|words| words.len() <= MAX_WORDS && words.iter().all(|word| word.strings().is_some()));
        // `--out=x`
        let parts = |word: &Value| {
            let strings = word.strings().unwrap_or_default();
            let values =
                strings.iter().map(|string| string.split_once('=').map_or(string.as_str(), |(_, value)| value));
            values.filter(|value| !value.starts_with('-')).map(Value::string).collect::<Vec<_>>()
        };
        let option = |default: &Value| match &words {
            Some(words) => {
                let is_path = default.is_path();
                let given = words.iter().flat_map(parts);
                let given = given.map(|word| if is_path { word.into_path() } else { word });
                match given.fold(default.clone(), Value::or) {
                    Value::Pending => Value::Unknown,
                    value => value,
                }
            }
            None => default.or_some_word(),
        };
        Value::Record(self.options.iter().map(|(name, default)| (name.clone(), option(default))).collect())
    }
}
