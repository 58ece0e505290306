//! Calls of which only the result matters. They access no files, except that some list files or create temporary ones.

use super::Language;
use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::FunctionEffect;
use super::string_methods::dedent;
use super::value::{NAME_PLACEHOLDER, TEMPORARY_PATH, Value};

impl Evaluator {
    pub(super) fn evaluate_harmless_call(&self, effect: FunctionEffect, name: &str, arguments: &Arguments) -> Value {
        if arguments.positional.iter().any(Value::is_pending) {
            return Value::Pending;
        }
        let first = arguments.positional.first();
        match effect {
            FunctionEffect::JoinPath | FunctionEffect::ResolvePath | FunctionEffect::MakePath => {
                self.join_path(effect, arguments)
            }
            FunctionEffect::NewTemporaryFile => {
                Value::List(vec![Value::NumberOrDescriptor, Value::string(TEMPORARY_PATH)])
            }
            FunctionEffect::Glob => self.glob_matches(arguments),
            FunctionEffect::Walk => {
                let directory = first.map_or(Value::Unknown, Value::unknown_entry);
                Value::List(vec![Value::List(vec![directory, Value::Unknown, Value::Unknown])])
            }
            FunctionEffect::ListNames => {
                Value::List(vec![Value::PartlyKnown { strings: vec![NAME_PLACEHOLDER.to_owned()], is_path: false }])
            }
            FunctionEffect::ListEntries => {
                let directory = first.cloned().unwrap_or_else(|| Value::string("."));
                Value::List(vec![directory.unknown_entry().into_path()])
            }
            FunctionEffect::ParentDirectory(argument) => {
                arguments.get(argument).map_or(Value::Unknown, Value::parent).path_to_string()
            }
            FunctionEffect::SameFunction => first.cloned().unwrap_or(Value::Unknown),
            FunctionEffect::SameList => first
                .filter(|value| matches!(value, Value::List(_) | Value::OneOfLists(_)))
                .cloned()
                .unwrap_or(Value::Unknown),
            FunctionEffect::ReorderList => first.map_or(Value::Unknown, Value::reordered),
            FunctionEffect::EnvironmentVariable(argument) => {
                // The argument after the variable's name is the default, which is used if the variable is not set.
                let (index, _) = argument;
                let default = arguments.get((index + 1, "default"));
                self.environment_variable(arguments.get(argument), default)
            }
            FunctionEffect::NewTemporaryPath(option) => match arguments.option(option) {
                None => Value::string(TEMPORARY_PATH),
                Some(directory) => directory
                    .only_string()
                    .map_or(Value::Unknown, |directory| Value::string(format!("{directory}/{NAME_PLACEHOLDER}"))),
            },
            FunctionEffect::Constant(value) if name.contains("Path.") => Value::string(value).into_path(),
            FunctionEffect::Constant(value) => Value::string(value),
            FunctionEffect::SameString(argument) => self.same_string(arguments.get(argument), arguments),
            FunctionEffect::Dedent(argument) => {
                let string = arguments.get(argument).and_then(Value::only_string);
                string.map_or(Value::Unknown, |string| Value::string(dedent(string)))
            }
            _ => Value::Unknown,
        }
    }

    fn join_path(&self, effect: FunctionEffect, arguments: &Arguments) -> Value {
        let parts = arguments.flattened().into_iter().cloned();
        let appends = matches!(effect, FunctionEffect::JoinPath);
        let path = parts.reduce(|directory, name| match directory.only_string() {
            // In Perl and Ruby, an empty first segment is the root directory.
            Some("") if appends && self.dialect.allows_bare_calls => Value::string("/").appended_path(&name),
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

    /// Returns the files that match the glob patterns in the arguments.
    fn glob_matches(&self, arguments: &Arguments) -> Value {
        // Perl and Ruby split a pattern at whitespace, and expand braces.
        let is_single_glob = |string: &String| {
            self.language == Language::Python
                || !string.contains(|character: char| character.is_whitespace() || character == '{')
        };
        let strings = |value: &&Value| value.strings().filter(|strings| strings.iter().all(is_single_glob));
        let globs = arguments.flattened().iter().map(strings).collect::<Option<Vec<_>>>().unwrap_or_default();
        let files = globs.into_iter().map(|strings| Value::PartlyKnown { strings, is_path: false }).collect::<Vec<_>>();
        if files.is_empty() { Value::Unknown } else { Value::List(files) }
    }

    /// Returns the value of an environment variable. If the value is unknown: for `HOME` and `TMPDIR`, returns a
    /// placeholder; for another variable, a value that stands for the default or any other word, or, without a default,
    /// an unknown value.
    fn environment_variable(&self, name: Option<&Value>, default: Option<&Value>) -> Value {
        let name = name.and_then(Value::only_string);
        if let Some(value) = name.and_then(|name| self.inputs.environment_variable(name)) {
            return Value::string(value);
        }
        match name {
            Some("HOME") => Value::string("~"),
            Some("TMPDIR") => Value::string(path::TEMP_PLACEHOLDER),
            _ => default.map_or(Value::Unknown, Value::or_unknown_word),
        }
    }

    /// Returns the value as a string if it is constant, partly known, or the contents of a file. In Ruby, several
    /// arguments are joined to one path.
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
