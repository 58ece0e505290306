//! What calls give that do nothing else.

use super::Language;
use super::arguments::Arguments;
use super::deed::Deed;
use super::reader::Reader;
use super::text_method::dedented;
use super::value::{SOME_NAME, TEMPORARY, Value};
use crate::paths;

impl Reader {
    pub(super) fn made(&self, deed: Deed, name: &str, arguments: &Arguments) -> Value {
        if arguments.positional.iter().any(Value::is_pending) {
            return Value::Pending;
        }
        match deed {
            Deed::JoinPath | Deed::ResolvePath | Deed::MakePath => {
                let parts = arguments.flat().into_iter().cloned();
                let appends = matches!(deed, Deed::JoinPath);
                let path = parts.reduce(|folder, name| match folder.only_text() {
                    // There, nothing before the first is still before a slash.
                    Some("") if appends && self.dialect.bare_calls => Value::text("/").appended(&name),
                    _ if appends => folder.appended(&name),
                    _ => folder.joined(&name, "/"),
                });
                let path = path.unwrap_or_else(|| Value::text("."));
                match (deed, path) {
                    (Deed::MakePath, path) => path.into_path(),
                    (_, Value::Like { texts, .. }) => Value::Like { texts, is_path: false },
                    (_, path) => path.texts().map_or(Value::Unknown, Value::Texts),
                }
            }
            Deed::Temporary => Value::List(vec![Value::Descriptor, Value::text(TEMPORARY)]),
            Deed::Glob => {
                // Several patterns in one text, and braces, are Perl's and Ruby's own.
                let is_one = |text: &String| {
                    self.language == Language::Python
                        || !text.contains(|letter: char| letter.is_whitespace() || letter == '{')
                };
                let texts = |value: &&Value| value.texts().filter(|texts| texts.iter().all(is_one));
                let found = arguments.flat().iter().map(texts).collect::<Option<Vec<_>>>().unwrap_or_default();
                let found = found.into_iter().map(|texts| Value::Like { texts, is_path: false }).collect::<Vec<_>>();
                if found.is_empty() { Value::Unknown } else { Value::List(found) }
            }
            Deed::Walks => {
                let folder = arguments.positional.first().map_or(Value::Unknown, Value::something_in);
                Value::List(vec![Value::List(vec![folder, Value::Unknown, Value::Unknown])])
            }
            Deed::Names => Value::List(vec![Value::Like { texts: vec![SOME_NAME.to_owned()], is_path: false }]),
            Deed::Entries => {
                let folder = arguments.positional.first().cloned().unwrap_or_else(|| Value::text("."));
                Value::List(vec![folder.something_in().into_path()])
            }
            Deed::Folder((place, name)) => {
                arguments.get(place, name).map_or(Value::Unknown, Value::folder).without_path()
            }
            Deed::Wraps => arguments.positional.first().cloned().unwrap_or(Value::Unknown),
            Deed::Passes => {
                let value = arguments.positional.first().cloned().unwrap_or(Value::Unknown);
                let is_list = matches!(value, Value::List(_) | Value::OneOf(_));
                if is_list { value } else { Value::Unknown }
            }
            Deed::Reorders => arguments.positional.first().map_or(Value::Unknown, Value::reordered),
            Deed::Variable((place, name)) => match arguments.get(place, name).and_then(Value::only_text) {
                Some(name) if self.variable_set(name).is_some() => {
                    self.variable_set(name).map_or(Value::Unknown, Value::text)
                }
                Some("HOME") => Value::text("~"),
                Some("TMPDIR") => Value::text(paths::TEMP),
                // Without the variable, it is what stands behind its name.
                _ => arguments.get(place + 1, "default").map_or(Value::Unknown, Value::or_some_word),
            },
            Deed::NewIn(option) => match arguments.option(option) {
                None => Value::text(TEMPORARY),
                Some(folder) => {
                    folder.only_text().map_or(Value::Unknown, |folder| Value::text(format!("{folder}/{SOME_NAME}")))
                }
            },
            Deed::Gives(text) if name.contains("Path.") => Value::text(text).into_path(),
            Deed::Gives(text) => Value::text(text),
            // `File.expand_path('name', 'folder')`
            Deed::Same(_) if self.language == Language::Ruby && arguments.positional.len() > 1 => {
                let names = arguments.positional.iter().rev().cloned();
                names.reduce(|folder, name| folder.joined(&name, "/")).unwrap_or(Value::Unknown)
            }
            Deed::Same((place, name)) => match arguments.get(place, name) {
                Some(Value::Like { texts, .. }) => Value::Like { texts: texts.clone(), is_path: false },
                Some(value) if value.texts().is_some() || matches!(value, Value::Content(_)) => value.clone(),
                _ => Value::Unknown,
            },
            Deed::Dedents((place, name)) => {
                let text = arguments.get(place, name).and_then(Value::only_text);
                text.map_or(Value::Unknown, |text| Value::text(dedented(text)))
            }
            _ => Value::Unknown,
        }
    }
}
