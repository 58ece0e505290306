//! Tracks the contents of files that were written before they are run: by the script itself, or earlier in the session.
//!
//! `echo … > x.sh && bash x.sh` runs the output of `echo`. The caller of the parser supplies the contents of files that
//! earlier tool calls wrote. A file that neither the script nor an earlier tool call wrote comes from a person, and is
//! trusted.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use code::{ProgramEffects, ProgramInputs};
use path::Access;
use path::pattern::Pattern;

use crate::model::{
    ContentsLookup, FileContents, MAX_CONTENTS, PossibleDirectories, Redirect, RedirectKind, SimpleCommand, Word,
    leads_above_start, normalize_path,
};
use crate::programs::{Argument, Arguments, Role};
use crate::special_programs::code_analysis::{self, program_inputs};
use crate::special_programs::downloads::{downloaded_names, downloads_files};
use crate::special_programs::file_copies::{destinations, file_copies};
use crate::special_programs::interpreter::{COMPILED, interpreter_of, shebang_program, takes_script_from_stdin};
use crate::special_programs::language::is_readable;
use crate::special_programs::patch;

/// The files that were written so far.
pub(crate) struct FileTracker<'a> {
    /// The files that the script has written so far.
    written: BTreeMap<String, FileContents>,
    /// The files that are open for writing, by file descriptor: `exec 3> FILE`.
    open: BTreeMap<i32, String>,
    /// Directories that downloaded archives were unpacked into.
    unpacked: Vec<String>,
    /// The files that container images are built from, by the name of the image.
    images: BTreeMap<String, FileContents>,
    code_history: RefCell<CodeHistory>,
    written_earlier: ContentsLookup<'a>,
}

/// The code in languages other than shell that the script has run so far. The code is only analyzed when its effects
/// are needed.
#[derive(Default)]
struct CodeHistory {
    unanalyzed: Vec<CodeExecution>,
    /// How the analyzed code writes files.
    written: BTreeMap<String, CodeWrite>,
    /// The contents that the analyzed code writes.
    contents: BTreeMap<String, FileContents>,
}

/// One execution of code, with everything that its effects depend on.
struct CodeExecution {
    /// The program that runs the code.
    program: String,
    text: String,
    inputs: ProgramInputs,
    /// The directories that the program may run in.
    directories: PossibleDirectories,
}

/// How code writes a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CodeWrite {
    /// The code reads and writes the file.
    Modified,
    Replaced,
}

impl CodeHistory {
    /// Returns how the code writes a file; `None` if the code does not write the file.
    fn write_to(&mut self, path: &str) -> Option<CodeWrite> {
        for CodeExecution { program, text, inputs, directories } in std::mem::take(&mut self.unanalyzed) {
            let effects = code_analysis::analyze(&program, &text, &inputs);
            let Some(ProgramEffects { accesses, written_files, .. }) = effects else { continue };
            for (path, text) in written_files {
                let text = text.map_or(FileContents::Unknown, |text| FileContents::Text(text.into()));
                for path in paths(&directories, &path) {
                    let both =
                        self.contents.remove(&path).map_or_else(|| text.clone(), |known| known.concat(text.clone()));
                    self.contents.insert(path, both);
                }
            }
            let paths_with = |wanted: Access| accesses.iter().filter(move |(access, _)| *access == wanted);
            let read: BTreeSet<String> =
                paths_with(Access::Read).flat_map(|(_, path)| paths(&directories, path)).collect();
            for path in paths_with(Access::Write).flat_map(|(_, path)| paths(&directories, path)) {
                let write = if read.contains(&path) { CodeWrite::Modified } else { CodeWrite::Replaced };
                let known = self.written.entry(path).or_insert(write);
                *known = write.max(*known);
            }
        }
        self.written.get(path).copied()
    }
}

impl<'a> FileTracker<'a> {
    pub(crate) fn new(written_earlier: ContentsLookup<'a>) -> Self {
        let (written, open, unpacked) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { written, open, unpacked, images: BTreeMap::new(), code_history: RefCell::default(), written_earlier }
    }

    /// Returns the contents of a file that a command names, if the session wrote the file.
    pub(crate) fn contents_of(&self, command: &SimpleCommand, path: &str) -> Option<FileContents> {
        self.contents_in(command.directories(), path)
    }

    /// Like [`Self::contents_of`], for a path relative to these directories.
    pub(crate) fn contents_in(&self, directories: &PossibleDirectories, path: &str) -> Option<FileContents> {
        let paths = paths(directories, path);
        let look_up = |path: &String| {
            self.written
                .get(path)
                .cloned()
                .or_else(|| self.contents_matching(path))
                .or_else(|| (self.written_earlier)(path))
        };
        let known_contents = paths.iter().find_map(look_up);
        let mut code_history = self.code_history.borrow_mut();
        let by_code: Vec<(CodeWrite, Option<FileContents>)> = paths
            .iter()
            .filter_map(|path| Some((code_history.write_to(path)?, code_history.contents.get(path).cloned())))
            .collect();
        // A file from a person stays trusted if code only modifies it.
        if !by_code.iter().any(|(write, _)| *write == CodeWrite::Replaced || known_contents.is_some()) {
            return known_contents;
        }
        match by_code.as_slice() {
            [(CodeWrite::Replaced, Some(text))] if known_contents.is_none() => Some(text.clone()),
            _ => Some(FileContents::Unknown),
        }
    }

    /// Like [`Self::contents_of`], but only for files that the script itself has written so far.
    pub(crate) fn written_by_script(&self, command: &SimpleCommand, path: &str) -> Option<FileContents> {
        paths(command.directories(), path).iter().find_map(|path| self.written.get(path).cloned())
    }

    /// Notes that a downloaded archive is unpacked into a directory.
    pub(crate) fn note_unpacked(&mut self, command: &SimpleCommand, directory: &str) {
        self.unpacked.extend(paths(command.directories(), directory));
    }

    /// Returns [`FileContents::Unknown`] if the file may come from a downloaded archive, otherwise `None`.
    pub(crate) fn unpacked_contents(&self, command: &SimpleCommand, path: &str) -> Option<FileContents> {
        let is_in = |directory: &String, path: &str| match directory.as_str() {
            "" | "." => !path::is_rooted(path) && !leads_above_start(path),
            directory => path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')),
        };
        let paths = paths(command.directories(), path);
        let is_unpacked = paths.iter().any(|path| self.unpacked.iter().any(|directory| is_in(directory, path)));
        is_unpacked.then_some(FileContents::Unknown)
    }

    /// True if the script has written any file so far.
    pub(crate) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// Returns the files with this suffix that the script has written so far.
    pub(crate) fn with_suffix(&self, end: &str) -> Vec<&str> {
        self.written.keys().filter(|path| path.ends_with(end)).map(String::as_str).collect()
    }

    /// Returns the contents of the patches that a command applies, if the session wrote them.
    pub(crate) fn patches(&self, command: &SimpleCommand) -> Vec<Arc<str>> {
        let Some(arguments) = command.arguments().filter(|_| command.applies_patch()) else { return Vec::new() };
        let named = arguments.with_roles.iter().filter(|argument| argument.role == Role::Read);
        let named = named.filter_map(|argument| command.file_from(argument.word, argument.from));
        let is_read = |redirect: &&Redirect| matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite);
        let read = command.redirects().iter().filter(is_read).filter_map(|redirect| redirect.target.file());
        let text = |written| match written {
            FileContents::Text(text) => Some(text),
            FileContents::Unknown => None,
        };
        named.chain(read).filter_map(|path| self.contents_of(command, path).and_then(text)).collect()
    }

    /// Returns the contents of the files that match a glob, concatenated: `for f in *.sh; do bash $f; done`.
    fn contents_matching(&self, path: &str) -> Option<FileContents> {
        let pattern = Some(path).filter(|path| path.contains(['*', '?', '[']))?;
        let pattern = Pattern::parse_relative_or_absolute(pattern).ok()?;
        let files = self.written.iter().filter(|(path, _)| pattern.matches(path)).map(|(_, written)| written.clone());
        files.reduce(FileContents::concat)
    }

    /// Notes the files that a command writes. `printed`: the output of the command, if known.
    pub(crate) fn note_writes(&mut self, command: &SimpleCommand, printed: Option<&str>) {
        self.note_descriptors(command, printed);
        let mut redirects = command.redirects().iter().filter(|redirect| redirect.redirects_stdout()).peekable();
        let printed = printed.filter(|_| redirects.peek().is_some());
        let printed = printed.map_or(FileContents::Unknown, |text| FileContents::Text(text.into()));
        for redirect in redirects {
            let Some(target) = redirect.target.file() else { continue };
            let text = printed.clone();
            let text = if is_append(redirect) { self.appended(command, target, text) } else { text };
            self.set_contents(command, target, &text);
        }
        let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return };
        self.note_copies(command, program, arguments);
        self.note_code(command, program, arguments);
        self.note_compiled(command, program, arguments);
        self.note_image(command, program, arguments);
        for (path, text) in command.applied_patches().into_iter().flat_map(patch::created_files) {
            self.set_contents(command, path, &FileContents::Text(text.into()));
        }
        let named = |role: Role| {
            let of_role = arguments.with_roles.iter().filter(move |argument| argument.role == role);
            of_role.filter_map(|argument| command.file_from(argument.word, argument.from))
        };
        match command.program() {
            Some("tee") => {
                let is_appended = arguments.has_flag(&["-a", "--append"]);
                let stdin = command.stdin_text().filter(|_| !is_appended);
                let text = stdin.map(Arc::from).map_or(FileContents::Unknown, FileContents::Text);
                named(Role::Write).for_each(|path| self.set_contents(command, path, &text));
            }
            Some(program) if downloads_files(program) => {
                let named_files = named(Role::Write).map(str::to_owned);
                for path in named_files.chain(downloaded_names(command)).collect::<Vec<_>>() {
                    self.set_contents(command, &path, &FileContents::Unknown);
                }
            }
            // These programs write contents that are not known.
            Some(
                "mkfifo" | "mknod" | "dd" | "sponge" | "base64" | "xxd" | "openssl" | "gpg" | "sort" | "shuf" | "uniq",
            ) => {
                named(Role::Write).for_each(|path| self.set_contents(command, path, &FileContents::Unknown));
            }
            Some("gunzip" | "bunzip2" | "unxz" | "unzstd" | "gzip" | "bzip2" | "xz" | "zstd") => {
                let packed: Vec<&str> =
                    named(Role::Edit).filter(|path| self.contents_of(command, path).is_some()).collect();
                for (path, _) in packed.into_iter().filter_map(|path| path.rsplit_once('.')) {
                    self.set_contents(command, path, &FileContents::Unknown);
                }
            }
            Some("sed" | "gsed" | "patch") => {
                let known: Vec<&str> =
                    named(Role::Edit).filter(|path| self.contents_of(command, path).is_some()).collect();
                for path in known {
                    self.set_contents(command, path, &FileContents::Unknown);
                }
            }
            _ => {}
        }
    }

    /// Notes the files that `exec 3> FILE` opens, and the output that commands append to them with `>&3`.
    fn note_descriptors(&mut self, command: &SimpleCommand, printed: Option<&str>) {
        let opens = command.program() == Some("exec") && command.words().len() == 1;
        for redirect in command.redirects() {
            let number = || redirect.target.value.as_deref()?.parse::<i32>().ok();
            match redirect.descriptor {
                Some(descriptor @ 3..) if opens && redirect.writes_a_file() => {
                    let Some(path) = redirect.target.file() else { continue };
                    if !is_append(redirect) {
                        self.set_contents(command, path, &FileContents::Text(Arc::default()));
                    }
                    self.open.insert(descriptor, path.to_owned());
                }
                None | Some(1) if redirect.kind == RedirectKind::DuplicateOutput => {
                    let Some(path) = number().and_then(|number| self.open.get(&number)).cloned() else { continue };
                    let text = printed.map_or(FileContents::Unknown, |text| FileContents::Text(text.into()));
                    let text = self.appended(command, &path, text);
                    self.set_contents(command, &path, &text);
                }
                _ => {}
            }
        }
    }

    /// Notes the files that a command copies, moves or links.
    fn note_copies(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        // `cp <(…) FILE` writes the output of the substitution.
        if let Some(printed) = command.words().iter().find(|word| word.is_process_substitution()) {
            let text = printed.contents.as_deref().map(Arc::from).map_or(FileContents::Unknown, FileContents::Text);
            for path in destinations(command, program, arguments) {
                self.set_contents(command, path, &text);
            }
        }
        for copy in file_copies(command, program, arguments) {
            let fetched = copy.is_remote_source().then_some(FileContents::Unknown);
            // `cp /dev/stdin FILE` writes the contents of stdin.
            let is_input = Word::known(copy.from).is_stdin_device();
            let read = || command.stdin_text().map(Arc::from).map_or(FileContents::Unknown, FileContents::Text);
            let known = fetched.or_else(|| if is_input { Some(read()) } else { self.contents_of(command, copy.from) });
            let Some(text) = known else { continue };
            self.set_contents(command, copy.to, &text);
            if let Some(path) = copy.path_in_directory() {
                self.set_contents(command, &path, &text);
            }
        }
    }

    /// Notes a compiled program. The program does what its source does, so the program counts as a script with the
    /// contents of the source. The script's shebang names the language.
    fn note_compiled(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        let named = |role: Role| {
            let of_role = arguments.with_roles.iter().filter(move |argument| argument.role == role);
            of_role.filter_map(|argument| command.value_or_placeholder_from(argument.word, argument.from))
        };
        let is_go = program == "go" && arguments.subcommands.first().is_some_and(|form| form == "build");
        let is_compiler = is_go
            || matches!(program, "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "tcc" | "rustc" | "zig" | "ld");
        let sources: Vec<&str> = named(Role::Read).filter(|_| is_compiler).collect();
        let mut compiled = sources.iter().filter_map(|source| {
            let text = match *source {
                "-" => FileContents::Text(command.stdin_text()?.into()),
                source => self.contents_of(command, source)?,
            };
            let FileContents::Text(text) = text else { return Some(FileContents::Unknown) };
            // An object file already counts as having the contents of its source. The compiler only links the file.
            if shebang_program(&text).starts_with(COMPILED) {
                return Some(FileContents::Text(text));
            }
            let language = if *source == "-" { "compiled-c" } else { interpreter_of(source)? };
            language.starts_with(COMPILED).then(|| FileContents::Text(format!("#!{language}\n{text}").into()))
        });
        let Some(first) = compiled.next() else { return };
        let text = compiled.fold(first, FileContents::concat);
        let stem = sources.first().and_then(|source| source.rsplit('/').next()?.split('.').next());
        let output = named(Role::Write).next().map(str::to_owned).or_else(|| match program {
            "rustc" | "go" => stem.map(str::to_owned),
            _ if arguments.has_flag(&["-c"]) => stem.map(|stem| format!("{stem}.o")),
            _ => Some("a.out".to_owned()),
        });
        if let Some(output) = output {
            self.set_contents(command, &output, &text);
        }
    }

    /// Notes the file that `docker build -t NAME .` builds an image from.
    fn note_image(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        let builds = arguments.subcommands.last().is_some_and(|form| form == "build");
        if !builds || !matches!(program, "docker" | "podman" | "nerdctl") {
            return;
        }
        let text = |argument: Argument| command.text_from(argument.word, argument.from);
        let values = |name: &'static str| {
            arguments.flags.iter().filter(move |flag| flag.is(name)).filter_map(|flag| flag.value).filter_map(text)
        };
        let directory = arguments.operands.first().and_then(|index| command.text_from(*index, 0)).unwrap_or(".");
        let file = values("-f")
            .next()
            .map_or_else(|| format!("{}/Dockerfile", directory.trim_end_matches('/')), str::to_owned);
        let written = match directory {
            "-" => command.stdin_text().map(|text| FileContents::Text(text.into())),
            _ => self.written_by_script(command, &file),
        };
        if let Some(written) = written {
            let names: Vec<String> = values("-t").map(str::to_owned).collect();
            self.images.extend(names.into_iter().map(|name| (name, written.clone())));
        }
    }

    /// Returns the contents of the file that the script has built an image from.
    pub(crate) fn image_source(&self, name: &str) -> Option<&FileContents> {
        self.images.get(name)
    }

    /// Notes the code in a command's arguments and stdin.
    fn note_code(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        if !is_readable(program) {
            return;
        }
        let codes = arguments.with_roles.iter().filter(|argument| argument.role == Role::Code);
        let codes = codes.filter_map(|code| command.value_or_placeholder_from(code.word, code.from));
        let stdin = command.stdin_text().filter(|_| takes_script_from_stdin(program, arguments, command.words()));
        for text in codes.chain(stdin) {
            self.note_code_text(command, program, text);
        }
    }

    /// Notes the code in the script file that a command runs.
    pub(crate) fn note_script(&mut self, command: &SimpleCommand) {
        let program = command.program().filter(|program| is_readable(program));
        if let Some((program, text)) = program.zip(command.script_text()) {
            self.note_code_text(command, program, text);
        }
    }

    fn note_code_text(&mut self, command: &SimpleCommand, program: &str, text: &str) {
        let (program, text) = (program.to_owned(), text.to_owned());
        let code = CodeExecution {
            program,
            text,
            inputs: program_inputs(command),
            directories: command.directories().clone(),
        };
        self.code_history.get_mut().unanalyzed.push(code);
    }

    /// Returns the contents of a file after the text `text` is appended to the file.
    fn appended(&self, command: &SimpleCommand, path: &str, text: FileContents) -> FileContents {
        match (self.contents_of(command, path), text) {
            (Some(FileContents::Text(before)), FileContents::Text(text))
                if before.len() + text.len() <= MAX_CONTENTS =>
            {
                FileContents::Text([before, text].concat().into())
            }
            // A file from a person is trusted, but the appended text is not.
            (None, text) => text,
            _ => FileContents::Unknown,
        }
    }

    fn set_contents(&mut self, command: &SimpleCommand, path: &str, text: &FileContents) {
        for path in paths(command.directories(), path) {
            self.written.insert(path, text.clone());
        }
    }
}

/// Returns the possible paths of a file, relative to the directory in which the script starts.
fn paths(directories: &PossibleDirectories, path: &str) -> Vec<String> {
    let directories = directories.after_cd(path);
    // An unknown directory could be the directory in which the script starts.
    directories
        .list()
        .map_or_else(|| vec![normalize_path(path)], |paths| paths.iter().map(|path| normalize_path(path)).collect())
}

fn is_append(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Append | RedirectKind::AppendAll)
}
