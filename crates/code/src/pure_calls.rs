//! Calls that only give a value.

use super::Language;
use super::arguments::Arguments;
use super::function_effect::FunctionEffect;
use super::reader::Reader;
use super::text_method::dedented;
use super::value::{SOME_NAME, TEMPORARY, Value};

impl Reader {
    pub(super) fn pure_call(&self, effect: FunctionEffect, name: &str, arguments: &Arguments) -> Value {
        if arguments.positional.iter().any(Value::is_pending) {
            return Value::Pending;
        }
        let first = arguments.positional.first();
        match effect {
            FunctionEffect::JoinPath | FunctionEffect::ResolvePath | FunctionEffect::MakePath => {
                self.path_of_parts(effect, arguments)
            }
            FunctionEffect::Temporary => Value::List(vec![Value::Descriptor, Value::text(TEMPORARY)]),
            FunctionEffect::Glob => self.glob_matches(arguments),
            FunctionEffect::Walks => {
                let folder = first.map_or(Value::Unknown, Value::something_in);
                Value::List(vec![Value::List(vec![folder, Value::Unknown, Value::Unknown])])
            }
            FunctionEffect::Names => {
                Value::List(vec![Value::Like { texts: vec![SOME_NAME.to_owned()], is_path: false }])
            }
            FunctionEffect::Entries => {
                let folder = first.cloned().unwrap_or_else(|| Value::text("."));
                Value::List(vec![folder.something_in().into_path()])
            }
            FunctionEffect::Folder((place, name)) => {
                arguments.get(place, name).map_or(Value::Unknown, Value::folder).without_path()
            }
            FunctionEffect::Wraps => first.cloned().unwrap_or(Value::Unknown),
            FunctionEffect::Passes => first
                .filter(|value| matches!(value, Value::List(_) | Value::OneOf(_)))
                .cloned()
                .unwrap_or(Value::Unknown),
            FunctionEffect::Reorders => first.map_or(Value::Unknown, Value::reordered),
            FunctionEffect::Variable((place, name)) => {
                // Without the variable, it is what stands behind its name.
                let default = arguments.get(place + 1, "default");
                self.environment_variable(arguments.get(place, name), default)
            }
            FunctionEffect::NewIn(option) => match arguments.option(option) {
                None => Value::text(TEMPORARY),
                Some(folder) => {
                    folder.only_text().map_or(Value::Unknown, |folder| Value::text(format!("{folder}/{SOME_NAME}")))
                }
            },
            FunctionEffect::Gives(text) if name.contains("Path.") => Value::text(text).into_path(),
            FunctionEffect::Gives(text) => Value::text(text),
            FunctionEffect::Same((place, name)) => self.same_text(arguments.get(place, name), arguments),
            FunctionEffect::Dedents((place, name)) => {
                let text = arguments.get(place, name).and_then(Value::only_text);
                text.map_or(Value::Unknown, |text| Value::text(dedented(text)))
            }
            _ => Value::Unknown,
        }
    }

    fn path_of_parts(&self, effect: FunctionEffect, arguments: &Arguments) -> Value {
        let parts = arguments.flat().into_iter().cloned();
        let appends = matches!(effect, FunctionEffect::JoinPath);
        let path = parts.reduce(|folder, name| match folder.only_text() {
            // In Perl and Ruby, an empty first part is the root.
            Some("") if appends && self.dialect.bare_calls => Value::text("/").appended(&name),
            _ if appends => folder.appended(&name),
            _ => folder.joined(&name, "/"),
        });
        let path = path.unwrap_or_else(|| Value::text("."));
        match (effect, path) {
            (FunctionEffect::MakePath, path) => path.into_path(),
            (_, Value::Like { texts, .. }) => Value::Like { texts, is_path: false },
            (_, path) => path.texts().map_or(Value::Unknown, Value::Texts),
        }
    }

    fn glob_matches(&self, arguments: &Arguments) -> Value {
        // Several patterns in one text, and braces, are Perl's and Ruby's own.
        let is_one = |text: &String| {
            self.language == Language::Python || !text.contains(|letter: char| letter.is_whitespace() || letter == '{')
        };
        let texts = |value: &&Value| value.texts().filter(|texts| texts.iter().all(is_one));
        let found = arguments.flat().iter().map(texts).collect::<Option<Vec<_>>>().unwrap_or_default();
        let found = found.into_iter().map(|texts| Value::Like { texts, is_path: false }).collect::<Vec<_>>();
        if found.is_empty() { Value::Unknown } else { Value::List(found) }
    }

    fn environment_variable(&self, name: Option<&Value>, default: Option<&Value>) -> Value {
        let name = name.and_then(Value::only_text);
        if let Some(value) = name.and_then(|name| self.inputs.variable(name)) {
            return Value::text(value);
        }
        match name {
            Some("HOME") => Value::text("~"),
            Some("TMPDIR") => Value::text(path::TEMP),
            _ => default.map_or(Value::Unknown, Value::or_some_word),
        }
    }

    fn same_text(&self, value: Option<&Value>, arguments: &Arguments) -> Value {
        // `File.expand_path('name', 'folder')`
        if self.language == Language::Ruby && arguments.positional.len() > 1 {
            let names = arguments.positional.iter().rev().cloned();
            return names.reduce(|folder, name| folder.joined(&name, "/")).unwrap_or(Value::Unknown);
        }
        match value {
            Some(Value::Like { texts, .. }) => Value::Like { texts: texts.clone(), is_path: false },
            Some(value) if value.texts().is_some() || matches!(value, Value::Content(_)) => value.clone(),
            _ => Value::Unknown,
        }
    }
}
