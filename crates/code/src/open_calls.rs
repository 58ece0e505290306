//! Calls that open files, and methods of path objects.

use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::{ArgumentSelector, PathMethodEffect};
use super::value::{NAME_PLACEHOLDER, Value};
use super::{Access, Language, Spawn};

impl Evaluator {
    /// Records that a file is opened. Returns a value for its contents, or a file object for writing it.
    pub(super) fn open(&mut self, arguments: &Arguments, path: ArgumentSelector, mode: ArgumentSelector) -> Value {
        let mode = arguments.get(mode).filter(|mode| !matches!(mode, Value::Record(_)));
        let mode = mode.or_else(|| arguments.option("mode")).or_else(|| arguments.option("flags"));
        let (access, path) = (access_of_mode(mode), arguments.get(path));
        let only_replaces = |mode: &String| mode.starts_with(['w', 'x']) && !mode.contains('+');
        if let (Language::Python, Some(paths)) = (self.language, path.and_then(Value::strings))
            && mode.and_then(Value::strings).is_some_and(|modes| modes.iter().all(only_replaces))
        {
            for path in &paths {
                self.findings.record_access_only(Access::Write, path);
            }
            return Value::OutputFile(paths);
        }
        self.record_access(access, path);
        let also_reads = |mode: &String| mode.contains('+') && !mode.contains('w');
        if mode.and_then(Value::strings).is_some_and(|modes| modes.iter().any(also_reads)) {
            self.record_access(Access::Read, path);
        }
        let read_files = path.and_then(Value::strings).filter(|_| access == Access::Read);
        read_files.map_or(Value::Unknown, Value::FileContent)
    }

    /// Records that a file is opened, or that a command is run if the name starts with `|`.
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

    /// Evaluates Perl's `open`. `arguments` are those after the file handle: the first one is the mode, which can
    /// contain the path or command; otherwise, the path or the words of the command follow.
    pub(super) fn open_in_perl(&mut self, arguments: &[Value]) {
        let Some((mode, paths)) = arguments.split_first() else {
            self.findings.is_opaque = true;
            return;
        };
        let Some(mode) = mode.only_string().map(str::trim) else {
            self.findings.is_opaque = true;
            return;
        };
        if mode.contains('&') && !mode.contains('|') {
            // `>&STDOUT` duplicates a file handle, and accesses no file.
            return;
        }
        if paths.is_empty() {
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
            let positional = paths.to_vec();
            return self.run_system(&Arguments { positional, ..Arguments::default() });
        }
        let is_read = mode.starts_with('<') || mode.starts_with('r') && !mode.contains('+');
        self.record_access(if is_read { Access::Read } else { Access::Write }, paths.first());
    }

    /// True if the arguments fit the method of path objects with this name, and hardly any other method with this name.
    pub(super) fn looks_like_path_method(&self, name: &str, arguments: &Arguments) -> bool {
        if self.language != Language::Python || !arguments.named.is_empty() {
            return false;
        }
        match (name, arguments.positional.as_slice()) {
            ("rename" | "replace", [_]) => true,
            ("open", [mode]) => {
                mode.only_string().is_some_and(|mode| mode.len() <= 3) && access_of_mode(Some(mode)) == Access::Write
            }
            _ => false,
        }
    }

    pub(super) fn call_path_method(&mut self, path: &Value, effect: PathMethodEffect, arguments: &Arguments) -> Value {
        match effect {
            PathMethodEffect::Access(access) => {
                self.record_access(access, Some(path));
                let read_files = path.strings().filter(|_| access == Access::Read);
                return read_files.map_or(Value::Unknown, Value::FileContent);
            }
            PathMethodEffect::WriteContents => self.write_contents(Some(path), arguments.get((0, "data")), arguments),
            PathMethodEffect::Rename => {
                self.record_access(Access::Delete, Some(path));
                self.record_access(Access::Write, arguments.get((0, "target")));
            }
            PathMethodEffect::AccessArgument(access) => self.record_access(access, arguments.get((0, "target"))),
            PathMethodEffect::Open => self.record_access(access_of_mode(arguments.get((0, "mode"))), Some(path)),
            PathMethodEffect::Join => {
                let parts = arguments.flattened().into_iter();
                return parts.fold(path.clone(), |directory, name| directory.joined(name, "/").into_path());
            }
            PathMethodEffect::SamePath => return path.clone(),
            PathMethodEffect::Sibling { keeps_stem } => {
                let name = arguments.get((0, "name")).and_then(Value::only_string);
                let (Some(paths), Some(name)) = (path.strings(), name) else { return unknown_sibling(path) };
                let sibling = |path: &String| {
                    let (directory, file_name) = path.rsplit_once('/').unwrap_or(("", path.as_str()));
                    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
                    let separator = if directory.is_empty() && !path.starts_with('/') { "" } else { "/" };
                    format!("{directory}{separator}{}{name}", if keeps_stem { stem } else { "" })
                };
                return Value::Path(Some(paths.iter().map(sibling).collect()));
            }
            PathMethodEffect::ListEntries => return Value::List(vec![path.unknown_entry().into_path()]),
            PathMethodEffect::Glob { prefix } => {
                let files = match arguments.positional.first().and_then(Value::only_string) {
                    Some("*" | "**" | "**/*") | None => path.unknown_entry(),
                    Some(pattern) => {
                        let glob = path.joined(&Value::string(format!("{prefix}{pattern}")), "/");
                        glob.strings().map_or(Value::Unknown, |strings| Value::PartlyKnown { strings, is_path: true })
                    }
                };
                return Value::List(vec![files.into_path()]);
            }
            PathMethodEffect::UnknownPaths => return Value::Path(None),
        }
        Value::Unknown
    }
}

/// Returns the path of an unknown file in the same directory.
fn unknown_sibling(path: &Value) -> Value {
    let (Value::PartlyKnown { strings, .. } | Value::Path(Some(strings))) = path else { return Value::Path(None) };
    let sibling = |path: &String| {
        path.rsplit_once('/')
            .map_or_else(|| NAME_PLACEHOLDER.to_owned(), |(directory, _)| format!("{directory}/{NAME_PLACEHOLDER}"))
    };
    Value::PartlyKnown { strings: strings.iter().map(sibling).collect(), is_path: true }
}

/// Returns the access for which a file is opened with this mode. A mode that is not a constant string counts as
/// writing.
fn access_of_mode(mode: Option<&Value>) -> Access {
    let Some(mode) = mode else { return Access::Read };
    let reads = |mode: &String| !mode.split(':').next().unwrap_or_default().contains(['w', 'a', 'x', '+']);
    match mode.strings() {
        Some(modes) if modes.iter().all(reads) => Access::Read,
        _ => Access::Write,
    }
}
