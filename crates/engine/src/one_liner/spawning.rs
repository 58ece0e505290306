//! Calls that start programs.

use super::arguments::Arguments;
use super::reader::Reader;
use super::value::Value;
use super::{Language, Spawn};

impl Reader {
    /// A program that starts in another folder, or is another than its words say.
    pub(super) fn started_elsewhere(&mut self, arguments: &Arguments) {
        let options = ["cwd", "chdir", "executable"];
        self.found.hidden |= options.iter().any(|option| arguments.option(option).is_some());
    }

    pub(super) fn shell(&mut self, command: Option<&Value>) {
        match command.and_then(Value::texts) {
            Some(texts) => texts.into_iter().for_each(|text| self.found.spawn(Spawn::Shell(text))),
            None => self.found.hidden = true,
        }
    }

    pub(super) fn words<'v>(&mut self, words: impl IntoIterator<Item = &'v Value>) {
        let words: Option<Vec<_>> = words.into_iter().map(|word| word.only_text().map(str::to_owned)).collect();
        match words.filter(|words| !words.is_empty()) {
            Some(words) => self.found.spawn(Spawn::Words(words)),
            None => self.found.hidden = true,
        }
    }

    pub(super) fn program(&mut self, arguments: &Arguments, program: Option<&Value>) {
        self.started_elsewhere(arguments);
        match program {
            Some(Value::List(words)) if uses_shell(arguments) => self.shell(words.first()),
            Some(Value::List(words)) => self.words(words),
            program => self.shell(program),
        }
    }

    pub(super) fn system(&mut self, arguments: &Arguments) {
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

    pub(super) fn spawn(&mut self, interpreter: Option<&str>, arguments: &Arguments) {
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

    pub(super) fn exec(&mut self, arguments: &[Value]) {
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
}

fn uses_shell(arguments: &Arguments) -> bool {
    match arguments.option("shell") {
        None => false,
        Some(Value::Thing(name)) => !name.eq_ignore_ascii_case("false"),
        Some(_) => true,
    }
}
