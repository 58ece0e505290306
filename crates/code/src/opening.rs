//! Calls that open files, where a mode says what for; and the methods of path objects.

use super::arguments::Arguments;
use super::function_effect::{Argument, PathMethodEffect};
use super::reader::Reader;
use super::value::{SOME_NAME, Value};
use super::{Access, Language, Spawn};

impl Reader {
    pub(super) fn open(
        &mut self,
        arguments: &Arguments,
        (place, name): Argument,
        (mode_place, mode_name): Argument,
    ) -> Value {
        let mode = arguments.get(mode_place, mode_name).filter(|mode| !matches!(mode, Value::Record(_)));
        let mode = mode.or_else(|| arguments.option("mode")).or_else(|| arguments.option("flags"));
        let (access, path) = (mode_access(mode), arguments.get(place, name));
        let is_anew = |mode: &String| mode.starts_with(['w', 'x']) && !mode.contains('+');
        if let (Language::Python, Some(paths)) = (self.language, path.and_then(Value::texts))
            && mode.and_then(Value::texts).is_some_and(|modes| modes.iter().all(is_anew))
        {
            for path in &paths {
                self.found.note(Access::Write, path);
            }
            return Value::Output(paths);
        }
        self.touch(access, path);
        let reads_too = |mode: &String| mode.contains('+') && !mode.contains('w');
        if mode.and_then(Value::texts).is_some_and(|modes| modes.iter().any(reads_too)) {
            self.touch(Access::Read, path);
        }
        let content = path.and_then(Value::texts).filter(|_| access == Access::Read);
        content.map_or(Value::Unknown, Value::Content)
    }

    pub(super) fn open_or_run(&mut self, arguments: &Arguments) {
        match arguments.positional.first().and_then(Value::only_text) {
            Some(text) if text.starts_with('|') => {
                let command = text.trim_start_matches('|').trim().to_owned();
                self.found.spawn(Spawn::text(command));
            }
            Some(text) if text.starts_with("http://") || text.starts_with("https://") => {}
            _ => {
                self.open(arguments, (0, ""), (1, "mode"));
            }
        }
    }

    pub(super) fn perl_open(&mut self, arguments: &[Value]) {
        let Some((mode, files)) = arguments.split_first() else {
            self.found.hidden = true;
            return;
        };
        let Some(mode) = mode.only_text().map(str::trim) else {
            self.found.hidden = true;
            return;
        };
        if mode.contains('&') && !mode.contains('|') {
            // A handle that is open already.
            return;
        }
        if files.is_empty() {
            let path = mode.trim_start_matches(['<', '>', '+']).trim();
            let is_command = mode.starts_with('|') || mode.ends_with('|');
            let access = if mode.contains('>') || mode.starts_with('+') { Access::Write } else { Access::Read };
            if is_command {
                self.found.spawn(Spawn::text(mode.trim_matches(['|', ' ']).to_owned()));
            } else if path != "-" {
                self.found.touch(access, path);
            }
            return;
        }
        if mode.contains('|') {
            let positional = files.to_vec();
            return self.system(&Arguments { positional, ..Arguments::default() });
        }
        let is_read = mode.starts_with('<') || mode.starts_with('r') && !mode.contains('+');
        self.touch(if is_read { Access::Read } else { Access::Write }, files.first());
    }

    /// Methods that paths share with other things, but take other arguments there.
    pub(super) fn is_like_a_path(&self, name: &str, arguments: &Arguments) -> bool {
        if self.language != Language::Python || !arguments.named.is_empty() {
            return false;
        }
        match (name, arguments.positional.as_slice()) {
            ("rename" | "replace", [_]) => true,
            ("open", [mode]) => {
                mode.only_text().is_some_and(|mode| mode.len() <= 3) && mode_access(Some(mode)) == Access::Write
            }
            _ => false,
        }
    }

    pub(super) fn path_call(&mut self, path: &Value, effect: PathMethodEffect, arguments: &Arguments) -> Value {
        match effect {
            PathMethodEffect::Own(access) => {
                self.touch(access, Some(path));
                let content = path.texts().filter(|_| access == Access::Read);
                return content.map_or(Value::Unknown, Value::Content);
            }
            PathMethodEffect::WriteText => self.write_text(Some(path), arguments.get(0, "data"), arguments),
            PathMethodEffect::Rename => {
                self.touch(Access::Delete, Some(path));
                self.touch(Access::Write, arguments.get(0, "target"));
            }
            PathMethodEffect::Target(access) => self.touch(access, arguments.get(0, "target")),
            PathMethodEffect::Open => self.touch(mode_access(arguments.get(0, "mode")), Some(path)),
            PathMethodEffect::Join => {
                let parts = arguments.flat().into_iter();
                return parts.fold(path.clone(), |folder, name| folder.joined(name, "/").into_path());
            }
            PathMethodEffect::Same => return path.clone(),
            PathMethodEffect::Beside { keeps_stem } => {
                let name = arguments.get(0, "name").and_then(Value::only_text);
                let (Some(paths), Some(name)) = (path.texts(), name) else { return beside_somehow(path) };
                let beside = |path: &String| {
                    let (folder, own) =
                        path.rsplit_once('/').map_or(("", path.as_str()), |(folder, own)| (folder, own));
                    let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
                    let start = if folder.is_empty() && !path.starts_with('/') { "" } else { "/" };
                    format!("{folder}{start}{}{name}", if keeps_stem { stem } else { "" })
                };
                return Value::Path(Some(paths.iter().map(beside).collect()));
            }
            PathMethodEffect::Entries => return Value::List(vec![path.something_in().into_path()]),
            PathMethodEffect::Glob { depth } => {
                let found = match arguments.positional.first().and_then(Value::only_text) {
                    Some("*" | "**" | "**/*") | None => path.something_in(),
                    Some(pattern) => {
                        let found = path.joined(&Value::text(format!("{depth}{pattern}")), "/");
                        found.texts().map_or(Value::Unknown, |texts| Value::Like { texts, is_path: true })
                    }
                };
                return Value::List(vec![found.into_path()]);
            }
            PathMethodEffect::Others => return Value::Path(None),
        }
        Value::Unknown
    }
}

/// A path in the same folder, under a name that nobody knows: a name has no folders in it.
fn beside_somehow(path: &Value) -> Value {
    let (Value::Like { texts, .. } | Value::Path(Some(texts))) = path else { return Value::Path(None) };
    let beside = |path: &String| {
        path.rsplit_once('/').map_or_else(|| SOME_NAME.to_owned(), |(folder, _)| format!("{folder}/{SOME_NAME}"))
    };
    Value::Like { texts: texts.iter().map(beside).collect(), is_path: true }
}

/// What a file is opened for. A mode that is no text is one of many flags.
fn mode_access(mode: Option<&Value>) -> Access {
    let Some(mode) = mode else { return Access::Read };
    let reads = |mode: &String| !mode.split(':').next().unwrap_or_default().contains(['w', 'a', 'x', '+']);
    match mode.texts() {
        Some(modes) if modes.iter().all(reads) => Access::Read,
        _ => Access::Write,
    }
}
