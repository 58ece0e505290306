//! Command line options that a program declares: `parser.add_argument("--out", default="build")`, `args =
//! parser.parse_args()`.
//!
//! The analysis does not parse the arguments: the value of each option can be any of the arguments, or its default.

use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::value::Value;

/// The maximum number of arguments. If there are more, the values of the options are unknown.
const MAX_ARGUMENTS: usize = 8;

impl Evaluator {
    /// Evaluates the declaration of an option: `parser.add_argument("--out", default="build")`.
    pub(super) fn declare_option(&mut self, arguments: &Arguments) {
        let flags: Vec<&str> = arguments.positional.iter().filter_map(Value::only_string).collect();
        let long = flags.iter().find(|flag| flag.starts_with("--")).or_else(|| flags.first());
        let flag = arguments.named("dest").and_then(Value::only_string).or(long.copied());
        let Some(name) = flag.map(|name| name.trim_start_matches('-').replace('-', "_")) else { return };
        // If the declaration has one of these keywords, the option's value is not a single word.
        let is_single_word = ["action", "nargs", "const"].iter().all(|key| arguments.named(key).is_none());
        let value_type = arguments.named("type");
        let is_path = matches!(value_type, Some(Value::QualifiedName(name)) if name.ends_with("Path"));
        let is_string = matches!(value_type, Some(Value::QualifiedName(name)) if name == "str");
        // An option can be missing and then has no known value. A positional argument always gets its value from the
        // command line.
        let value_without_default =
            if flag.is_some_and(|name| name.starts_with('-')) { Value::Unknown } else { Value::Pending };
        let default = arguments.named("default").cloned().unwrap_or(value_without_default);
        let default = if is_path { default.into_path() } else { default };
        let value =
            if is_single_word && (value_type.is_none() || is_path || is_string) { default } else { Value::Unknown };
        let merged = self.declared_options.get(&name).cloned().unwrap_or(Value::Pending).or(value);
        if self.declared_options.get(&name) != Some(&merged) {
            self.bindings.has_changed = true;
            self.declared_options.insert(name, merged);
        }
    }

    /// Evaluates `parser.parse_args()`: returns an object with all options.
    pub(super) fn parse_options(&self, arguments: &Arguments) -> Value {
        if self.outline.classes.are_dynamic {
            return Value::Unknown;
        }
        let list = arguments.positional.first().or(self.inputs.arguments.as_ref());
        let words: Option<Vec<Value>> = match list {
            Some(Value::Pending) => return Value::Pending,
            Some(Value::List(words)) => {
                Some(words.iter().filter(|word| **word != Value::ArgvPrefix).cloned().collect())
            }
            _ => None,
        };
        let words =
            words.filter(|words| words.len() <= MAX_ARGUMENTS && words.iter().all(|word| word.strings().is_some()));
        // Returns `x` for the arguments `x` and `--out=x`.
        let values_in = |word: &Value| {
            let strings = word.strings().unwrap_or_default();
            let values =
                strings.iter().map(|string| string.split_once('=').map_or(string.as_str(), |(_, value)| value));
            values.filter(|value| !value.starts_with('-')).map(Value::string).collect::<Vec<_>>()
        };
        let option = |default: &Value| match &words {
            Some(words) => {
                let is_path = default.is_path();
                let values = words.iter().flat_map(values_in);
                let values = values.map(|word| if is_path { word.into_path() } else { word });
                match values.fold(default.clone(), Value::or) {
                    Value::Pending => Value::Unknown,
                    value => value,
                }
            }
            None => default.or_unknown_word(),
        };
        Value::Record(self.declared_options.iter().map(|(name, default)| (name.clone(), option(default))).collect())
    }
}
