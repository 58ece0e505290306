//! What calls do.

use super::arguments::Arguments;
use super::deed::{Argument, Deed, PathDeed};
use super::lex::lex;
use super::reader::Reader;
use super::tape::Tape;
use super::token::Kind;
use super::value::Value;
use super::{Access, Language, Spawn};

impl Reader {
    /// In parentheses, which stand here.
    pub(super) fn arguments(&mut self, tape: &mut Tape<'_>, callee: &Value) -> Arguments {
        tape.next();
        let mut arguments = Arguments::default();
        loop {
            tape.skip_newlines();
            match tape.peek().map(|token| &token.kind) {
                Some(Kind::Mark(")")) => {
                    tape.next();
                    break;
                }
                Some(Kind::Mark("," | ";" | ":" | "=>")) => {
                    tape.next();
                }
                None | Some(Kind::Mark("]" | "}")) => {
                    self.found.hidden = true;
                    break;
                }
                Some(_) => self.argument(tape, &mut arguments, true),
            }
        }
        self.escape_arguments(callee, &arguments);
        arguments
    }

    /// Up to the end of the statement.
    pub(super) fn bare_arguments(&mut self, tape: &mut Tape<'_>, callee: &Value) -> Arguments {
        let mut arguments = Arguments::default();
        let starts_one = match tape.peek().map(|token| &token.kind) {
            Some(Kind::Name(name)) => !self.is_modifier(name) || name == "do",
            Some(Kind::Text(_) | Kind::Number) => true,
            // Behind a name, a sign is the start of an argument only for these.
            Some(Kind::Mark(mark)) => {
                matches!(*mark, "(" | "[" | "\\" | "-") || (*mark == "{" && self.language == Language::Perl)
            }
            _ => false,
        };
        if starts_one && tape.name() != Some("do") {
            self.argument(tape, &mut arguments, false);
            while tape.is(",") || tape.is("=>") {
                tape.next();
                tape.skip_newlines();
                self.argument(tape, &mut arguments, false);
            }
        }
        self.escape_arguments(callee, &arguments);
        arguments
    }

    fn argument(&mut self, tape: &mut Tape<'_>, arguments: &mut Arguments, in_brackets: bool) {
        let key = tape.name().filter(|_| match self.language {
            Language::Python => tape.ahead_is(1, "="),
            Language::Ruby => tape.ahead_is(1, ":"),
            Language::Node | Language::Perl => false,
        });
        if let Some(key) = key {
            tape.next();
            tape.next();
            let value = self.sequence(tape, in_brackets);
            return arguments.named.push((key.to_owned(), value));
        }
        let mut value = self.sequence(tape, in_brackets);
        // A slice, a lambda, a choice: more than one part.
        while in_brackets && tape.take(":") {
            self.escape(Some(&value));
            let next = self.sequence(tape, in_brackets);
            self.escape(Some(&next));
            value = Value::Unknown;
        }
        if self.language == Language::Ruby && tape.take("=>") {
            let key = value.only_text().unwrap_or_default().to_owned();
            let value = self.sequence(tape, in_brackets);
            return arguments.named.push((key, value));
        }
        arguments.positional.push(value);
    }

    /// In parentheses that belong to no call.
    pub(super) fn sequence_of_group(&mut self, tape: &mut Tape<'_>) -> Value {
        Value::List(self.arguments(tape, &Value::Unknown).positional)
    }

    fn escape_arguments(&mut self, callee: &Value, arguments: &Arguments) {
        if let Value::Thing(name) = callee {
            let looks = self.dialect.onlookers.contains(&name.as_str());
            if looks || matches!(self.deed(name), Some(Deed::Member | Deed::Run(_) | Deed::Module)) {
                return;
            }
        }
        for value in arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value)) {
            self.escape(Some(value));
        }
    }

    pub(super) fn is_sending(&self, name: &str) -> bool {
        let last = name.rsplit('.').next().unwrap_or(name);
        self.language == Language::Ruby && matches!(last, "send" | "__send__" | "public_send")
    }

    pub(super) fn apply(&mut self, callee: Value, arguments: &Arguments) -> Value {
        match callee {
            Value::Thing(name) if self.is_sending(&name) => {
                let receiver = name.rsplit_once('.').map(|(receiver, _)| Value::Thing(receiver.to_owned()));
                self.send(receiver.unwrap_or(Value::Thing(String::new())), arguments)
            }
            Value::Method(receiver, name) if self.is_sending(&name) => self.send(*receiver, arguments),
            Value::Thing(name) => {
                if let Some(deed) = self.deed(&name) {
                    return self.perform(deed, &name, arguments);
                }
                if let Some(deed) = self.path_method(&name) {
                    let receiver = arguments.positional.first().cloned().unwrap_or(Value::Unknown).into_path();
                    let positional = arguments.positional.get(1..).unwrap_or_default().to_vec();
                    return self.path_call(&receiver, deed, &Arguments { positional, named: arguments.named.clone() });
                }
                Value::Unknown
            }
            Value::Method(receiver, name) => self.method(&receiver, &name, arguments),
            _ => Value::Unknown,
        }
    }

    /// What a method of path objects does, called as a function of the class.
    pub(super) fn path_method(&self, name: &str) -> Option<PathDeed> {
        let (class, method) = name.rsplit_once('.')?;
        matches!(self.deed(class), Some(Deed::MakePath)).then(|| self.path_deed(method))?
    }

    fn path_deed(&self, method: &str) -> Option<PathDeed> {
        self.dialect.path_methods.iter().find(|(name, _)| *name == method).map(|(_, deed)| *deed)
    }

    fn perform(&mut self, deed: Deed, name: &str, arguments: &Arguments) -> Value {
        match deed {
            Deed::Touch(touches) => {
                for (access, (place, name)) in touches {
                    self.touch(*access, arguments.get(*place, name));
                }
            }
            Deed::TouchAll(access, from) => {
                let values = arguments.flat();
                self.found.hidden |= values.len() <= from;
                for value in values.into_iter().skip(from) {
                    self.touch(access, Some(value));
                }
            }
            Deed::Open { path, mode } => self.open(arguments, path, mode),
            Deed::OpenOrRun => self.open_or_run(arguments),
            Deed::PerlOpen { handles } => self.perl_open(arguments.positional.get(handles..).unwrap_or_default()),
            Deed::Shell((place, name)) => {
                self.started_elsewhere(arguments);
                self.shell(arguments.get(place, name));
            }
            Deed::Program((place, name)) => self.program(arguments, arguments.get(place, name)),
            Deed::System => self.system(arguments),
            Deed::Spawn => self.spawn(None, arguments),
            Deed::Fork(interpreter) => self.spawn(Some(interpreter), arguments),
            Deed::Exec { program } => self.exec(arguments.positional.get(program..).unwrap_or_default()),
            Deed::Run((place, name)) => return self.run(arguments.get(place, name)),
            Deed::Module => return self.module(name, arguments.positional.first()),
            Deed::Member => return self.member_by_name(arguments),
            Deed::Send => self.found.hidden = true,
            Deed::JoinPath | Deed::MakePath => {
                let parts = arguments.flat().into_iter().cloned();
                let path = parts.reduce(|folder, name| folder.joined(&name, "/")).unwrap_or_else(|| Value::text("."));
                return match deed {
                    Deed::MakePath => path.into_path(),
                    _ => path.texts().map_or(Value::Unknown, Value::Texts),
                };
            }
            Deed::Gives(text) if name.contains("Path.") => return Value::text(text).into_path(),
            Deed::Gives(text) => return Value::text(text),
            Deed::Same((place, name)) => {
                let same = arguments.get(place, name).filter(|value| value.texts().is_some());
                return same.cloned().unwrap_or(Value::Unknown);
            }
            Deed::Root => return Value::Thing(String::new()),
            Deed::Moves => self.found.moved = true,
            Deed::Changes => {}
            Deed::Hides => self.found.hidden = true,
        }
        Value::Unknown
    }

    /// Notes a file, or that it is not known which.
    pub(super) fn touch(&mut self, access: Access, file: Option<&Value>) {
        let Some(file) = file else {
            self.found.hidden = true;
            return;
        };
        for value in file.flat() {
            match value {
                Value::Descriptor => {}
                value => match value.texts() {
                    Some(paths) => paths.into_iter().for_each(|path| self.found.touch(access, path)),
                    None => self.found.hidden = true,
                },
            }
        }
    }

    fn open(&mut self, arguments: &Arguments, (place, name): Argument, (mode_place, mode_name): Argument) {
        let mode = arguments.get(mode_place, mode_name).filter(|mode| !matches!(mode, Value::Record(_)));
        let mode = mode.or_else(|| arguments.option("mode")).or_else(|| arguments.option("flags"));
        self.touch(mode_access(mode), arguments.get(place, name));
    }

    fn open_or_run(&mut self, arguments: &Arguments) {
        match arguments.positional.first().and_then(Value::only_text) {
            Some(text) if text.starts_with('|') => {
                let command = text.trim_start_matches('|').trim().to_owned();
                self.found.spawn(Spawn::Shell(command));
            }
            Some(text) if text.starts_with("http://") || text.starts_with("https://") => {}
            _ => self.open(arguments, (0, ""), (1, "mode")),
        }
    }

    fn perl_open(&mut self, arguments: &[Value]) {
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
                self.found.spawn(Spawn::Shell(mode.trim_matches(['|', ' ']).to_owned()));
            } else if path != "-" {
                self.found.touch(access, path.to_owned());
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

    /// A program that starts in another folder, or is another than its words say.
    fn started_elsewhere(&mut self, arguments: &Arguments) {
        let options = ["cwd", "chdir", "executable"];
        self.found.hidden |= options.iter().any(|option| arguments.option(option).is_some());
    }

    pub(super) fn shell(&mut self, command: Option<&Value>) {
        match command.and_then(Value::texts) {
            Some(texts) => texts.into_iter().for_each(|text| self.found.spawn(Spawn::Shell(text))),
            None => self.found.hidden = true,
        }
    }

    fn words<'v>(&mut self, words: impl IntoIterator<Item = &'v Value>) {
        let words: Option<Vec<_>> = words.into_iter().map(|word| word.only_text().map(str::to_owned)).collect();
        match words.filter(|words| !words.is_empty()) {
            Some(words) => self.found.spawn(Spawn::Words(words)),
            None => self.found.hidden = true,
        }
    }

    fn program(&mut self, arguments: &Arguments, program: Option<&Value>) {
        self.started_elsewhere(arguments);
        match program {
            Some(Value::List(words)) if uses_shell(arguments) => self.shell(words.first()),
            Some(Value::List(words)) => self.words(words),
            program => self.shell(program),
        }
    }

    fn system(&mut self, arguments: &Arguments) {
        self.started_elsewhere(arguments);
        // Perl's `system {program} words`.
        self.found.hidden |= self.language == Language::Perl
            && arguments.positional.len() != arguments.flat().len()
            && arguments.positional.iter().any(|value| matches!(value, Value::Record(_)));
        match arguments.flat().as_slice() {
            [command] => self.shell(Some(command)),
            words => self.words(words.iter().copied()),
        }
    }

    fn spawn(&mut self, interpreter: Option<&str>, arguments: &Arguments) {
        self.started_elsewhere(arguments);
        let interpreter = interpreter.map(Value::text);
        let mut words: Vec<&Value> = interpreter.iter().chain(arguments.positional.first()).collect();
        match arguments.positional.get(1) {
            Some(Value::List(more)) => words.extend(more),
            Some(Value::Record(_)) | None => {}
            Some(unknown) => words.push(unknown),
        }
        if uses_shell(arguments) {
            let command = words.into_iter().cloned().reduce(|one, other| one.joined(&other, " "));
            self.shell(command.as_ref());
        } else {
            self.words(words);
        }
    }

    fn exec(&mut self, arguments: &[Value]) {
        let Some((program, rest)) = arguments.split_first() else {
            self.found.hidden = true;
            return;
        };
        // The first of these is the name that the program sees.
        let words = match rest.first() {
            Some(Value::List(words)) => words.as_slice(),
            _ => rest,
        };
        self.words(std::iter::once(program).chain(words.iter().skip(1)));
    }

    /// A text of the same language, in the same scope.
    fn run(&mut self, text: Option<&Value>) -> Value {
        let mut value = Value::Unknown;
        match text {
            // A block.
            Some(Value::Record(_)) => {}
            None if self.language == Language::Ruby => {}
            text => match text.and_then(Value::texts) {
                None => self.found.hidden = true,
                Some(texts) => {
                    self.depth += 1;
                    for text in texts {
                        let lexed = lex(self.language, &text);
                        self.found.hidden |= !lexed.sound;
                        let mut tape = Tape::new(&lexed.tokens);
                        self.spend(text.len(), &mut tape);
                        value = self.all(&mut tape);
                    }
                    self.depth -= 1;
                }
            },
        }
        value
    }

    fn module(&mut self, function: &str, module: Option<&Value>) -> Value {
        let Some(text) = module.and_then(Value::only_text) else {
            // A bare word is a name, not a value.
            let is_bare = matches!(module, Some(Value::Thing(name)) if !name.starts_with('$'));
            self.found.hidden |= !(is_bare && self.language == Language::Perl);
            return Value::Unknown;
        };
        let is_file = self.language != Language::Python
            && (text.starts_with(['.', '/', '~']) || matches!(text.rsplit_once('.'), Some((_, "pl" | "rb"))));
        if is_file {
            self.found.touch(Access::Read, text.to_owned());
            return Value::Unknown;
        }
        let module = self.canonical(text);
        match module.split('.').next() {
            Some(first) if function == "__import__" => Value::Thing(first.to_owned()),
            _ => Value::Thing(module),
        }
    }

    fn member_by_name(&mut self, arguments: &Arguments) -> Value {
        match arguments.positional.as_slice() {
            // A name of the language itself.
            [name] => match name.only_text() {
                Some(name) => {
                    let thing = self.lookup(name);
                    let does = matches!(&thing, Value::Thing(name) if self.deed(name).is_some());
                    self.found.hidden |= does;
                    thing
                }
                None => {
                    self.found.hidden = true;
                    Value::Unknown
                }
            },
            [object, name, ..] => match name.only_text() {
                Some(name) => self.member(object.clone(), name),
                None => {
                    self.escape(Some(object));
                    Value::Unknown
                }
            },
            [] => Value::Unknown,
        }
    }

    fn send(&mut self, receiver: Value, arguments: &Arguments) -> Value {
        let Some((name, rest)) = arguments.positional.split_first() else { return Value::Unknown };
        let Some(name) = name.only_text().filter(|name| !self.is_sending(name)) else {
            self.found.hidden = true;
            return Value::Unknown;
        };
        let callee = match receiver {
            // Everything has the functions of the language itself.
            receiver if self.dialect.function(name).is_none() => self.member(receiver, name),
            _ => self.lookup(name),
        };
        self.apply(callee, &Arguments { positional: rest.to_vec(), named: arguments.named.clone() })
    }

    fn method(&mut self, receiver: &Value, name: &str, arguments: &Arguments) -> Value {
        if let (Value::Path(_), Some(deed)) = (receiver, self.path_deed(name)) {
            return self.path_call(receiver, deed, arguments);
        }
        match (receiver, name) {
            (
                Value::Texts(_),
                "strip" | "trim" | "toString" | "to_s" | "encode" | "decode" | "freeze" | "chomp" | "dup",
            ) => {
                return receiver.clone();
            }
            (Value::Texts(_), "split") => {
                if let (Some(text), None | Some(" ")) = (receiver.only_text(), separator(arguments)) {
                    return Value::List(text.split_whitespace().map(Value::text).collect());
                }
            }
            (Value::Texts(_), "join") => {
                if let (Some(between), Some(Value::List(parts))) = (receiver.only_text(), arguments.positional.first())
                {
                    return joined(parts, between);
                }
            }
            (Value::List(parts), "join") => return joined(parts, separator(arguments).unwrap_or_default()),
            _ => {}
        }
        let is_text = matches!(receiver, Value::Texts(_) | Value::List(_));
        let tells = self.dialect.telling_methods.contains(&name) || self.is_like_a_path(name, arguments);
        self.found.hidden |= tells && !is_text || name == "constructor" && self.language == Language::Node;
        Value::Unknown
    }

    /// Methods that paths share with other things, but take other arguments there.
    fn is_like_a_path(&self, name: &str, arguments: &Arguments) -> bool {
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

    fn path_call(&mut self, path: &Value, deed: PathDeed, arguments: &Arguments) -> Value {
        match deed {
            PathDeed::Own(access) => self.touch(access, Some(path)),
            PathDeed::Rename => {
                self.touch(Access::Delete, Some(path));
                self.touch(Access::Write, arguments.get(0, "target"));
            }
            PathDeed::Target(access) => self.touch(access, arguments.get(0, "target")),
            PathDeed::Open => self.touch(mode_access(arguments.get(0, "mode")), Some(path)),
            PathDeed::Join => {
                let parts = arguments.flat().into_iter();
                return parts.fold(path.clone(), |folder, name| folder.joined(name, "/").into_path());
            }
            PathDeed::Same => return path.clone(),
            PathDeed::Others => return Value::Path(None),
        }
        Value::Unknown
    }
}

fn separator(arguments: &Arguments) -> Option<&str> {
    arguments.positional.first().and_then(Value::only_text)
}

fn joined(parts: &[Value], between: &str) -> Value {
    let Some((first, rest)) = parts.split_first() else { return Value::text("") };
    let between = Value::text(between);
    rest.iter().fold(first.clone(), |text, part| text.joined(&between, "").joined(part, ""))
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

fn uses_shell(arguments: &Arguments) -> bool {
    match arguments.option("shell") {
        None => false,
        Some(Value::Thing(name)) => !name.eq_ignore_ascii_case("false"),
        Some(_) => true,
    }
}
