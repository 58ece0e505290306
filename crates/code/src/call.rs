//! Calls of functions and methods: finds the callee, and applies its effect.

use super::arguments::Arguments;
use super::evaluator::Evaluator;
use super::function_effect::{ArgumentSelector, FunctionEffect, PathMethodEffect};
use super::lex::lex;
use super::spawn_calls::stdout_value;
use super::string_methods;
use super::token_cursor::TokenCursor;
use super::value::{NAME_PLACEHOLDER, Value, WORD_PLACEHOLDER};
use super::{Access, Language, Spawn};

/// True for methods of lists that call the function in their argument once for each element.
pub(super) fn is_iteration_method(method: &str) -> bool {
    matches!(method, "forEach" | "map" | "each" | "starmap")
}

/// Functions of all languages that print their arguments.
const PRINT_FUNCTIONS: &[&str] = &["print", "puts", "say", "console.log", "process.stdout.write", "sys.stdout.write"];

impl Evaluator {
    /// True for Ruby's `send`, which calls a method by name.
    pub(super) fn is_send(&self, name: &str) -> bool {
        let last = name.rsplit('.').next().unwrap_or(name);
        self.language == Language::Ruby && matches!(last, "send" | "__send__" | "public_send")
    }

    /// Evaluates a call of `callee`: applies the effect of the function, and returns the call's result.
    pub(super) fn apply(&mut self, callee: Value, arguments: &Arguments) -> Value {
        match callee {
            Value::QualifiedName(name) if self.is_send(&name) => {
                let receiver = name.rsplit_once('.').map(|(receiver, _)| Value::QualifiedName(receiver.to_owned()));
                self.send(receiver.unwrap_or(Value::QualifiedName(String::new())), arguments)
            }
            Value::Method(receiver, name) if self.is_send(&name) => self.send(*receiver, arguments),
            Value::QualifiedName(name) => {
                if let Some(effect) = self.effect_of(&name) {
                    let value = self.apply_effect(effect, &name, arguments);
                    // An object such as an open archive has members in the tables, so it is named after the function
                    // that returns it.
                    let is_file_object = matches!(value, Value::Unknown | Value::FileContent(_) | Value::OutputFile(_));
                    let has_known_members = is_file_object && self.dialect.returns_known_object(&name);
                    return if has_known_members { Value::QualifiedName(format!("{name}()")) } else { value };
                }
                if self.dialect.returns_known_object(&name) {
                    return Value::QualifiedName(format!("{name}()"));
                }
                if let Some(function) = self.outline.functions.get(&name).cloned() {
                    self.bind_parameters_to_arguments(&function.parameters, arguments);
                    return if function.has_block_body { self.defined_function_result() } else { Value::Unknown };
                }
                if self.outline.classes.has_class(&name) {
                    return Value::Instance;
                }
                if let Some(effect) = self.class_method_effect(&name) {
                    let receiver = arguments.positional.first().cloned().unwrap_or(Value::Unknown).into_path();
                    let positional = arguments.positional.get(1..).unwrap_or_default().to_vec();
                    return self.call_path_method(
                        &receiver,
                        effect,
                        &Arguments { positional, named: arguments.named.clone() },
                    );
                }
                // `import(…).catch(…)` and `import(…).finally(…)` also resolve to the module.
                if let (Language::JavaScript, Some((module, "catch" | "finally"))) =
                    (self.language, name.rsplit_once('.'))
                {
                    return Value::QualifiedName(module.to_owned());
                }
                if PRINT_FUNCTIONS.contains(&name.as_str()) {
                    self.print(arguments);
                }
                Value::Unknown
            }
            Value::Method(receiver, name) => self.call_method(&receiver, &name, arguments),
            Value::Pending => Value::Pending,
            _ => Value::Unknown,
        }
    }

    fn print(&mut self, arguments: &Arguments) {
        let strings: Option<Vec<&str>> = arguments.positional.iter().map(Value::only_string).collect();
        let has_default_format = arguments.named.iter().all(|(name, _)| matches!(name.as_str(), "file" | "flush"));
        let line = strings.map(|strings| strings.join(" "));
        match (arguments.named("file"), line) {
            (Some(file), line) => {
                let line = line.filter(|_| has_default_format).map(|line| line + "\n");
                self.write_to_output(file, line.as_deref());
            }
            (None, Some(line)) => self.findings.print(line),
            (None, None) => {}
        }
    }

    /// True if a name is bound to the module or to one of its members.
    fn uses_module(&self, module: &str) -> bool {
        let is_in_module =
            |name: &str| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.bindings.values().any(|value| matches!(value, Value::QualifiedName(name) if is_in_module(name)))
    }

    /// Records that a string is appended to an open file. `output` is `None` if the string is not constant.
    pub(super) fn write_to_output(&mut self, file: &Value, output: Option<&str>) {
        if let Value::OutputFile(paths) = file {
            for path in paths {
                self.findings.append_output(path, output);
            }
        }
    }

    /// Evaluates a call that passes each element of a list to a function: `files.forEach(fs.unlinkSync)` or
    /// `pool.map(os.remove, files)`.
    fn call_for_each(&mut self, receiver: &Value, arguments: &Arguments) -> Value {
        let Some((function, rest)) = arguments.positional.split_first() else { return Value::Unknown };
        let values = rest.first().filter(|_| self.language == Language::Python).unwrap_or(receiver);
        let positional = vec![values.element()];
        self.apply(function.clone(), &Arguments { positional, ..Arguments::default() });
        Value::Unknown
    }

    /// Returns the result of a function that the program defines. The result may be that of any function in the
    /// program, because all of them bind the same names: `return` and `yield`.
    fn defined_function_result(&mut self) -> Value {
        match (self.bindings.get("return").cloned(), self.bindings.get("yield").cloned()) {
            (Some(value), None) => value,
            // The number and order of the yielded values are unknown. This does not matter if the values themselves are
            // not fully known.
            (None, Some(value @ (Value::PartlyKnown { .. } | Value::Pending))) => Value::List(vec![value]),
            (None, None) => {
                let word = if self.outline.assigned.contains("yield") { "yield" } else { "return" };
                Some(self.lookup(word)).filter(Value::is_pending).unwrap_or(Value::Unknown)
            }
            _ => Value::Unknown,
        }
    }

    /// Returns the effect of a call in which a method of path objects is called on their class: `Path.unlink(path)`.
    pub(super) fn class_method_effect(&self, name: &str) -> Option<PathMethodEffect> {
        let (class, method) = name.rsplit_once('.')?;
        matches!(self.effect_of(class), Some(FunctionEffect::MakePath)).then(|| self.path_method_effect(method))?
    }

    pub(super) fn path_method_effect(&self, method: &str) -> Option<PathMethodEffect> {
        self.dialect.path_methods.iter().find(|(name, _)| *name == method).map(|(_, effect)| *effect)
    }

    /// Records the effect of a call, and returns the call's result.
    pub(super) fn apply_effect(&mut self, effect: FunctionEffect, name: &str, arguments: &Arguments) -> Value {
        match effect {
            FunctionEffect::Access(accesses) => self.record_argument_accesses(accesses, arguments),
            FunctionEffect::AccessAll(access, from) => self.record_accesses_from(access, from, arguments),
            FunctionEffect::AccessOrDefault(access, argument, default) => match arguments.get(argument) {
                Some(file) => self.record_access(access, Some(file)),
                None => self.findings.record_access(access, default),
            },
            FunctionEffect::Fetch(argument) => self.fetch(arguments.get(argument), arguments),
            FunctionEffect::MemberCommand => self.run_member_command(name, arguments),
            FunctionEffect::FixedCommand(words) => self.run_fixed_command(words, arguments),
            FunctionEffect::UnsetVariable(argument) => self.unset_variable(arguments.get(argument)),
            FunctionEffect::ReadPath => {
                self.record_access(Access::Read, arguments.positional.first());
                return self.evaluate_harmless_call(FunctionEffect::MakePath, name, arguments);
            }
            FunctionEffect::WriteContents(path, contents) => {
                self.write_contents(arguments.get(path), arguments.get(contents), arguments);
            }
            FunctionEffect::Open { path, mode } => return self.open(arguments, path, mode),
            FunctionEffect::OpenOrRun => self.open_or_run(arguments),
            FunctionEffect::PerlOpen { handles } => {
                self.open_in_perl(arguments.positional.get(handles..).unwrap_or_default());
            }
            FunctionEffect::Shell(command) => {
                return self.call_shell(name, arguments.get(command), arguments);
            }
            FunctionEffect::Program(command) => {
                self.spawn_program(name, arguments, arguments.get(command));
                return stdout_value(arguments.get(command));
            }
            FunctionEffect::System => {
                self.run_system(arguments);
                return stdout_value(Some(&Value::List(arguments.positional.clone())));
            }
            FunctionEffect::Spawn => {
                self.spawn_with_argument_list(None, name, arguments);
                return stdout_value(Some(&Value::List(arguments.flattened().into_iter().cloned().collect())));
            }
            FunctionEffect::Fork(interpreter) => self.spawn_with_argument_list(Some(interpreter), name, arguments),
            FunctionEffect::Exec { program } => self.run_exec(arguments.positional.get(program..).unwrap_or_default()),
            FunctionEffect::Eval(argument) => return self.eval(arguments.get(argument)),
            FunctionEffect::Import => return self.import_module(name, arguments.positional.first()),
            FunctionEffect::GetMember => return self.get_member(arguments),
            FunctionEffect::NewDirectoryWithPrefix(argument) => {
                return self.create_directory(arguments.get(argument));
            }
            FunctionEffect::AllNames => return Value::QualifiedName(String::new()),
            FunctionEffect::ChangeDirectory(argument) => self.change_directory(arguments.get(argument)),
            FunctionEffect::ChangeToUnknownDirectory => self.findings.in_unknown_directory = true,
            FunctionEffect::Map => self.call_with_elements(arguments),
            FunctionEffect::DeclareOption => self.declare_option(arguments),
            FunctionEffect::ParseOptions => return self.parse_options(arguments),
            FunctionEffect::Send | FunctionEffect::Opaque => self.findings.is_opaque = true,
            harmless => return self.evaluate_harmless_call(harmless, name, arguments),
        }
        Value::Unknown
    }

    fn unset_variable(&mut self, name: Option<&Value>) {
        let name = name.and_then(Value::only_string);
        self.findings.unset_variables.extend(name.map(str::to_owned));
    }

    /// Records the accesses to the files that these arguments name.
    fn record_argument_accesses(&mut self, accesses: &[(Access, ArgumentSelector)], arguments: &Arguments) {
        // With the argument `dir_fd`, the path is relative to an open directory, not to the working directory.
        self.findings.in_unknown_directory |= arguments.named.iter().any(|(name, _)| name.ends_with("dir_fd"));
        for (access, argument) in accesses {
            self.record_access(*access, arguments.get(*argument));
        }
    }

    /// Records accesses to the files that the arguments name, beginning with the argument at index `from`.
    fn record_accesses_from(&mut self, access: Access, from: usize, arguments: &Arguments) {
        let values = arguments.flattened();
        if values.len() <= from {
            self.findings.record_unknown_access(access);
        }
        for value in values.into_iter().skip(from) {
            self.record_access(access, Some(value));
        }
    }

    /// Records that a directory whose name starts with a prefix is created. Returns the directory's path.
    fn create_directory(&mut self, prefix: Option<&Value>) -> Value {
        self.record_access(Access::Write, prefix);
        prefix.map_or(Value::Unknown, |prefix| prefix.joined(&Value::Unknown, ""))
    }

    /// Evaluates a request of a URL. A `file:` URL is recorded as a read access, and a request with an explicit HTTP
    /// method as the `curl` command that would send it.
    fn fetch(&mut self, url: Option<&Value>, arguments: &Arguments) {
        let urls = url.and_then(Value::strings).unwrap_or_default();
        for path in urls.iter().filter_map(|url| url.strip_prefix("file:")) {
            let path = path.strip_prefix("//localhost").or_else(|| path.strip_prefix("//")).unwrap_or(path);
            self.findings.record_access(Access::Read, path);
        }
        if let Some(method) = arguments.option("method").and_then(Value::only_string) {
            let words = ["curl", "-X", method].map(Value::string).into_iter();
            let body = arguments.option("body").map(|body| [Value::string("-d"), body.clone()]);
            let words: Vec<Value> = words.chain(url.cloned()).chain(body.into_iter().flatten()).collect();
            self.spawn_words(&words, None);
        }
    }

    /// Records a script that the program passes to a shell. Returns the value of the script's stdout.
    fn call_shell(&mut self, name: &str, command: Option<&Value>, arguments: &Arguments) -> Value {
        // The analysis does not follow strings that are written into a pipe of `os.popen`.
        let mode = arguments.positional.get(1).and_then(Value::only_string).filter(|_| name == "os.popen");
        self.findings.is_opaque |= mode.is_some_and(|mode| mode.starts_with('w'));
        let spawn_options = self.spawn_options(arguments, self.options_index_after(1, name, arguments));
        self.spawn_shell(command, spawn_options.as_ref());
        stdout_value(command)
    }

    /// Records a change of the working directory. Without an argument, the new directory is the home directory.
    fn change_directory(&mut self, directory: Option<&Value>) {
        match directory {
            None => self.findings.change_directory(&["~".to_owned()]),
            Some(Value::Pending) => {}
            Some(directory) => match directory.strings() {
                Some(directories) => self.findings.change_directory(&directories),
                None => self.findings.in_unknown_directory = true,
            },
        }
    }

    /// Evaluates a call of the function in the first argument, with an element of each of the other arguments.
    fn call_with_elements(&mut self, arguments: &Arguments) {
        if let Some((function, rest)) = arguments.positional.split_first() {
            let positional = rest.iter().map(Value::element).collect();
            self.apply(function.clone(), &Arguments { positional, ..Arguments::default() });
        }
    }

    /// Records an access to the file that a value names, or to an unknown file if the name is not constant.
    pub(super) fn record_access(&mut self, access: Access, file: Option<&Value>) {
        let Some(file) = file else {
            self.findings.record_unknown_access(access);
            return;
        };
        for value in file.flattened() {
            match value {
                Value::NumberOrDescriptor => {}
                Value::PartlyKnown { strings, .. } => {
                    let filters = self.outline.file_name_filters.iter().filter(|_| access != Access::Delete);
                    let filtered =
                        filters.flat_map(|name| strings.iter().map(|path| path.replace(NAME_PLACEHOLDER, name)));
                    for path in filtered.filter(|path| !strings.contains(path)).collect::<Vec<_>>() {
                        self.findings.record_access_only(access, &path);
                    }
                    for path in strings {
                        // If a glob matches all files, and the program does not filter them, it is unknown which files
                        // are accessed.
                        let glob = path.trim_start_matches("./");
                        let matches_all = glob.starts_with(NAME_PLACEHOLDER) && !self.outline.may_filter_files
                            || glob.starts_with(WORD_PLACEHOLDER);
                        if matches_all {
                            self.findings.record_unknown_access(access);
                        } else {
                            self.findings.record_access(access, path);
                        }
                    }
                }
                value => match value.strings() {
                    Some(paths) => paths.iter().for_each(|path| self.findings.record_access(access, path)),
                    None => self.findings.record_unknown_access(access),
                },
            }
        }
    }

    /// Records that the contents of a file are replaced. The new contents count as unknown if the call has options that
    /// can change them, such as an encoding or a mode.
    pub(super) fn write_contents(&mut self, file: Option<&Value>, contents: Option<&Value>, arguments: &Arguments) {
        let is_utf8_encoding = |(name, value): &(String, Value)| {
            name == "encoding" && value.only_string().is_some_and(|name| matches!(name, "utf-8" | "utf8" | "UTF-8"))
        };
        let has_options_object = arguments.positional.iter().any(|value| matches!(value, Value::Record(_)));
        let is_written_unchanged = !has_options_object && arguments.named.iter().all(is_utf8_encoding);
        match (file.and_then(Value::only_string), contents.and_then(Value::only_string)) {
            (Some(path), Some(contents)) if is_written_unchanged => self.findings.write_file(path, Some(contents)),
            _ => self.record_access(Access::Write, file),
        }
    }

    /// Evaluates a string as source code, in the scope of the program.
    pub(super) fn eval(&mut self, source: Option<&Value>) -> Value {
        let mut value = Value::Unknown;
        match source {
            // A block in braces is not a string with source code; it has been evaluated already.
            Some(Value::Record(_)) => {}
            None if self.language == Language::Ruby => {}
            // Code from a file is recorded as a command that runs the file.
            Some(Value::FileContent(files)) => {
                for file in files {
                    let words = [self.dialect.interpreter, file].map(|word| Some(word.to_owned()));
                    self.findings.spawn(Spawn::words(words.to_vec()));
                }
            }
            source => match source.and_then(Value::strings) {
                None => self.findings.is_opaque = true,
                Some(sources) => {
                    self.budget.depth += 1;
                    for source in sources {
                        let lexed = lex(self.language, &source);
                        self.findings.is_opaque |= !lexed.is_understood;
                        let mut cursor = TokenCursor::new(&lexed.tokens);
                        self.spend(source.len(), &mut cursor);
                        value = self.evaluate_all_statements(&mut cursor);
                    }
                    self.budget.depth -= 1;
                }
            },
        }
        value
    }

    pub(super) fn import_module(&mut self, function: &str, module: Option<&Value>) -> Value {
        if let (Some(Value::PartlyKnown { strings, .. }), Language::JavaScript) = (module, self.language)
            && strings.iter().all(|name| name.starts_with("./"))
        {
            self.record_access(Access::Read, module);
            return Value::Unknown;
        }
        // If all possible modules are harmless, it does not matter which of them is imported.
        let is_harmless =
            |name: &String| !self.dialect.has_effectful_members(name) && !name.starts_with(['.', '/', '~']);
        if module.and_then(Value::strings).is_some_and(|strings| strings.len() > 1 && strings.iter().all(is_harmless)) {
            return Value::Unknown;
        }
        let Some(name) = module.and_then(Value::only_string) else {
            // If the result of `import_module(name)` is not used, the module does not matter: effects of loading a
            // module are never analyzed.
            if self.is_result_discarded && self.language == Language::Python {
                return Value::Unknown;
            }
            // In Perl, `require Module` names a module without quotes.
            let is_bare_word = matches!(module, Some(Value::QualifiedName(name)) if !name.starts_with('$'));
            self.findings.is_opaque |= !(is_bare_word && self.language == Language::Perl);
            return Value::Unknown;
        };
        let is_file = self.language != Language::Python
            && (name.starts_with(['.', '/', '~']) || matches!(name.rsplit_once('.'), Some((_, "pl" | "rb"))));
        if is_file {
            self.findings.record_access(Access::Read, name);
            self.load_file(name);
            return Value::Unknown;
        }
        let module = self.table_name(name);
        match module.split('.').next() {
            Some(first) if function == "__import__" => Value::QualifiedName(first.to_owned()),
            _ => Value::QualifiedName(module),
        }
    }

    /// Records a source file that JavaScript loads, as a command that runs the file. A JSON file is only data.
    pub(super) fn load_file(&mut self, file: &str) {
        let is_data = matches!(file.rsplit_once('.'), Some((_, "json")));
        if !is_data && self.language == Language::JavaScript {
            let words = [self.dialect.interpreter, file].map(|word| Some(word.to_owned()));
            self.findings.spawn(Spawn::words(words.to_vec()));
        }
    }

    pub(super) fn get_member(&mut self, arguments: &Arguments) -> Value {
        let (object, name) = match arguments.positional.as_slice() {
            [] => return Value::Unknown,
            // A name without a dot is that of a global function.
            [name] => (Value::QualifiedName(String::new()), name),
            [object, name, ..] => (object.clone(), name),
        };
        let Some(name) = name.only_string() else {
            self.record_escape(Some(&object));
            return Value::Unknown;
        };
        let member = self.access_member(object, name);
        if arguments.positional.len() == 1 {
            self.findings.is_opaque |= matches!(&member, Value::QualifiedName(name) if self.effect_of(name).is_some());
        }
        member
    }

    pub(super) fn send(&mut self, receiver: Value, arguments: &Arguments) -> Value {
        let Some((name, rest)) = arguments.positional.split_first() else { return Value::Unknown };
        let Some(name) = name.only_string().filter(|name| !self.is_send(name)) else {
            self.findings.is_opaque = true;
            return Value::Unknown;
        };
        let callee = match receiver {
            // In Ruby, global functions can also be called as methods of any object.
            receiver if self.dialect.function_effect(name).is_none() => self.access_member(receiver, name),
            _ => self.lookup(name),
        };
        self.apply(callee, &Arguments { positional: rest.to_vec(), named: arguments.named.clone() })
    }

    pub(super) fn call_method(&mut self, receiver: &Value, name: &str, arguments: &Arguments) -> Value {
        if receiver.is_pending() || arguments.positional.iter().any(Value::is_pending) {
            return Value::Pending;
        }
        // The result of a method of the program's own class is unknown. But if the name is also bound, the class may
        // have an imported function as a member, and the call may be one of that function.
        if *receiver == Value::Instance && self.outline.classes.has_method(name) && self.bindings.get(name).is_none() {
            return Value::Unknown;
        }
        if let (true, Some(effect)) = (receiver.is_path(), self.path_method_effect(name)) {
            return self.call_path_method(receiver, effect, arguments);
        }
        if is_iteration_method(name) && matches!(arguments.positional.first(), Some(Value::QualifiedName(_))) {
            return self.call_for_each(receiver, arguments);
        }
        let callback = self
            .dialect
            .callback_methods
            .iter()
            .find(|(module, method, _)| *method == name && self.uses_module(module));
        if let Some((_, _, effect)) = callback.filter(|_| *receiver == Value::Unknown) {
            return self.apply_effect(*effect, name, arguments);
        }
        if let Value::OutputFile(_) = receiver {
            self.call_output_method(receiver, name, arguments);
            return Value::Unknown;
        }
        if let Some(value) = string_methods::string_method(self.language, receiver, name, arguments) {
            return value;
        }
        if let Some(value) = self.collection_method(receiver, name) {
            return value;
        }
        let cannot_be_path = matches!(
            receiver,
            Value::Strings(_)
                | Value::PartlyKnown { .. }
                | Value::FileContent(_)
                | Value::List(_)
                | Value::OneOfLists(_)
        );
        let looks_like_path_method = self.looks_like_path_method(name, arguments);
        let has_path_method_name =
            !cannot_be_path && (self.dialect.distinctive_methods.contains(&name) || looks_like_path_method);
        if let Some(effect) = self.path_method_effect(name).filter(|_| has_path_method_name) {
            return self.call_path_method(&Value::Path(None), effect, arguments);
        }
        self.findings.is_opaque |=
            has_path_method_name || name == "constructor" && self.language == Language::JavaScript;
        Value::Unknown
    }

    fn call_output_method(&mut self, receiver: &Value, name: &str, arguments: &Arguments) {
        match (name, arguments.positional.as_slice()) {
            ("write", [string]) => self.write_to_output(receiver, string.only_string()),
            ("close" | "flush" | "fileno", _) => {}
            _ => self.write_to_output(receiver, None),
        }
    }

    /// Returns the result of a method of a list or a record, if it is known.
    fn collection_method(&self, receiver: &Value, name: &str) -> Option<Value> {
        match (receiver, name) {
            // Each element stands for unknown files, such as the matches of a glob, so a selection or another order
            // makes no difference.
            (Value::List(values), "filter" | "slice" | "sort" | "reverse")
                if self.language == Language::JavaScript
                    && values.iter().all(|value| matches!(value, Value::PartlyKnown { .. })) =>
            {
                Some(receiver.clone())
            }
            (Value::Record(entries), "items" | "values") if self.language == Language::Python => {
                let are_keys_known = entries.iter().all(|(name, _)| !name.is_empty());
                let item = |(key, value): &(String, Value)| match name {
                    "items" => Value::List(vec![Value::string(key), value.clone()]),
                    _ => value.clone(),
                };
                Some(if are_keys_known { Value::List(entries.iter().map(item).collect()) } else { Value::Unknown })
            }
            _ => None,
        }
    }
}
