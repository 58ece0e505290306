//! What a script would do to files: which it reads, writes and deletes, by the words and redirections of its commands.
//!
//! What an argument is to its program is told by [`crate::programs`]. Of a program that is not known there, every piece of
//! every word that could be a path is one, and nobody knows what for. Words that are data to their program (a message, a
//! search pattern) name nothing.

use super::command::{RedirectKind, SimpleCommand, Word};
use super::container::is_disk;
use super::copied::{Copy, copies};
use super::fetched::fetched;
use super::given::given;
use super::through::{is_awk, runs_its_input};
use super::written::{Written, plain};
use super::{Folders, Script, awk, ex, find, naming, patch, sed};
use crate::event::Access;
use crate::one_liner;
use crate::paths;
use crate::programs::{self, Argument, Arguments, Role};

/// What a path stands for beside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    Nothing,
    /// All that it matches for a shell.
    Shell,
    /// All that it matches for a search: what is hidden is meant too.
    Search,
}

/// One thing that is done to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// As it is written; `None` where that is not known before it runs.
    pub path: Option<String>,
    /// For people, where the path is not known.
    pub raw: String,
    /// `None`: who knows what for.
    pub access: Option<Access>,
    /// It is deleted, or written, with all that is in it.
    pub takes_all: bool,
    /// What the path stands for beside itself.
    pub pattern: Pattern,
    /// It is what a variable is set to, of which nothing says that it is written to.
    pub is_setting: bool,
    /// The command that does it: a place in [`Script::commands`], or none for a word that may come to any of them.
    pub command: Option<usize>,
    /// What the path is relative to.
    pub folders: Folders,
}

impl Script {
    /// In order; a path may come more than once.
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut links: Vec<Link> = Vec::new();
        for (place, command) in self.commands.iter().enumerate() {
            let first = effects.len();
            let folders = command.folders.clone();
            let mut found = Found { command, place, folders, is_setting: false, effects: &mut effects };
            found.in_redirects();
            found.in_words();
            if let Some(container) = &command.container {
                let within = effects.split_off(first);
                effects.extend(within.iter().flat_map(|effect| container.on_host(effect)));
            }
            let mut next = first..effects.len();
            // A link may lead to another.
            for _ in 0..MAX_LINKS_IN_A_ROW {
                let reached = effects.get(next).unwrap_or_default().iter();
                let through = reached.flat_map(|effect| links.iter().flat_map(|link| link.followed(effect)));
                let through: Vec<Effect> = through.collect();
                // Those that lead in a circle lead nowhere new.
                let known = effects.get(first..).unwrap_or_default();
                let is_new = |effect: &Effect| !known.contains(effect);
                let through: Vec<Effect> = through.into_iter().filter(is_new).take(MAX_FOLLOWED).collect();
                next = effects.len()..effects.len() + through.len();
                effects.extend(through);
            }
            links.extend(Link::made_by(command).filter(|_| links.len() < MAX_LINKS));
            let copied = Link::copied_by(command);
            links.extend(copied.into_iter().take(MAX_LINKS.saturating_sub(links.len())));
        }
        for word in &self.loose {
            for piece in pieces(word) {
                effects.push(Effect {
                    path: Some(piece.to_owned()),
                    raw: piece.to_owned(),
                    access: None,
                    takes_all: false,
                    pattern: Pattern::Nothing,
                    is_setting: false,
                    command: None,
                    folders: Folders::default(),
                });
            }
        }
        effects
    }
}

/// More are not followed: each is compared with every path.
const MAX_LINKS: usize = 16;

/// Links that lead to links are followed so far.
const MAX_LINKS_IN_A_ROW: usize = 8;
/// What one command does through links.
const MAX_FOLLOWED: usize = 1024;

/// A link that an earlier command of the script makes.
struct Link {
    name: String,
    target: String,
    /// It may be none, so that only what is deleted through it counts.
    only_deletes: bool,
}

impl Link {
    fn made_by(command: &SimpleCommand) -> Option<Self> {
        let arguments = command.arguments.as_ref().filter(|_| command.program() == Some("ln"))?;
        let (target, name) = match arguments.operands.as_slice() {
            [target, name] => (command.meaning_from(*target, 0)?, command.meaning_from(*name, 0)?),
            [target] => {
                command.meaning_from(*target, 0).map(|target| (target, target.rsplit('/').next().unwrap_or(target)))?
            }
            _ => return None,
        };
        // What it leads to is told from where it lies.
        let folder = name.rsplit_once('/').filter(|_| !paths::is_free(target));
        let target = folder.map_or_else(|| target.to_owned(), |(folder, _)| format!("{folder}/{target}"));
        Some(Self { name: plain(name), target, only_deletes: false })
    }

    /// What is copied or moved as it is may be a link, and leads where it led before.
    fn copied_by(command: &SimpleCommand) -> Vec<Self> {
        const KEEPING: &[&str] =
            &["-a", "--archive", "-d", "-P", "--no-dereference", "-r", "-R", "--recursive", "-l", "--links"];
        let Some((program, arguments)) = command.program().zip(command.arguments.as_ref()) else { return Vec::new() };
        let keeps = matches!(program, "mv" | "gmv") || program != "ln" && arguments.has_flag(KEEPING);
        // Where a path leads out by itself, what is done to the copy is not done there; nor are settings copies of themselves.
        let may_be_link = |from: &str| !paths::is_free(from) && !from.starts_with('.') && !from.contains("..");
        let copies = copies(command, program, arguments).into_iter().filter(|copy| keeps && may_be_link(copy.from));
        let link = |name: &str, copy: &Copy| Self { name: plain(name), target: plain(copy.from), only_deletes: true };
        copies
            .flat_map(|copy| [Some(link(copy.to, &copy)), copy.within().map(|name| link(&name, &copy))])
            .flatten()
            .collect()
    }

    /// The same, done to what the link leads to. To delete a link is not to delete that, unless a slash stands behind it.
    fn followed(&self, effect: &Effect) -> Vec<Effect> {
        let is_within =
            effect.path.as_deref().is_some_and(|path| path == "." || path.ends_with('/') || path.ends_with("/."));
        let end = if is_within { "/" } else { "" };
        let places = effect.path.as_deref().and_then(|path| effect.folders.then(path).list().map(<[_]>::to_vec));
        let through = |place: String| {
            let path = plain(&place);
            let rest = path.strip_prefix(&self.name)?;
            let counts = !self.only_deletes || effect.access == Some(Access::Delete);
            let reaches_it = rest.is_empty() && (is_within || effect.access != Some(Access::Delete));
            let is_through = counts && (rest.starts_with('/') || reaches_it);
            let path = Some(format!("{}{rest}{end}", self.target));
            is_through.then(|| Effect { path, folders: Folders::default(), ..effect.clone() })
        };
        places.into_iter().flatten().filter_map(through).collect()
    }
}

struct Found<'a> {
    command: &'a SimpleCommand,
    place: usize,
    folders: Folders,
    /// Of what is added: whether it is what a variable is set to.
    is_setting: bool,
    effects: &'a mut Vec<Effect>,
}

impl Found<'_> {
    fn add(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        let is_all = path.is_some_and(|path| word.folder_of_all(path).is_some());
        self.add_deed(path, word, access, is_all && matches!(access, Some(Access::Write | Access::Delete)));
        self.add_loss(path, word, access);
    }

    /// Of all that lay where something is written.
    fn add_loss(&mut self, path: Option<&str>, word: &Word, access: Option<Access>) {
        if access == Some(Access::Write) && path.is_some_and(loses_all) {
            self.add_deletion_of_all(path, word);
        }
    }

    /// Deletes it, and all that is in it.
    fn add_deletion_of_all(&mut self, path: Option<&str>, word: &Word) {
        self.add_deed(path, word, Some(Access::Delete), true);
    }

    fn add_deed(&mut self, path: Option<&str>, word: &Word, access: Option<Access>, takes_all: bool) {
        if let Some((path, folder)) = path.and_then(|path| Some((path, word.folder_of_all(path)?))) {
            let glob = folder.contains(['*', '?', '[']);
            if takes_all || !glob {
                self.add_deed(Some(folder), &Word { glob, ..word.clone() }, access, takes_all);
            }
            // To look into all that is there is not to read each of it.
            if !takes_all {
                self.add_deed(path.strip_suffix('*'), word, access, false);
            }
            return;
        }
        // Of one that nobody knows, the end may still tell what it is.
        if let (None, Some(Access::Read | Access::Write), Some((_, name))) =
            (path, access, word.known_end().split_once('/'))
        {
            self.add(Some(name), word, None);
        }
        // Where somebody else's home is, nobody here knows; what is in it has its name all the same.
        let is_others = |path: &str| word.tilde && path.starts_with('~') && path != "~" && !path.starts_with("~/");
        if let (Some((_, name)), Some(Access::Read | Access::Write)) =
            (path.filter(|path| is_others(path)).and_then(|path| path.split_once('/')), access)
        {
            self.add(Some(name), &Word { tilde: false, ..word.clone() }, None);
        }
        // The input, or the output; and no file is called nothing.
        if path == Some("-") || path == Some("") && word.value.as_deref() == Some("") {
            return;
        }
        self.effects.push(Effect {
            path: path.filter(|path| !is_others(path)).map(str::to_owned),
            raw: path.map_or_else(|| word.raw.clone(), str::to_owned),
            access,
            takes_all,
            pattern: if word.glob || self.folders.has_pattern() { Pattern::Shell } else { Pattern::Nothing },
            is_setting: self.is_setting,
            command: Some(self.place),
            folders: self.folders.clone(),
        });
    }

    fn in_redirects(&mut self) {
        let command = self.command;
        for redirect in &command.redirects {
            let target = &redirect.target;
            if matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) {
                self.add(target.meaning(), target, Some(Access::Read));
            }
            if redirect.writes_a_file() {
                self.add(target.meaning(), target, Some(Access::Write));
            }
        }
        // What a variable of the shell holds counts where it is used.
        let is_path = |value: &Word| !value.value.as_deref().is_some_and(|text| text.contains(char::is_whitespace));
        for assignment in command.assignments.iter().filter(|_| !command.words.is_empty()) {
            if is_path(&assignment.value) && !names_credentials(&assignment.name) {
                self.is_setting = !names_a_target(&assignment.name);
                self.mentioned(&assignment.value);
            }
        }
        self.is_setting = false;
    }

    fn in_words(&mut self) {
        let command = self.command;
        let Some(program) = command.program() else {
            return command.words.iter().for_each(|word| self.mentioned(word));
        };
        if find::is_find(program) {
            return self.in_find();
        }
        let Some(known) = &command.arguments else {
            return self.in_unknown_program();
        };
        for argument in known.list.iter().filter(|argument| argument.role == Role::Folder) {
            let folder = command.meaning_from(argument.word, argument.from);
            self.folders = folder.map_or_else(Folders::unknown, |folder| self.folders.then(folder));
        }
        if program == "git" {
            self.enter_work_tree();
        }
        let keeps_to_itself = self.keeps_to_itself();
        for argument in &known.list {
            self.argument(argument, keeps_to_itself);
        }
        let is_code = one_liner::is_readable(program) || is_awk(program);
        if let Some(Written::Text(text)) = command.script.as_ref().filter(|_| is_code) {
            self.in_code(&Word::known(program), Some(text));
        } else if one_liner::is_readable(program)
            && runs_its_input(program, known, &command.words)
            && let Some(text) = command.given_text()
        {
            self.in_code(&Word { raw: program.to_owned(), ..Word::default() }, Some(text));
        } else if programs::is_interpreter(program)
            && !programs::takes_shell_text(program)
            && runs_its_input(program, known, &command.words)
            && let Some(text) = command.given_text()
        {
            // Nobody here can read it; it names what it names.
            self.mentioned(&Word::known(text));
        }
        for (access, path) in ex::scripts(command, known).iter().flat_map(|script| ex::read(script).touches) {
            self.add(Some(&path), &Word::known(&path), Some(access));
        }
        for (access, path) in
            command.script_text().filter(|_| sed::is_sed(program)).map(sed::read).unwrap_or_default().touches
        {
            self.add(Some(&path), &Word::known(&path), Some(access));
        }
        self.in_names(program, known);
        self.in_words_of_code(program, known);
        self.copied_into(program, known);
        for name in fetched(command) {
            self.add(Some(&name), &Word::known(&name), Some(Access::Write));
        }
        self.in_patches();
        if program == "git" && self.moves_hooks(known) {
            self.add(Some(".git/hooks"), &Word::default(), Some(Access::Write));
        }
        if program == "git" && self.hides_files(known) {
            self.add(Some(".git/info/exclude"), &Word::default(), Some(Access::Write));
        }
        for (role, path) in &known.implied {
            let word = Word { raw: (*path).to_owned(), value: Some((*path).to_owned()), ..Word::default() };
            for access in accesses(*role) {
                self.add(Some(path), &word, *access);
            }
        }
    }

    /// `GIT_WORK_TREE=… git clean`
    fn enter_work_tree(&mut self) {
        const NAME: &str = "GIT_WORK_TREE";
        let command = self.command;
        let set = command.assignments.iter().rfind(|set| set.name == NAME).map(|set| set.value.meaning());
        let exported = || command.exported.iter().find(|exported| &*exported.name == NAME);
        if let Some(folder) = set.or_else(|| exported().map(|exported| exported.value.as_deref())) {
            self.folders = folder.map_or_else(Folders::unknown, |folder| self.folders.then(folder));
        }
    }

    /// A program text that stands in the command names its arguments without saying which files they are.
    fn in_words_of_code(&mut self, program: &str, arguments: &Arguments) {
        let command = self.command;
        let is_code = |argument: &&Argument| argument.role == Role::Code;
        let code = arguments.list.iter().find(is_code).and_then(|code| command.text_from(code.word, code.from));
        let fed = command.given_text().filter(|_| runs_its_input(program, arguments, &command.words));
        let names_words = |text: &str| text.to_ascii_lowercase().contains("argv") || text.contains("fileinput");
        let takes_words = code.or(fed).is_some_and(names_words);
        let own = arguments.list.iter().find(|argument| argument.role == Role::Words);
        if one_liner::is_readable(program) && takes_words {
            own.and_then(|own| command.words.get(own.word..))
                .into_iter()
                .flatten()
                .for_each(|word| self.mentioned(word));
        }
    }

    /// What is copied into a folder lies there under its own name.
    fn copied_into(&mut self, program: &str, arguments: &Arguments) {
        let is_temporary = |path: &str| path.starts_with("/tmp") || path.starts_with(paths::TEMP);
        let copies = copies(self.command, program, arguments);
        for path in copies.iter().filter_map(Copy::within).filter(|path| !is_temporary(path)) {
            self.add_deed(Some(&path), &Word::known(&path), Some(Access::Write), false);
        }
    }

    /// The files that a patch says it changes.
    fn in_patches(&mut self) {
        for (path, access) in self.command.applied_patches().into_iter().flat_map(patch::changed) {
            self.add(Some(path), &Word::known(path), Some(access));
        }
    }

    /// Whether it tells git, for good, of more files that it should not see: `git config core.excludesFile FILE`.
    fn hides_files(&self, arguments: &Arguments) -> bool {
        let is_it = |word: usize, from: usize| {
            self.command.text_from(word, from).is_some_and(|name| name.eq_ignore_ascii_case("core.excludesfile"))
        };
        let is_config = arguments.subcommands.first().is_some_and(|form| form == "config");
        let mut operands = arguments.operands.iter();
        let is_set = operands.any(|operand| is_it(*operand, 0)) && operands.next().is_some();
        let mut added = arguments.flags.iter().filter(|flag| flag.is("--add")).filter_map(|flag| flag.value);
        is_config && (is_set || added.any(|value| is_it(value.word, value.from)))
    }

    /// Whether it tells git to look for its hooks elsewhere: that takes away those that are there.
    fn moves_hooks(&self, arguments: &Arguments) -> bool {
        const SETTINGS: &[&str] = &["core.hookspath", "include.path"];
        let is_it = |name: Option<&str>| {
            let name = name.map(str::to_ascii_lowercase);
            let is_by_condition =
                |name: &str| name.starts_with("includeif.") && name.rsplit('.').next() == Some("path");
            name.is_some_and(|name| SETTINGS.contains(&name.as_str()) || is_by_condition(&name))
        };
        let is_section = |name: Option<&str>| name.is_some_and(|name| matches!(name, "core" | "include"));
        let text = |word: usize, from: usize| self.command.text_from(word, from);
        let mut flags = arguments.flags.iter().filter_map(|flag| Some((flag.name.as_str(), flag.value?)));
        let is_set = flags.any(|(name, value)| match name {
            "-c" | "--config-env" => is_it(text(value.word, value.from).and_then(|setting| setting.split('=').next())),
            "--unset" | "--unset-all" | "--add" => is_it(text(value.word, value.from)),
            "--remove-section" | "--rename-section" => is_section(text(value.word, value.from)),
            _ => false,
        });
        let is_config = arguments.subcommands.first().is_some_and(|form| form == "config");
        let mut operands = arguments.operands.iter();
        let is_named = operands.any(|operand| is_it(text(*operand, 0)));
        let verb = arguments.operands.first().and_then(|place| text(*place, 0));
        let is_named = is_named && (verb == Some("unset") || operands.next().is_some());
        let section = arguments.operands.get(1).and_then(|place| text(*place, 0));
        let loses = matches!(verb, Some("remove-section" | "rename-section")) && is_section(section);
        // What git keeps is elsewhere from then on, with hooks of its own.
        let goes = arguments.subcommands.first().is_some_and(|form| form == "init")
            && arguments.has_flag(&["--separate-git-dir"])
            && arguments.operands.iter().all(|place| text(*place, 0) == Some("."));
        if goes {
            return true;
        }
        let is_told = self.command.git_environment.iter().any(|(name, _)| is_it(Some(name)));
        is_told || is_set || (is_config && (is_named || loses || verb == Some("edit")))
    }

    /// `keeps_to_itself`: whether the command shows nothing of what it changes.
    fn argument(&mut self, argument: &Argument, keeps_to_itself: bool) {
        let command = self.command;
        let Some(word) = command.words.get(argument.word) else { return };
        let text = command.meaning_from(argument.word, argument.from);
        let magic = text.filter(|_| command.program() == Some("git")).and_then(pathspec);
        let text = magic.or(text);
        match argument.role {
            Role::AtFile => {
                if let Some(path) = text.and_then(|text| text.strip_prefix('@')) {
                    self.add(Some(path), word, Some(Access::Read));
                }
            }
            Role::FormField => {
                let sign = text.and_then(|text| text.find(['=', '@']));
                let value = text.zip(sign).and_then(|(text, sign)| text.get(sign..));
                let value = value.map(|value| value.strip_prefix('=').unwrap_or(value));
                if let Some(path) = value.and_then(|value| value.strip_prefix(['@', '<'])) {
                    self.add(path.split(';').next(), word, Some(Access::Read));
                }
            }
            Role::NamedFile => {
                let file = text.map(|text| text.split_once('=').map_or(text, |(_, file)| file));
                self.add(file, word, Some(Access::Read));
            }
            Role::ListedFile => {
                let named = text.unwrap_or_default().split(',').filter_map(|part| part.split_once('='));
                for (_, file) in named.filter(|(name, _)| matches!(*name, "src" | "source")) {
                    self.add(Some(file), word, Some(Access::Read));
                }
            }
            Role::ReadOrRemote | Role::WriteOrRemote | Role::DeleteOrRemote => {
                let is_remote = |text: &str| text.split('/').next().is_some_and(|host| host.contains(':'));
                let local = text.filter(|text| !is_remote(text));
                match argument.role {
                    // What is lost elsewhere is lost as well, and nobody knows what it is.
                    Role::DeleteOrRemote => self.add_deletion_of_all(local, word),
                    _ if text.is_some() && local.is_none() => {}
                    Role::ReadOrRemote => self.add(local, word, Some(Access::Read)),
                    _ => self.add(local, word, Some(Access::Write)),
                }
            }
            Role::Address => {
                let is_file = |text: &&str| text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
                if let Some(path) = text.filter(is_file).and_then(|text| text.get(5..)) {
                    self.add(path.strip_prefix("//").or(Some(path)), word, Some(Access::Read));
                }
            }
            Role::Revision => self.in_revision(text, word),
            // `socat FILE:.env -`
            Role::Setting if command.program() == Some("socat") => {
                let address = text.and_then(|text| text.split_once(':')).filter(|(kind, _)| is_file_address(kind));
                if let Some(path) = address.and_then(|(_, path)| path.split(',').next()) {
                    self.add(Some(path), word, Some(Access::Read));
                    self.add(Some(path), word, Some(Access::Write));
                }
            }
            Role::Data if command.program().is_some_and(sed::is_sed) => {
                for (access, path) in text.map(sed::read).unwrap_or_default().touches {
                    self.add(Some(&path), word, Some(access));
                }
            }
            // Without a sign of a pattern, git takes it for a path.
            Role::Glob
                if command.program() == Some("git") && !text.is_some_and(|text| text.contains(['*', '?', '['])) =>
            {
                self.add(text, word, Some(Access::Read));
            }
            Role::Glob => self.in_search(text, word),
            // `unzip x.zip 'config/*'`: the pattern is its own.
            Role::Write if command.program() == Some("unzip") => {
                let glob = text.is_some_and(|text| text.contains(['*', '?']));
                self.add(text, &Word { glob: word.glob || glob, ..word.clone() }, Some(Access::Write));
            }
            // What it holds is seen by nobody.
            Role::Edit if keeps_to_itself => self.add(text, word, Some(Access::Write)),
            Role::Path if magic.is_some() => self.add(magic, word, None),
            Role::Path => self.mentioned(word),
            Role::Query => self.in_query(word),
            // `sh -s -- WORDS`: what it runs comes to it, and these are the words for that.
            Role::Script if self.runs_its_input() => {}
            Role::Code => self.in_code(word, text),
            Role::DeleteAll => self.add_deletion_of_all(text, word),
            Role::Mark => self.add_deed(text, word, Some(Access::Write), false),
            Role::Move => {
                self.add(text, word, Some(Access::Read));
                self.add_deletion_of_all(text, word);
            }
            role => {
                for access in accesses(role) {
                    self.add(text, word, *access);
                }
            }
        }
    }

    /// `REVISION:path`, and of the index `:path` or `:0:path`.
    fn in_revision(&mut self, text: Option<&str>, word: &Word) {
        let behind = text.and_then(|text| text.split_once(':')).map(|(_, path)| path);
        let behind = behind
            .map(|path| ["0:", "1:", "2:", "3:"].iter().find_map(|stage| path.strip_prefix(stage)).unwrap_or(path));
        if let Some(path) = behind.or(text).filter(|path| !path.is_empty()) {
            self.add(Some(path), word, Some(Access::Read));
        }
    }

    /// What it is told line by line, where it reads the names of what it reads: `cpio -o`, `git cat-file --batch`.
    fn in_names(&mut self, program: &str, arguments: &Arguments) {
        let command = self.command;
        if program == "git" && arguments.has_flag(&["--batch", "--batch-command"]) {
            for line in command.given_text().into_iter().flat_map(str::lines) {
                self.in_revision(Some(line), &Word::known(line));
            }
        }
        for name in naming::names(command, arguments) {
            self.add(name.meaning(), &name, Some(Access::Read));
        }
    }

    /// What a search looks into that is told a pattern for names: at any depth where that has no slash. One that says nothing
    /// of names means a folder, and a folder is not the files in it.
    fn in_search(&mut self, glob: Option<&str>, word: &Word) {
        let name = glob.map(|glob| glob.rsplit('/').next().unwrap_or(glob));
        if name.is_some_and(|name| !name.is_empty() && name.chars().all(|letter| letter == '*')) {
            return;
        }
        self.add(glob, &Word { glob: false, ..word.clone() }, Some(Access::Read));
        let Some(glob) = glob.filter(|glob| !glob.starts_with('!')) else { return };
        let depth = if glob.contains('/') { "" } else { "**/" };
        for folder in self.searched_folders() {
            let first = self.effects.len();
            self.add(Some(&format!("{folder}{depth}{glob}")), &Word::known(glob), Some(Access::Read));
            self.effects.iter_mut().skip(first).for_each(|effect| effect.pattern = Pattern::Search);
        }
    }

    /// The folders that a search is told, each as the beginning of a path.
    fn searched_folders(&self) -> Vec<String> {
        let command = self.command;
        let arguments = command.arguments.iter();
        let read = arguments.flat_map(|known| {
            known.list.iter().filter(|argument| argument.role == Role::Read && known.operands.contains(&argument.word))
        });
        let folder = |argument: &Argument| match command.meaning_from(argument.word, argument.from) {
            Some(folder) if folder != "." => format!("{}/", folder.trim_end_matches('/')),
            _ => String::new(),
        };
        let mut folders: Vec<String> = read.map(folder).collect();
        if folders.is_empty() {
            folders.push(String::new());
        }
        folders.dedup();
        folders
    }

    /// Whether it changes files in their places, and shows and copies nothing of them: `sed -i s/a/b/ FILE`.
    fn keeps_to_itself(&self) -> bool {
        let Some(arguments) = self.command.arguments.as_ref().filter(|_| self.command.program() == Some("sed")) else {
            return false;
        };
        let is_edit = |argument: &Argument| {
            argument.role != Role::Data
                || self.command.text_from(argument.word, argument.from).is_some_and(sed::only_edits)
        };
        // A copy that is made beside it is called like it.
        let is_alike = |suffix: &str| suffix.starts_with('.') && !suffix.contains(['*', '/']);
        let copies = arguments.flags.iter().filter(|flag| flag.is("-i")).filter_map(|flag| flag.value);
        let mut copies = copies.map(|value| self.command.text_from(value.word, value.from));
        let reads = arguments.list.iter().any(|argument| matches!(argument.role, Role::Read | Role::Script));
        !reads && arguments.list.iter().all(is_edit) && copies.all(|suffix| suffix.is_some_and(is_alike))
    }

    fn in_code(&mut self, word: &Word, text: Option<&str>) {
        let program = self.command.program();
        if program.is_some_and(is_awk) {
            let touches = text.map(awk::read).unwrap_or_default().touches;
            for (access, path) in touches.iter().filter(|(_, path)| path.is_some()) {
                self.add(path.as_deref(), word, Some(*access));
            }
            // It is some name among those in the text, or made of them.
            if touches.iter().any(|(_, path)| path.is_none()) {
                self.mentioned(word);
            }
            return;
        }
        let given = given(self.command);
        let read = program.zip(text).and_then(|(program, text)| one_liner::read(program, text, &given));
        let Some(read) = read else { return self.mentioned(word) };
        for (access, path) in read.touches {
            let glob = path.contains('*');
            // Nobody asks what kind of thing a function deletes.
            let takes_all = access == Access::Delete;
            let word = Word { glob, tilde: word.tilde, ..Word::default() };
            self.add_deed(Some(&path), &word, Some(access), takes_all);
            self.add_loss(Some(&path), &word, Some(access));
        }
        let unknown = Word { raw: format!("a file that {} names", program.unwrap_or_default()), ..Word::default() };
        for access in read.unknown {
            self.add(None, &unknown, Some(access));
        }
    }

    fn in_find(&mut self) {
        let command = self.command;
        let deletes = command.words.iter().any(|word| word.value.as_deref() == Some("-delete"));
        let follows = command.words.iter().any(|word| matches!(word.value.as_deref(), Some("-L" | "-H" | "-follow")));
        for found in find::found(command).iter().filter(|_| deletes) {
            self.add_deletion_of_all(found.meaning(), found);
            // What a link leads to, and not the link.
            if let Some(folder) = found.meaning().and_then(|path| found.folder_of_all(path)).filter(|_| follows) {
                let within = format!("{folder}/*");
                self.add_deletion_of_all(Some(&within), &Word { glob: true, ..Word::known(&within) });
            }
        }
        let writes = |word: &Word| matches!(word.value.as_deref(), Some("-fprint" | "-fprint0" | "-fls" | "-fprintf"));
        let targets = command.words.iter().zip(command.words.iter().skip(1)).filter(|(flag, _)| writes(flag));
        for (_, target) in targets {
            self.add(target.meaning(), target, Some(Access::Write));
        }
    }

    /// What a flag leaves out is not touched.
    fn in_unknown_program(&mut self) {
        let command = self.command;
        let leaves_out = |word: &Word| {
            let flag = word.value.as_deref().filter(|text| text.starts_with('-'));
            flag.is_some_and(|flag| ["exclude", "ignore", "skip"].iter().any(|name| flag.contains(name)))
        };
        for (before, word) in command.words.iter().zip(command.words.iter().skip(1)) {
            let is_value = leaves_out(before) && !before.raw.contains('=');
            if !leaves_out(word) && !is_value {
                self.mentioned(word);
            }
        }
    }

    fn runs_its_input(&self) -> bool {
        let known = self.command.program().zip(self.command.arguments.as_ref());
        known.is_some_and(|(program, arguments)| runs_its_input(program, arguments, &self.command.words))
    }

    /// A text for a database may name files, and is none.
    fn in_query(&mut self, word: &Word) {
        let Some(text) = word.value.as_deref() else { return self.mentioned(word) };
        for piece in pieces(text).filter(|piece| !piece.contains(char::is_whitespace)) {
            self.add(Some(piece), word, None);
        }
    }

    /// Who knows what for.
    fn mentioned(&mut self, word: &Word) {
        let text = word.value.as_deref().unwrap_or(&word.raw);
        for piece in pieces(text) {
            // What stands behind an expansion begins wherever that leads.
            let is_behind = word.value.is_none() && !text.trim_start_matches(['"', '\'']).starts_with('/');
            self.add(Some(if is_behind { piece.trim_start_matches('/') } else { piece }), word, None);
        }
        if word.value.is_none() {
            self.add(None, word, None);
        }
    }
}

/// Whether a variable is called like one that says where something is kept or put: `DESTDIR`, `HISTFILE`, `OUTPUT_PATH`.
/// Others say where to look, or what to do.
fn names_a_target(variable: &str) -> bool {
    const ENDS: &[&str] = &["FILE", "DIR", "OUT", "OUTPUT", "DEST", "PREFIX", "TARGET", "ROOT", "HOME", "CONFIG"];
    let variable = variable.to_ascii_uppercase();
    variable.split('_').any(|part| ENDS.iter().any(|end| part.ends_with(end)))
}

/// Whether what is written to a path takes the place of all that is kept there: of a disk. A loop device is a file, and
/// mostly made for that.
fn loses_all(path: &str) -> bool {
    is_disk(path) && path != "/dev" && !path.starts_with("/dev/loop")
}

/// Whether a variable says which certificates or credentials a program has to use: it shows them to nobody.
fn names_credentials(variable: &str) -> bool {
    const ENDS: &[&str] = &[
        "CA_CERTS",
        "CA_CERT",
        "CA_BUNDLE",
        "CAINFO",
        "ROOTCERT",
        "SSL_CERT_FILE",
        "KUBECONFIG",
        "NPM_CONFIG_USERCONFIG",
        "AWS_SHARED_CREDENTIALS_FILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ];
    ENDS.iter().any(|end| variable.ends_with(end))
}

/// The path in `:/path` and `:(top)path`, which git tells from its own root.
fn pathspec(text: &str) -> Option<&str> {
    let behind =
        text.strip_prefix(":(").filter(|magic| !magic.starts_with("exclude")).and_then(|magic| magic.split_once(')'));
    behind.map(|(_, path)| path).or_else(|| text.strip_prefix(":/")).filter(|path| !path.is_empty())
}

/// Of `socat`: whether a file stands behind it.
fn is_file_address(kind: &str) -> bool {
    matches!(kind.to_ascii_uppercase().as_str(), "FILE" | "OPEN" | "GOPEN" | "CREATE" | "CREAT")
}

/// What is done to an argument of this kind.
fn accesses(role: Role) -> &'static [Option<Access>] {
    match role {
        Role::Read | Role::Script | Role::Names => &[Some(Access::Read)],
        Role::Write => &[Some(Access::Write)],
        Role::Edit => &[Some(Access::Read), Some(Access::Write)],
        Role::Delete => &[Some(Access::Delete)],
        _ => &[],
    }
}

/// The text itself, and what stands between signs that paths rarely have: `--file=.env`, `open('.env')`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/~+@%*?".contains(letter);
    let whole = std::iter::once(text).filter(|text| !text.is_empty() && !text.starts_with('-') && !is_address(text));
    let parts =
        text.split(move |letter| !is_part(letter)).filter(move |piece| *piece != text && looks_like_path(piece));
    whole.chain(parts)
}

fn is_address(text: &str) -> bool {
    text.contains("://") && !text.starts_with("file:")
}

/// Behind `https:` stands a host, and no path.
fn looks_like_path(piece: &str) -> bool {
    !piece.starts_with('-') && !piece.starts_with("//") && piece.contains(['.', '/', '~'])
}
