//! Calls that only return a value.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::FunctionEffect;
use super::string_methods::dedented;
use super::value::{SOME_NAME, TEMPORARY, Value};

impl Evaluator {
    pub(super) fn pure_call(&self, effect: FunctionEffect, name: &str, arguments: &Arguments) -> Value {
        if arguments.positional.iter().any(Value::is_pending) {
            return Value::Pending;
        }
        let first = arguments.positional.first();
        match effect {
            FunctionEffect::JoinPath | FunctionEffect::ResolvePath | FunctionEffect::MakePath => {
                self.path_of_parts(effect, arguments)
            }
            FunctionEffect::NewTemporaryFile => Value::List(vec![Value::Descriptor, Value::string(TEMPORARY)]),
            FunctionEffect::Glob => self.glob_matches(arguments),
            FunctionEffect::Walk => {
                let directory = first.map_or(Value::Unknown, Value::any_entry);
                Value::List(vec![Value::List(vec![directory, Value::Unknown, Value::Unknown])])
            }
            FunctionEffect::ListNames => {
                Value::List(vec![Value::PartlyKnown { strings: vec![SOME_NAME.to_owned()], is_path: false }])
            }
            FunctionEffect::ListEntries => {
                let directory = first.cloned().unwrap_or_else(|| Value::string("."));
                Value::List(vec![directory.any_entry().into_path()])
            }
            FunctionEffect::ParentDirectory((place, name)) => {
                arguments.get(place, name).map_or(Value::Unknown, Value::parent).path_to_string()
            }
            FunctionEffect::SameFunction => first.cloned().unwrap_or(Value::Unknown),
            FunctionEffect::SameList => first
                .filter(|value| matches!(value, Value::List(_) | Value::OneOfLists(_)))
                .cloned()
                .unwrap_or(Value::Unknown),
            FunctionEffect::ReorderList => first.map_or(Value::Unknown, Value::reordered),
            FunctionEffect::EnvironmentVariable((place, name)) => {
                // The default value for an unset variable.
                let default = arguments.get(place + 1, "default");
                self.environment_variable(arguments.get(place, name), default)
            }
            FunctionEffect::NewTemporaryIn(option) => match arguments.option(option) {
                None => Value::string(TEMPORARY),
                Some(directory) => directory
                    .only_string()
                    .map_or(Value::Unknown, |directory| Value::string(format!("{directory}/{SOME_NAME}"))),
            },
            FunctionEffect::Constant(value) if name.contains("Path.") => Value::string(value).into_path(),
            FunctionEffect::Constant(value) => Value::string(value),
            FunctionEffect::SameString((place, name)) => self.same_string(arguments.get(place, name), arguments),
            FunctionEffect::Dedent((place, name)) => {
                let string = arguments.get(place, name).and_then(Value::only_string);
                string.map_or(Value::Unknown, |string| Value::string(dedented(string)))
            }
            _ => Value::Unknown,
        }
    }

    fn path_of_parts(&self, effect: FunctionEffect, arguments: &Arguments) -> Value {
        let parts = arguments.flattened().into_iter().cloned();
        let appends = matches!(effect, FunctionEffect::JoinPath);
        let path = parts.reduce(|directory, name| match directory.only_string() {
            // In Perl and Ruby, an empty first segment is the root.
            Some("") if appends && self.dialect.bare_calls => Value::string("/").appended_path(&name),
            _ if appends => directory.appended_path(&name),
            _ => directory.joined(&name, "/"),
        });
        let path = path.unwrap_or_else(|| Value::string("."));
        match (effect, path) {
            (FunctionEffect::MakePath, path) => path.into_path(),
            (_, Value::PartlyKnown { strings, .. }) => Value::PartlyKnown { strings, is_path: false },
            (_, path) => path.strings().map_or(Value::Unknown, Value::Strings),
        }
    }

    fn glob_matches(&self, arguments: &Arguments) -> Value {
        // Perl and Ruby split a pattern at whitespace, and expand braces.
        let is_one = |string: &String| {
            self.language == Language::Python
                || !string.contains(|letter: char| letter.is_whitespace() || letter == '{')
        };
        let strings = |value: &&Value| value.strings().filter(|strings| strings.iter().all(is_one));
        let found = arguments.flattened().iter().map(strings).collect::<Option<Vec<_>>>().unwrap_or_default();
        let found = found.into_iter().map(|strings| Value::PartlyKnown { strings, is_path: false }).collect::<Vec<_>>();
        if found.is_empty() { Value::Unknown } else { Value::List(found) }
    }

    fn environment_variable(&self, name: Option<&Value>, default: Option<&Value>) -> Value {
        let name = name.and_then(Value::only_string);
        if let Some(value) = name.and_then(|name| self.inputs.environment_variable(name)) {
            return Value::string(value);
        }
        match name {
            Some("HOME") => Value::string("~"),
            Some("TMPDIR") => Value::string(path::TEMP_PLACEHOLDER),
            _ => default.map_or(Value::Unknown, Value::or_some_word),
        }
    }

    fn same_string(&self, value: Option<&Value>, arguments: &Arguments) -> Value {
        // `File.expand_path('name', 'directory')`
        if self.language == Language::Ruby && arguments.positional.len() > 1 {
            let names = arguments.positional.iter().rev().cloned();
            return names.reduce(|directory, name| directory.joined(&name, "/")).unwrap_or(Value::Unknown);
        }
        match value {
            Some(Value::PartlyKnown { strings, .. }) => Value::PartlyKnown { strings: strings.clone(), is_path: false },
            Some(value) if value.strings().is_some() || matches!(value, Value::FileContent(_)) => value.clone(),
            _ => Value::Unknown,
        }
    }
}
