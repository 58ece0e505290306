//! Files that were written before they are run: by the script itself, or earlier in the session.
//!
//! `echo … > x.sh && bash x.sh` runs what `echo` prints. What earlier calls wrote is told by whoever asked for the script to
//! be read; a file that nobody speaks of is one that people wrote, and is nobody's business here.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use code::{OneLiner, ProgramInputs};
use path::Access;
use path::pattern::Pattern;

use crate::model::{
    Earlier, Folders, MAX_WRITTEN, Redirect, RedirectKind, SimpleCommand, Word, Written, climbs, plain,
};
use crate::programs::{Argument, Arguments, Role};
use crate::special_programs::copied::{copies, targets};
use crate::special_programs::fetched::{fetched, fetches};
use crate::special_programs::interpreter::{COMPILED, interpreter_of, runs_its_input, shebang_program};
use crate::special_programs::language::is_readable;
use crate::special_programs::one_liner::{self, given};
use crate::special_programs::patch;

pub(crate) struct Files<'a> {
    /// By the script so far.
    written: BTreeMap<String, Written>,
    /// Those that are open for writing, by their descriptors: `exec 3> FILE`.
    open: BTreeMap<i32, String>,
    /// Folders that fetched archives were unpacked into.
    unpacked: Vec<String>,
    /// What images of containers are built from, by their names.
    images: BTreeMap<String, Written>,
    codes: RefCell<Codes>,
    earlier: Earlier<'a>,
}

/// Program texts in other languages that have run so far. They are read when somebody asks.
#[derive(Default)]
struct Codes {
    unread: Vec<Code>,
    /// What those that were read do to files.
    written: BTreeMap<String, ByCode>,
    /// What is then in them.
    texts: BTreeMap<String, Written>,
}

/// A program text, with all that what it does depends on.
struct Code {
    /// What runs it.
    program: String,
    text: String,
    given: ProgramInputs,
    /// Where it runs.
    folders: Folders,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ByCode {
    /// It is read as well.
    Changed,
    Anew,
}

impl Codes {
    /// What any of them does to a file; `None` where none writes it.
    fn writes(&mut self, path: &str) -> Option<ByCode> {
        for Code { program, text, given, folders } in std::mem::take(&mut self.unread) {
            let Some(OneLiner { touches, contents, .. }) = one_liner::read(&program, &text, &given) else { continue };
            for (path, text) in contents {
                let text = text.map_or(Written::Unknown, |text| Written::Text(text.into()));
                for path in paths(&folders, &path) {
                    let both = self.texts.remove(&path).map_or_else(|| text.clone(), |known| known.then(text.clone()));
                    self.texts.insert(path, both);
                }
            }
            let of = |wanted: Access| touches.iter().filter(move |(access, _)| *access == wanted);
            let read: BTreeSet<String> = of(Access::Read).flat_map(|(_, path)| paths(&folders, path)).collect();
            for path in of(Access::Write).flat_map(|(_, path)| paths(&folders, path)) {
                let how = if read.contains(&path) { ByCode::Changed } else { ByCode::Anew };
                let known = self.written.entry(path).or_insert(how);
                *known = how.max(*known);
            }
        }
        self.written.get(path).copied()
    }
}

impl<'a> Files<'a> {
    pub(crate) fn new(earlier: Earlier<'a>) -> Self {
        let (written, open, unpacked) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { written, open, unpacked, images: BTreeMap::new(), codes: RefCell::default(), earlier }
    }

    /// What is in a file that a command names, if it was written in the session.
    pub(crate) fn get(&self, command: &SimpleCommand, path: &str) -> Option<Written> {
        self.at(command.folders(), path)
    }

    /// The same, where the folders are known that it is named in.
    pub(crate) fn at(&self, folders: &Folders, path: &str) -> Option<Written> {
        let paths = paths(folders, path);
        let told = |path: &String| {
            self.written.get(path).cloned().or_else(|| self.matching(path)).or_else(|| (self.earlier)(path))
        };
        let told = paths.iter().find_map(told);
        let mut codes = self.codes.borrow_mut();
        let by_code: Vec<(ByCode, Option<Written>)> =
            paths.iter().filter_map(|path| Some((codes.writes(path)?, codes.texts.get(path).cloned()))).collect();
        // What people wrote stays theirs if it is only changed.
        if !by_code.iter().any(|(how, _)| *how == ByCode::Anew || told.is_some()) {
            return told;
        }
        match by_code.as_slice() {
            [(ByCode::Anew, Some(text))] if told.is_none() => Some(text.clone()),
            _ => Some(Written::Unknown),
        }
    }

    /// The same, only of what the script itself has written so far.
    pub(crate) fn of_script(&self, command: &SimpleCommand, path: &str) -> Option<Written> {
        paths(command.folders(), path).iter().find_map(|path| self.written.get(path).cloned())
    }

    pub(crate) fn note_unpacked(&mut self, command: &SimpleCommand, folder: &str) {
        self.unpacked.extend(paths(command.folders(), folder));
    }

    /// The same of a file that may have come out of a fetched archive.
    pub(crate) fn unpacked(&self, command: &SimpleCommand, path: &str) -> Option<Written> {
        let is_in = |folder: &String, path: &str| match folder.as_str() {
            "" | "." => !path::is_rooted(path) && !climbs(path),
            folder => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        };
        let paths = paths(command.folders(), path);
        let is_one = paths.iter().any(|path| self.unpacked.iter().any(|folder| is_in(folder, path)));
        is_one.then_some(Written::Unknown)
    }

    /// Whether the script has written anything so far.
    pub(crate) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// Those that the script has written so far, by how their names end.
    pub(crate) fn ending(&self, end: &str) -> Vec<&str> {
        self.written.keys().filter(|path| path.ends_with(end)).map(String::as_str).collect()
    }

    /// What is in the files of patches that a command applies, as far as those were written in the session.
    pub(crate) fn patches(&self, command: &SimpleCommand) -> Vec<Arc<str>> {
        let Some(arguments) = command.arguments().filter(|_| command.applies_patch()) else { return Vec::new() };
        let named = arguments.list.iter().filter(|argument| argument.role == Role::Read);
        let named = named.filter_map(|argument| command.file_from(argument.word, argument.from));
        let is_read = |redirect: &&Redirect| matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite);
        let read = command.redirects().iter().filter(is_read).filter_map(|redirect| redirect.target.file());
        let text = |written| match written {
            Written::Text(text) => Some(text),
            Written::Unknown => None,
        };
        named.chain(read).filter_map(|path| self.get(command, path).and_then(text)).collect()
    }

    /// What is in the files that a pattern stands for, one behind the other: `for f in *.sh; do bash $f; done`.
    fn matching(&self, path: &str) -> Option<Written> {
        let pattern = Some(path).filter(|path| path.contains(['*', '?', '[']))?;
        let pattern = Pattern::parse_anywhere(pattern).ok()?;
        let files = self.written.iter().filter(|(path, _)| pattern.matches(path)).map(|(_, written)| written.clone());
        files.reduce(Written::then)
    }

    /// `printed`: what the command prints, where that is known.
    pub(crate) fn note(&mut self, command: &SimpleCommand, printed: Option<&str>) {
        self.note_descriptors(command, printed);
        let mut redirects = command.redirects().iter().filter(|redirect| redirect.takes_output()).peekable();
        let printed = printed.filter(|_| redirects.peek().is_some());
        let printed = printed.map_or(Written::Unknown, |text| Written::Text(text.into()));
        for redirect in redirects {
            let Some(target) = redirect.target.file() else { continue };
            let text = printed.clone();
            let text = if is_append(redirect) { self.appended(command, target, text) } else { text };
            self.put(command, target, &text);
        }
        let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return };
        self.note_copies(command, program, arguments);
        self.note_code(command, program, arguments);
        self.note_compiled(command, program, arguments);
        self.note_image(command, program, arguments);
        for (path, text) in command.applied_patches().into_iter().flat_map(patch::made) {
            self.put(command, path, &Written::Text(text.into()));
        }
        let named = |role: Role| {
            let of_role = arguments.list.iter().filter(move |argument| argument.role == role);
            of_role.filter_map(|argument| command.file_from(argument.word, argument.from))
        };
        match command.program() {
            Some("tee") => {
                let is_appended = arguments.has_flag(&["-a", "--append"]);
                let fed = command.given_text().filter(|_| !is_appended);
                let text = fed.map(Arc::from).map_or(Written::Unknown, Written::Text);
                named(Role::Write).for_each(|path| self.put(command, path, &text));
            }
            Some(program) if fetches(program) => {
                let given = named(Role::Write).map(str::to_owned);
                for path in given.chain(fetched(command)).collect::<Vec<_>>() {
                    self.put(command, &path, &Written::Unknown);
                }
            }
            // These fill a file with what nobody has seen.
            Some(
                "mkfifo" | "mknod" | "dd" | "sponge" | "base64" | "xxd" | "openssl" | "gpg" | "sort" | "shuf" | "uniq",
            ) => {
                named(Role::Write).for_each(|path| self.put(command, path, &Written::Unknown));
            }
            Some("gunzip" | "bunzip2" | "unxz" | "unzstd" | "gzip" | "bzip2" | "xz" | "zstd") => {
                let packed: Vec<&str> = named(Role::Edit).filter(|path| self.get(command, path).is_some()).collect();
                for (path, _) in packed.into_iter().filter_map(|path| path.rsplit_once('.')) {
                    self.put(command, path, &Written::Unknown);
                }
            }
            Some("sed" | "gsed" | "patch") => {
                let known: Vec<&str> = named(Role::Edit).filter(|path| self.get(command, path).is_some()).collect();
                for path in known {
                    self.put(command, path, &Written::Unknown);
                }
            }
            _ => {}
        }
    }

    /// `exec 3> FILE`, and what `>&3` adds to it.
    fn note_descriptors(&mut self, command: &SimpleCommand, printed: Option<&str>) {
        let opens = command.program() == Some("exec") && command.words().len() == 1;
        for redirect in command.redirects() {
            let number = || redirect.target.value.as_deref()?.parse::<i32>().ok();
            match redirect.descriptor {
                Some(descriptor @ 3..) if opens && redirect.writes_a_file() => {
                    let Some(path) = redirect.target.file() else { continue };
                    if !is_append(redirect) {
                        self.put(command, path, &Written::Text(Arc::default()));
                    }
                    self.open.insert(descriptor, path.to_owned());
                }
                None | Some(1) if redirect.kind == RedirectKind::DuplicateOutput => {
                    let Some(path) = number().and_then(|number| self.open.get(&number)).cloned() else { continue };
                    let text = printed.map_or(Written::Unknown, |text| Written::Text(text.into()));
                    let text = self.appended(command, &path, text);
                    self.put(command, &path, &text);
                }
                _ => {}
            }
        }
    }

    fn note_copies(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        // `cp <(…) FILE`
        if let Some(printed) = command.words().iter().find(|word| word.is_process()) {
            let text = printed.given.as_deref().map(Arc::from).map_or(Written::Unknown, Written::Text);
            for path in targets(command, program, arguments) {
                self.put(command, path, &text);
            }
        }
        for copy in copies(command, program, arguments) {
            let fetched = copy.is_fetched().then_some(Written::Unknown);
            // What it reads becomes the file.
            let is_input = Word::known(copy.from).is_standard_input();
            let read = || command.given_text().map(Arc::from).map_or(Written::Unknown, Written::Text);
            let known = fetched.or_else(|| if is_input { Some(read()) } else { self.get(command, copy.from) });
            let Some(text) = known else { continue };
            self.put(command, copy.to, &text);
            if let Some(path) = copy.within() {
                self.put(command, &path, &text);
            }
        }
    }

    /// What is compiled does what its source says: as if that were a script, for what would run it.
    fn note_compiled(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        let named = |role: Role| {
            let of_role = arguments.list.iter().filter(move |argument| argument.role == role);
            of_role.filter_map(|argument| command.meaning_from(argument.word, argument.from))
        };
        let is_go = program == "go" && arguments.subcommands.first().is_some_and(|form| form == "build");
        let is_compiler = is_go
            || matches!(program, "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "tcc" | "rustc" | "zig" | "ld");
        let sources: Vec<&str> = named(Role::Read).filter(|_| is_compiler).collect();
        let mut compiled = sources.iter().filter_map(|source| {
            let text = match *source {
                "-" => Written::Text(command.given_text()?.into()),
                source => self.get(command, source)?,
            };
            let Written::Text(text) = text else { return Some(Written::Unknown) };
            // What was compiled before is only put together.
            if shebang_program(&text).starts_with(COMPILED) {
                return Some(Written::Text(text));
            }
            let language = if *source == "-" { "compiled-c" } else { interpreter_of(source)? };
            language.starts_with(COMPILED).then(|| Written::Text(format!("#!{language}\n{text}").into()))
        });
        let Some(first) = compiled.next() else { return };
        let text = compiled.fold(first, Written::then);
        let stem = sources.first().and_then(|source| source.rsplit('/').next()?.split('.').next());
        let output = named(Role::Write).next().map(str::to_owned).or_else(|| match program {
            "rustc" | "go" => stem.map(str::to_owned),
            _ if arguments.has_flag(&["-c"]) => stem.map(|stem| format!("{stem}.o")),
            _ => Some("a.out".to_owned()),
        });
        if let Some(output) = output {
            self.put(command, &output, &text);
        }
    }

    /// `docker build -t NAME .`
    fn note_image(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        let builds = arguments.subcommands.last().is_some_and(|form| form == "build");
        if !builds || !matches!(program, "docker" | "podman" | "nerdctl") {
            return;
        }
        let text = |argument: Argument| command.text_from(argument.word, argument.from);
        let values = |name: &'static str| {
            arguments.flags.iter().filter(move |flag| flag.is(name)).filter_map(|flag| flag.value).filter_map(text)
        };
        let folder = arguments.operands.first().and_then(|place| command.text_from(*place, 0)).unwrap_or(".");
        let file =
            values("-f").next().map_or_else(|| format!("{}/Dockerfile", folder.trim_end_matches('/')), str::to_owned);
        let written = match folder {
            "-" => command.given_text().map(|text| Written::Text(text.into())),
            _ => self.of_script(command, &file),
        };
        if let Some(written) = written {
            let names: Vec<String> = values("-t").map(str::to_owned).collect();
            self.images.extend(names.into_iter().map(|name| (name, written.clone())));
        }
    }

    /// What an image was built from by the script.
    pub(crate) fn image(&self, name: &str) -> Option<&Written> {
        self.images.get(name)
    }

    fn note_code(&mut self, command: &SimpleCommand, program: &str, arguments: &Arguments) {
        if !is_readable(program) {
            return;
        }
        let codes = arguments.list.iter().filter(|argument| argument.role == Role::Code);
        let codes = codes.filter_map(|code| command.meaning_from(code.word, code.from));
        let fed = command.given_text().filter(|_| runs_its_input(program, arguments, command.words()));
        for text in codes.chain(fed) {
            self.note_text(command, program, text);
        }
    }

    /// The same, of a file that it runs.
    pub(crate) fn note_script(&mut self, command: &SimpleCommand) {
        let program = command.program().filter(|program| is_readable(program));
        if let Some((program, text)) = program.zip(command.script_text()) {
            self.note_text(command, program, text);
        }
    }

    fn note_text(&mut self, command: &SimpleCommand, program: &str, text: &str) {
        let (program, text) = (program.to_owned(), text.to_owned());
        let code = Code { program, text, given: given(command), folders: command.folders().clone() };
        self.codes.get_mut().unread.push(code);
    }

    fn appended(&self, command: &SimpleCommand, path: &str, text: Written) -> Written {
        match (self.get(command, path), text) {
            (Some(Written::Text(before)), Written::Text(text)) if before.len() + text.len() <= MAX_WRITTEN => {
                Written::Text([before, text].concat().into())
            }
            // What people wrote is theirs; what is added is not.
            (None, text) => text,
            _ => Written::Unknown,
        }
    }

    fn put(&mut self, command: &SimpleCommand, path: &str, text: &Written) {
        for path in paths(command.folders(), path) {
            self.written.insert(path, text.clone());
        }
    }
}

/// Where a path may lead, from where the script starts.
fn paths(folders: &Folders, path: &str) -> Vec<String> {
    let folders = folders.then(path);
    // In a folder that is not known, it could be here.
    folders.list().map_or_else(|| vec![plain(path)], |paths| paths.iter().map(|path| plain(path)).collect())
}

fn is_append(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Append | RedirectKind::AppendAll)
}
