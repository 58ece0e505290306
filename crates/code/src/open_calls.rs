//! Calls that open files, whose mode decides the access, and methods of path objects.

use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::{Argument, PathMethodEffect};
use super::value::{SOME_NAME, Value};
use super::{Access, Language, Spawn};

impl Evaluator {
    pub(super) fn open(
        &mut self,
        arguments: &Arguments,
        (place, name): Argument,
        (mode_place, mode_name): Argument,
    ) -> Value {
        let mode = arguments.get(mode_place, mode_name).filter(|mode| !matches!(mode, Value::Record(_)));
        let mode = mode.or_else(|| arguments.option("mode")).or_else(|| arguments.option("flags"));
        let (access, path) = (mode_access(mode), arguments.get(place, name));
        let is_replaced = |mode: &String| mode.starts_with(['w', 'x']) && !mode.contains('+');
        if let (Language::Python, Some(paths)) = (self.language, path.and_then(Value::strings))
            && mode.and_then(Value::strings).is_some_and(|modes| modes.iter().all(is_replaced))
        {
            for path in &paths {
                self.findings.note_access(Access::Write, path);
            }
            return Value::OutputFile(paths);
        }
        self.record_access(access, path);
        let also_reads = |mode: &String| mode.contains('+') && !mode.contains('w');
        if mode.and_then(Value::strings).is_some_and(|modes| modes.iter().any(also_reads)) {
            self.record_access(Access::Read, path);
        }
        let content = path.and_then(Value::strings).filter(|_| access == Access::Read);
        content.map_or(Value::Unknown, Value::FileContent)
    }

    pub(super) fn open_or_run(&mut self, arguments: &Arguments) {
        match arguments.positional.first().and_then(Value::only_string) {
            Some(name) if name.starts_with('|') => {
                let command = name.trim_start_matches('|').trim().to_owned();
                self.findings.spawn(Spawn::command_line(command));
            }
            Some(name) if name.starts_with("http://") || name.starts_with("https://") => {}
            _ => {
                self.open(arguments, (0, ""), (1, "mode"));
            }
        }
    }

    pub(super) fn perl_open(&mut self, arguments: &[Value]) {
        let Some((mode, files)) = arguments.split_first() else {
            self.findings.is_opaque = true;
            return;
        };
        let Some(mode) = mode.only_string().map(str::trim) else {
            self.findings.is_opaque = true;
            return;
        };
        if mode.contains('&') && !mode.contains('|') {
            // A copy of a handle that is already open.
            return;
        }
        if files.is_empty() {
            let path = mode.trim_start_matches(['<', '>', '+']).trim();
            let is_command = mode.starts_with('|') || mode.ends_with('|');
            let access = if mode.contains('>') || mode.starts_with('+') { Access::Write } else { Access::Read };
            if is_command {
                self.findings.spawn(Spawn::command_line(mode.trim_matches(['|', ' ']).to_owned()));
            } else if path != "-" {
                self.findings.record_access(access, path);
            }
            return;
        }
        if mode.contains('|') {
            let positional = files.to_vec();
            return self.system(&Arguments { positional, ..Arguments::default() });
        }
        let is_read = mode.starts_with('<') || mode.starts_with('r') && !mode.contains('+');
        self.record_access(if is_read { Access::Read } else { Access::Write }, files.first());
    }

    /// True if a method that other objects also have is called with the arguments that path objects expect.
    pub(super) fn looks_like_path_method(&self, name: &str, arguments: &Arguments) -> bool {
        if self.language != Language::Python || !arguments.named.is_empty() {
            return false;
        }
        match (name, arguments.positional.as_slice()) {
            ("rename" | "replace", [_]) => true,
            ("open", [mode]) => {
                mode.only_string().is_some_and(|mode| mode.len() <= 3) && mode_access(Some(mode)) == Access::Write
            }
            _ => false,
        }
    }

    pub(super) fn call_path_method(&mut self, path: &Value, effect: PathMethodEffect, arguments: &Arguments) -> Value {
        match effect {
            PathMethodEffect::Touch(access) => {
                self.record_access(access, Some(path));
                let content = path.strings().filter(|_| access == Access::Read);
                return content.map_or(Value::Unknown, Value::FileContent);
            }
            PathMethodEffect::WriteContents => self.write_contents(Some(path), arguments.get(0, "data"), arguments),
            PathMethodEffect::Rename => {
                self.record_access(Access::Delete, Some(path));
                self.record_access(Access::Write, arguments.get(0, "target"));
            }
            PathMethodEffect::TouchArgument(access) => self.record_access(access, arguments.get(0, "target")),
            PathMethodEffect::Open => self.record_access(mode_access(arguments.get(0, "mode")), Some(path)),
            PathMethodEffect::Join => {
                let parts = arguments.flattened().into_iter();
                return parts.fold(path.clone(), |directory, name| directory.joined(name, "/").into_path());
            }
            PathMethodEffect::Same => return path.clone(),
            PathMethodEffect::Sibling { keeps_stem } => {
                let name = arguments.get(0, "name").and_then(Value::only_string);
                let (Some(paths), Some(name)) = (path.strings(), name) else { return unknown_sibling(path) };
                let beside = |path: &String| {
                    let (directory, own) =
                        path.rsplit_once('/').map_or(("", path.as_str()), |(directory, own)| (directory, own));
                    let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
                    let start = if directory.is_empty() && !path.starts_with('/') { "" } else { "/" };
                    format!("{directory}{start}{}{name}", if keeps_stem { stem } else { "" })
                };
                return Value::Path(Some(paths.iter().map(beside).collect()));
            }
            PathMethodEffect::ListEntries => return Value::List(vec![path.any_entry().into_path()]),
            PathMethodEffect::Glob { prefix } => {
                let found = match arguments.positional.first().and_then(Value::only_string) {
                    Some("*" | "**" | "**/*") | None => path.any_entry(),
                    Some(pattern) => {
                        let found = path.joined(&Value::string(format!("{prefix}{pattern}")), "/");
                        found.strings().map_or(Value::Unknown, |strings| Value::PartlyKnown { strings, is_path: true })
                    }
                };
                return Value::List(vec![found.into_path()]);
            }
            PathMethodEffect::UnknownPaths => return Value::Path(None),
        }
        Value::Unknown
    }
}

/// Returns an unknown path in the same directory.
fn unknown_sibling(path: &Value) -> Value {
    let (Value::PartlyKnown { strings, .. } | Value::Path(Some(strings))) = path else { return Value::Path(None) };
    let beside = |path: &String| {
        path.rsplit_once('/').map_or_else(|| SOME_NAME.to_owned(), |(directory, _)| format!("{directory}/{SOME_NAME}"))
    };
    Value::PartlyKnown { strings: strings.iter().map(beside).collect(), is_path: true }
}

/// Returns the access that a mode opens a file for. A mode that is no string may be flags that include writing.
fn mode_access(mode: Option<&Value>) -> Access {
    let Some(mode) = mode else { return Access::Read };
    let reads = |mode: &String| !mode.split(':').next().unwrap_or_default().contains(['w', 'a', 'x', '+']);
    match mode.strings() {
        Some(modes) if modes.iter().all(reads) => Access::Read,
        _ => Access::Write,
    }
}
