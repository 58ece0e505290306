//! What calls do.

use super::arguments::Arguments;
use super::function_effect::{Argument, FunctionEffect, PathMethodEffect};
use super::lex::lex;
use super::reader::Reader;
use super::spawning::printed;
use super::tape::Tape;
use super::text_method;
use super::value::{SOME_NAME, SOME_WORD, Value};
use super::{Access, Language, Spawn};

/// Whether a method calls what it is given, once for each of many.
pub(super) fn is_iterating(method: &str) -> bool {
    matches!(method, "forEach" | "map" | "each" | "starmap")
}

/// Functions that print their arguments, whatever the language.
const PRINTING: &[&str] = &["print", "puts", "say", "console.log", "process.stdout.write", "sys.stdout.write"];

impl Reader {
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
                if let Some(effect) = self.effect_of(&name) {
                    let value = self.perform(effect, &name, arguments);
                    // An archive is more than what is in its file.
                    let is_plain = matches!(value, Value::Unknown | Value::Content(_) | Value::Output(_));
                    let is_object = is_plain && self.dialect.gives_object(&name);
                    return if is_object { Value::Thing(format!("{name}()")) } else { value };
                }
                if self.dialect.gives_object(&name) {
                    return Value::Thing(format!("{name}()"));
                }
                if let Some(own) = self.outline.functions.get(&name).cloned() {
                    self.call_own(&own.parameters, arguments);
                    return if own.is_block { self.given_by_own() } else { Value::Unknown };
                }
                if self.outline.classes.has(&name) {
                    return Value::Instance;
                }
                if let Some(effect) = self.path_method(&name) {
                    let receiver = arguments.positional.first().cloned().unwrap_or(Value::Unknown).into_path();
                    let positional = arguments.positional.get(1..).unwrap_or_default().to_vec();
                    return self.path_call(
                        &receiver,
                        effect,
                        &Arguments { positional, named: arguments.named.clone() },
                    );
                }
                // What comes of a module that is waited for is that module, whatever comes between.
                if let (Language::Node, Some((module, "catch" | "finally"))) = (self.language, name.rsplit_once('.')) {
                    return Value::Thing(module.to_owned());
                }
                if PRINTING.contains(&name.as_str()) {
                    let texts: Option<Vec<&str>> = arguments.positional.iter().map(Value::only_text).collect();
                    let is_plain = arguments.named.iter().all(|(name, _)| matches!(name.as_str(), "file" | "flush"));
                    let text = texts.map(|texts| texts.join(" "));
                    match (arguments.named("file"), text) {
                        (Some(file), text) => {
                            let line = text.filter(|_| is_plain).map(|text| text + "\n");
                            self.put_into(file, line.as_deref());
                        }
                        (None, Some(text)) => self.found.print(text),
                        (None, None) => {}
                    }
                }
                Value::Unknown
            }
            Value::Method(receiver, name) => self.method(&receiver, &name, arguments),
            Value::Pending => Value::Pending,
            _ => Value::Unknown,
        }
    }

    /// Whether a name of the text means a module, or something in it.
    fn uses(&self, module: &str) -> bool {
        let is_its =
            |name: &str| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.names.values().any(|value| matches!(value, Value::Thing(name) if is_its(name)))
    }

    /// Puts a text into an open file; none where it is no constant.
    pub(super) fn put_into(&mut self, file: &Value, text: Option<&str>) {
        if let Value::Output(paths) = file {
            for path in paths {
                self.found.output(path, text);
            }
        }
    }

    /// `files.forEach(fs.unlinkSync)`; `pool.map(os.remove, files)`
    fn each(&mut self, receiver: &Value, arguments: &Arguments) -> Value {
        let Some((function, rest)) = arguments.positional.split_first() else { return Value::Unknown };
        let through = rest.first().filter(|_| self.language == Language::Python).unwrap_or(receiver);
        let positional = vec![through.element()];
        self.apply(function.clone(), &Arguments { positional, ..Arguments::default() });
        Value::Unknown
    }

    /// What the text's own functions give. Which of them gives what is not told apart.
    fn given_by_own(&mut self) -> Value {
        match (self.names.get("return").cloned(), self.names.get("yield").cloned()) {
            (Some(value), None) => value,
            // Of constants, it would matter how many come in which order.
            (None, Some(value @ (Value::Like { .. } | Value::Pending))) => Value::List(vec![value]),
            (None, None) => {
                let word = if self.outline.assigned.contains("yield") { "yield" } else { "return" };
                Some(self.lookup(word)).filter(Value::is_pending).unwrap_or(Value::Unknown)
            }
            _ => Value::Unknown,
        }
    }

    /// What a method of path objects does, called as a function of the class.
    pub(super) fn path_method(&self, name: &str) -> Option<PathMethodEffect> {
        let (class, method) = name.rsplit_once('.')?;
        matches!(self.effect_of(class), Some(FunctionEffect::MakePath)).then(|| self.path_method_effect(method))?
    }

    pub(super) fn path_method_effect(&self, method: &str) -> Option<PathMethodEffect> {
        self.dialect.path_methods.iter().find(|(name, _)| *name == method).map(|(_, effect)| *effect)
    }

    pub(super) fn perform(&mut self, effect: FunctionEffect, name: &str, arguments: &Arguments) -> Value {
        match effect {
            FunctionEffect::Touch(touches) => self.touch_some(touches, arguments),
            FunctionEffect::TouchAll(access, from) => self.touch_all(access, from, arguments),
            FunctionEffect::TouchOr(access, (place, name), path) => match arguments.get(place, name) {
                Some(given) => self.touch(access, Some(given)),
                None => self.found.touch(access, path),
            },
            FunctionEffect::Fetch((place, name)) => self.fetch(arguments.get(place, name), arguments),
            FunctionEffect::Form => self.form(name, arguments),
            FunctionEffect::Called(words) => self.called(words, arguments),
            FunctionEffect::Forgets((place, name)) => {
                let name = arguments.get(place, name).and_then(Value::only_text);
                self.found.forgotten.extend(name.map(str::to_owned));
            }
            FunctionEffect::ReadPath => {
                self.touch(Access::Read, arguments.positional.first());
                return self.pure_call(FunctionEffect::MakePath, name, arguments);
            }
            FunctionEffect::WriteText((place, name), (text_place, text_name)) => {
                let text = arguments.get(text_place, text_name);
                self.write_text(arguments.get(place, name), text, arguments);
            }
            FunctionEffect::Open { path, mode } => return self.open(arguments, path, mode),
            FunctionEffect::OpenOrRun => self.open_or_run(arguments),
            FunctionEffect::PerlOpen { handles } => {
                self.perl_open(arguments.positional.get(handles..).unwrap_or_default());
            }
            FunctionEffect::Shell((place, called)) => {
                return self.shell_call(name, arguments.get(place, called), arguments);
            }
            FunctionEffect::Program((place, called)) => {
                self.program(name, arguments, arguments.get(place, called));
                return printed(arguments.get(place, called));
            }
            FunctionEffect::System => {
                self.system(arguments);
                return printed(Some(&Value::List(arguments.positional.clone())));
            }
            FunctionEffect::Spawn => {
                self.spawn(None, name, arguments);
                return printed(Some(&Value::List(arguments.flat().into_iter().cloned().collect())));
            }
            FunctionEffect::Fork(interpreter) => self.spawn(Some(interpreter), name, arguments),
            FunctionEffect::Exec { program } => self.exec(arguments.positional.get(program..).unwrap_or_default()),
            FunctionEffect::Run((place, name)) => return self.run(arguments.get(place, name)),
            FunctionEffect::Module => return self.module(name, arguments.positional.first()),
            FunctionEffect::Member => return self.member_by_name(arguments),
            FunctionEffect::Makes((place, name)) => return self.new_directory(arguments.get(place, name)),
            FunctionEffect::Root => return Value::Thing(String::new()),
            FunctionEffect::Moves((place, name)) => self.goes_to(arguments.get(place, name)),
            FunctionEffect::Strays => self.found.moved = true,
            FunctionEffect::Maps => self.maps(arguments),
            FunctionEffect::Option => self.takes_option(arguments),
            FunctionEffect::Options => return self.options_given(arguments),
            FunctionEffect::Send | FunctionEffect::Hides => self.found.hidden = true,
            harmless => return self.pure_call(harmless, name, arguments),
        }
        Value::Unknown
    }

    /// Touches the files that these arguments name.
    fn touch_some(&mut self, touches: &[(Access, Argument)], arguments: &Arguments) {
        // Relative to an open directory, and not to the working directory: `dir_fd=folder`.
        self.found.moved |= arguments.named.iter().any(|(name, _)| name.ends_with("dir_fd"));
        for (access, (place, name)) in touches {
            self.touch(*access, arguments.get(*place, name));
        }
    }

    /// Touches the files that all arguments from one on name.
    fn touch_all(&mut self, access: Access, from: usize, arguments: &Arguments) {
        let values = arguments.flat();
        if values.len() <= from {
            self.found.touch_unknown(access);
        }
        for value in values.into_iter().skip(from) {
            self.touch(access, Some(value));
        }
    }

    /// A new directory whose name begins like this.
    fn new_directory(&mut self, start: Option<&Value>) -> Value {
        self.touch(Access::Write, start);
        start.map_or(Value::Unknown, |start| start.joined(&Value::Unknown, ""))
    }

    /// Reads an address. A request with a method of its own is told as the `curl` command that would send it.
    fn fetch(&mut self, address: Option<&Value>, arguments: &Arguments) {
        let addresses = address.and_then(Value::texts).unwrap_or_default();
        for path in addresses.iter().filter_map(|address| address.strip_prefix("file:")) {
            let path = path.strip_prefix("//localhost").or_else(|| path.strip_prefix("//")).unwrap_or(path);
            self.found.touch(Access::Read, path);
        }
        if let Some(method) = arguments.option("method").and_then(Value::only_text) {
            let words = ["curl", "-X", method].map(Value::text).into_iter();
            let body = arguments.option("body").map(|body| [Value::text("-d"), body.clone()]);
            let words: Vec<Value> = words.chain(address.cloned()).chain(body.into_iter().flatten()).collect();
            self.words(&words, None);
        }
    }

    /// Gives a text to a shell.
    fn shell_call(&mut self, name: &str, command: Option<&Value>, arguments: &Arguments) -> Value {
        // What is written into a pipe is not followed.
        let mode = arguments.positional.get(1).and_then(Value::only_text).filter(|_| name == "os.popen");
        self.found.hidden |= mode.is_some_and(|mode| mode.starts_with('w'));
        let start = self.started_elsewhere(arguments, self.options_behind(1, name, arguments));
        self.shell(command, start.as_ref());
        printed(command)
    }

    /// To another folder; without a name, to the home folder.
    fn goes_to(&mut self, folder: Option<&Value>) {
        match folder {
            None => self.found.go(&["~".to_owned()]),
            Some(Value::Pending) => {}
            Some(folder) => match folder.texts() {
                Some(folders) => self.found.go(&folders),
                None => self.found.moved = true,
            },
        }
    }

    fn maps(&mut self, arguments: &Arguments) {
        if let Some((function, rest)) = arguments.positional.split_first() {
            let positional = rest.iter().map(Value::element).collect();
            self.apply(function.clone(), &Arguments { positional, ..Arguments::default() });
        }
    }

    /// Notes a file, or that it is not known which.
    pub(super) fn touch(&mut self, access: Access, file: Option<&Value>) {
        let Some(file) = file else {
            self.found.touch_unknown(access);
            return;
        };
        for value in file.flat() {
            match value {
                Value::Descriptor => {}
                Value::Like { texts, .. } => {
                    let wanted = self.outline.name_filters.iter().filter(|_| access != Access::Delete);
                    let named = wanted.flat_map(|name| texts.iter().map(|path| path.replace(SOME_NAME, name)));
                    for path in named.filter(|path| !texts.contains(path)).collect::<Vec<_>>() {
                        self.found.note(access, &path);
                    }
                    for path in texts {
                        // All that there is, without a look at it.
                        let start = path.trim_start_matches("./");
                        let is_all =
                            start.starts_with(SOME_NAME) && !self.outline.chooses || start.starts_with(SOME_WORD);
                        if is_all {
                            self.found.touch_unknown(access);
                        } else {
                            self.found.touch(access, path);
                        }
                    }
                }
                value => match value.texts() {
                    Some(paths) => paths.iter().for_each(|path| self.found.touch(access, path)),
                    None => self.found.touch_unknown(access),
                },
            }
        }
    }

    /// Gives a file a text. How it is written down may change it, and so may a mode.
    pub(super) fn write_text(&mut self, file: Option<&Value>, text: Option<&Value>, arguments: &Arguments) {
        let is_plain = |(name, value): &(String, Value)| {
            name == "encoding" && value.only_text().is_some_and(|name| matches!(name, "utf-8" | "utf8" | "UTF-8"))
        };
        let has_more = arguments.positional.iter().any(|value| matches!(value, Value::Record(_)));
        let is_whole = !has_more && arguments.named.iter().all(is_plain);
        match (file.and_then(Value::only_text), text.and_then(Value::only_text)) {
            (Some(path), Some(text)) if is_whole => self.found.write(path, Some(text)),
            _ => self.touch(Access::Write, file),
        }
    }

    /// A text of the same language, in the same scope.
    pub(super) fn run(&mut self, text: Option<&Value>) -> Value {
        let mut value = Value::Unknown;
        match text {
            // A block.
            Some(Value::Record(_)) => {}
            None if self.language == Language::Ruby => {}
            // As if it were run by its name.
            Some(Value::Content(files)) => {
                for file in files {
                    let words = [self.dialect.interpreter, file].map(|word| Some(word.to_owned()));
                    self.found.spawn(Spawn::words(words.to_vec()));
                }
            }
            text => match text.and_then(Value::texts) {
                None => self.found.hidden = true,
                Some(texts) => {
                    self.budget.depth += 1;
                    for text in texts {
                        let lexed = lex(self.language, &text);
                        self.found.hidden |= !lexed.sound;
                        let mut tape = Tape::new(&lexed.tokens);
                        self.spend(text.len(), &mut tape);
                        value = self.all(&mut tape);
                    }
                    self.budget.depth -= 1;
                }
            },
        }
        value
    }

    pub(super) fn module(&mut self, function: &str, module: Option<&Value>) -> Value {
        if let (Some(Value::Like { texts, .. }), Language::Node) = (module, self.language)
            && texts.iter().all(|text| text.starts_with("./"))
        {
            self.touch(Access::Read, module);
            return Value::Unknown;
        }
        // One of several that do nothing of what is told here.
        let is_harmless = |text: &String| !self.dialect.is_telling_module(text) && !text.starts_with(['.', '/', '~']);
        if module.and_then(Value::texts).is_some_and(|texts| texts.len() > 1 && texts.iter().all(is_harmless)) {
            return Value::Unknown;
        }
        let Some(text) = module.and_then(Value::only_text) else {
            // One that is only loaded does what any other does that is imported.
            if self.is_discarded && self.language == Language::Python {
                return Value::Unknown;
            }
            // A bare word is a name, not a value.
            let is_bare = matches!(module, Some(Value::Thing(name)) if !name.starts_with('$'));
            self.found.hidden |= !(is_bare && self.language == Language::Perl);
            return Value::Unknown;
        };
        let is_file = self.language != Language::Python
            && (text.starts_with(['.', '/', '~']) || matches!(text.rsplit_once('.'), Some((_, "pl" | "rb"))));
        if is_file {
            self.found.touch(Access::Read, text);
            self.load(text);
            return Value::Unknown;
        }
        let module = self.canonical(text);
        match module.split('.').next() {
            Some(first) if function == "__import__" => Value::Thing(first.to_owned()),
            _ => Value::Thing(module),
        }
    }

    /// A file of the same language, as if it were run by its name. Data is not run.
    pub(super) fn load(&mut self, file: &str) {
        let is_data = matches!(file.rsplit_once('.'), Some((_, "json")));
        if !is_data && self.language == Language::Node {
            let words = [self.dialect.interpreter, file].map(|word| Some(word.to_owned()));
            self.found.spawn(Spawn::words(words.to_vec()));
        }
    }

    pub(super) fn member_by_name(&mut self, arguments: &Arguments) -> Value {
        let (object, name) = match arguments.positional.as_slice() {
            [] => return Value::Unknown,
            // A name of the language itself.
            [name] => (Value::Thing(String::new()), name),
            [object, name, ..] => (object.clone(), name),
        };
        let Some(name) = name.only_text() else {
            self.escape(Some(&object));
            return Value::Unknown;
        };
        let member = self.member(object, name);
        if arguments.positional.len() == 1 {
            self.found.hidden |= matches!(&member, Value::Thing(name) if self.effect_of(name).is_some());
        }
        member
    }

    pub(super) fn send(&mut self, receiver: Value, arguments: &Arguments) -> Value {
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

    pub(super) fn method(&mut self, receiver: &Value, name: &str, arguments: &Arguments) -> Value {
        if receiver.is_pending() || arguments.positional.iter().any(Value::is_pending) {
            return Value::Pending;
        }
        // What was imported under that name may be a member of the class as well.
        if *receiver == Value::Instance && self.outline.classes.has_method(name) && self.names.get(name).is_none() {
            return Value::Unknown;
        }
        if let (true, Some(effect)) = (receiver.is_path(), self.path_method_effect(name)) {
            return self.path_call(receiver, effect, arguments);
        }
        if is_iterating(name) && matches!(arguments.positional.first(), Some(Value::Thing(_))) {
            return self.each(receiver, arguments);
        }
        let handed = self.dialect.handed.iter().find(|(module, method, _)| *method == name && self.uses(module));
        if let Some((_, _, effect)) = handed.filter(|_| *receiver == Value::Unknown) {
            return self.perform(*effect, name, arguments);
        }
        if let Value::Output(_) = receiver {
            match (name, arguments.positional.as_slice()) {
                ("write", [text]) => self.put_into(receiver, text.only_text()),
                ("close" | "flush" | "fileno", _) => {}
                _ => self.put_into(receiver, None),
            }
            return Value::Unknown;
        }
        if let Some(value) = text_method::of_text(self.language, receiver, name, arguments) {
            return value;
        }
        match (receiver, name) {
            // Some of the names of files, in whatever order: nobody counts how many.
            (Value::List(values), "filter" | "slice" | "sort" | "reverse")
                if self.language == Language::Node && values.iter().all(|one| matches!(one, Value::Like { .. })) =>
            {
                return receiver.clone();
            }
            (Value::Record(entries), "items" | "values") if self.language == Language::Python => {
                let is_whole = entries.iter().all(|(name, _)| !name.is_empty());
                let item = |(key, value): &(String, Value)| match name {
                    "items" => Value::List(vec![Value::text(key), value.clone()]),
                    _ => value.clone(),
                };
                return if is_whole { Value::List(entries.iter().map(item).collect()) } else { Value::Unknown };
            }
            _ => {}
        }
        let is_text = matches!(
            receiver,
            Value::Texts(_) | Value::Like { .. } | Value::Content(_) | Value::List(_) | Value::OneOf(_)
        );
        let is_like_a_path = self.is_like_a_path(name, arguments);
        let tells = !is_text && (self.dialect.telling_methods.contains(&name) || is_like_a_path);
        if let Some(effect) = self.path_method_effect(name).filter(|_| tells) {
            return self.path_call(&Value::Path(None), effect, arguments);
        }
        self.found.hidden |= tells || name == "constructor" && self.language == Language::Node;
        Value::Unknown
    }
}
