//! What is known of the shell that runs a script: its folder, its variables, its functions.

use std::collections::BTreeMap;
use std::rc::Rc;

use brush_parser::ast::FunctionBody;

use super::command::{Folders, SimpleCommand, Word};
use super::hidden::Hidden;

#[derive(Clone, Default)]
pub(super) struct State {
    /// `None`: set to something that is not known. What was never set comes from outside and is not known either.
    variables: BTreeMap<String, Option<Value>>,
    pub(super) folders: Folders,
    /// Where it is if the last command failed; none where that makes no difference.
    failed: Option<Folders>,
    /// Where `cd -` leads.
    previous: Option<Folders>,
    /// Where `popd` leads.
    stack: Vec<Folders>,
    functions: BTreeMap<String, Rc<Function>>,
    /// `$1`, `$2`, …; none where they are not known.
    positional: Option<Vec<Option<Value>>>,
    /// `set -e`: what follows runs only if all before it worked.
    stops_at_errors: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    /// It has glob characters that were not quoted.
    pub(super) glob: bool,
    /// It is the home folder, or begins with it.
    pub(super) tilde: bool,
}

pub(super) struct Function {
    pub(super) body: FunctionBody,
    /// Of the text that defines it.
    pub(super) hidden: Rc<Hidden>,
}

/// What an expansion is.
pub(super) enum Expanded {
    One(Value),
    /// `$@`: each a word of its own, even between quotes.
    Several(Vec<Value>),
}

impl Value {
    pub(super) fn of(word: &Word) -> Option<Self> {
        word.value.clone().map(|text| Self { text, glob: word.glob, tilde: word.tilde })
    }

    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), glob: false, tilde: false }
    }
}

impl State {
    pub(super) fn assign(&mut self, name: &str, value: Option<Value>) {
        // An element of an array changes the array.
        let name = name.split('[').next().unwrap_or(name);
        self.variables.insert(name.to_owned(), value);
    }

    pub(super) fn define(&mut self, name: &str, function: Rc<Function>) {
        self.functions.insert(name.to_owned(), function);
    }

    pub(super) fn function(&self, name: &str) -> Option<Rc<Function>> {
        self.functions.get(name).cloned()
    }

    /// Puts other arguments in place, and returns those that were there.
    pub(super) fn replace_arguments(&mut self, arguments: Option<Vec<Option<Value>>>) -> Option<Vec<Option<Value>>> {
        std::mem::replace(&mut self.positional, arguments)
    }

    /// Whether unquoted expansions are split at white space.
    pub(super) fn splits_at_spaces(&self) -> bool {
        !self.variables.contains_key("IFS")
    }

    /// The value of an expansion without commands in it; `None` where it is not known.
    pub(super) fn expand(&self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix('$')?;
        let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
        if matches!(inside, "@" | "*") {
            let arguments = self.positional.as_ref()?.iter().cloned().collect::<Option<Vec<_>>>()?;
            return Some(Expanded::Several(arguments));
        }
        let name_length =
            inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(inside.len());
        let (name, operator) = inside.split_at(name_length);
        let value = self.value(name)?;
        match operator {
            "" => Some(Expanded::One(value)),
            // The default of what has a value.
            _ if (operator.starts_with(":-") || operator.starts_with('-')) && !value.text.is_empty() => {
                Some(Expanded::One(value))
            }
            _ => None,
        }
    }

    fn value(&self, name: &str) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            let arguments = self.positional.as_ref()?;
            return match number.checked_sub(1) {
                None => None,
                Some(place) => arguments.get(place).cloned().unwrap_or_else(|| Some(Value::plain(""))),
            };
        }
        match self.variables.get(name) {
            Some(value) => value.clone(),
            None if name == "HOME" => Some(Value { text: "~".to_owned(), glob: false, tilde: true }),
            None if name == "PWD" => self.folders.only().map(|folder| Value {
                text: if folder.is_empty() { ".".to_owned() } else { folder.to_owned() },
                glob: false,
                tilde: folder.starts_with('~'),
            }),
            None => None,
        }
    }

    /// Everything may have changed.
    pub(super) fn forget(&mut self) {
        self.variables.clear();
        // Nobody knows what it is set to by now.
        self.variables.insert("HOME".to_owned(), None);
        self.variables.insert("IFS".to_owned(), None);
        (self.folders, self.failed) = (Folders::unknown(), None);
        self.positional = None;
        self.previous = None;
        self.stack.clear();
    }

    /// What this text of a loop may change is not known when its next round begins.
    pub(super) fn forget_changed_in(&mut self, text: &str) {
        let mut words = text
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '$' && letter != '.');
        let mentions = |name: &str| {
            let mut words =
                text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '$');
            words.any(|word| word == name)
        };
        if words.any(|word| matches!(word, "eval" | "source" | "." | "let"))
            || self.functions.keys().any(|name| mentions(name))
            || text.contains("((")
        {
            self.forget();
            return;
        }
        if ["cd", "pushd", "popd"].into_iter().any(mentions) {
            self.folders = Folders::unknown();
        }
        for (name, value) in &mut self.variables {
            if mentions(name) {
                *value = None;
            }
        }
    }

    /// As it is if either of two ways was taken.
    pub(super) fn join(&mut self, other: &Self) {
        for name in other.variables.keys() {
            self.variables.entry(name.clone()).or_insert(None);
        }
        for (name, value) in &mut self.variables {
            if other.variables.get(name) != Some(value) {
                *value = None;
            }
        }
        self.folders.or_else(&other.folders);
        if self.positional != other.positional {
            self.positional = None;
        }
        if self.previous != other.previous {
            self.previous = None;
        }
        self.stops_at_errors &= other.stops_at_errors;
        for (name, function) in &other.functions {
            self.functions.entry(name.clone()).or_insert_with(|| Rc::clone(function));
        }
    }

    /// As it is if the last command failed.
    pub(super) fn if_failed(&self) -> Self {
        let mut state = self.clone();
        state.folders = state.failed.take().unwrap_or(state.folders);
        state
    }

    /// From here on, nobody knows whether the last command worked.
    pub(super) fn settle(&mut self) {
        if let Some(failed) = self.failed.take() {
            self.folders.or_else(&failed);
        }
    }

    /// From here on, the last command is known to have worked.
    pub(super) fn assume_success(&mut self) {
        self.failed = None;
    }

    /// Whether what follows would be the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.variables == other.variables && self.folders == other.folders && self.positional == other.positional
    }

    /// Does what a command of the shell itself does to it.
    pub(super) fn run(&mut self, command: &SimpleCommand) {
        let Some(program) = command.program() else { return };
        let operands = || command.words.iter().skip(1);
        match program {
            "cd" | "pushd" => self.change_folder(command, program == "pushd"),
            "popd" => {
                self.previous = Some(self.folders.clone());
                self.folders = self.stack.pop().unwrap_or_else(Folders::unknown);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                // A reference to another variable, a number, another case.
                let changes = operands().any(|word| {
                    word.value
                        .as_deref()
                        .is_some_and(|text| text.starts_with('-') && text.contains(['n', 'i', 'u', 'l', 'a', 'A']))
                });
                for word in operands() {
                    let text = word.value.as_deref().unwrap_or(&word.shown);
                    if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
                        let known = word.value.is_some() && !changes && !name.ends_with('+');
                        let value = known.then(|| Value {
                            text: value.to_owned(),
                            glob: word.glob,
                            tilde: value.starts_with('~'),
                        });
                        self.assign(name.trim_end_matches('+'), value);
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "printf" | "let" => {
                for word in operands() {
                    let name = word.value.as_deref().unwrap_or_default();
                    if program != "printf" || self.variables.contains_key(name) {
                        self.assign(name, None);
                    }
                }
            }
            "set" => {
                let flags = operands().filter_map(|word| word.value.as_deref());
                self.stops_at_errors |=
                    flags.clone().any(|flag| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('e'));
                if flags.clone().any(|flag| flag == "--") || operands().any(|word| !word.raw.starts_with(['-', '+'])) {
                    self.positional = None;
                }
            }
            "shift" => self.positional = None,
            "source" | "." => self.forget(),
            _ => {}
        }
    }

    fn change_folder(&mut self, command: &SimpleCommand, keeps: bool) {
        let mut operands = command
            .words
            .iter()
            .skip(1)
            .filter(|word| !matches!(word.value.as_deref(), Some("-L" | "-P" | "-e" | "--")));
        let before = self.folders.clone();
        let target = operands.next();
        self.folders = match target.map(|word| word.value.as_deref()) {
            _ if operands.next().is_some() => Folders::unknown(),
            None if keeps => Folders::unknown(),
            None => Folders::at("~"),
            Some(Some("-")) => self.previous.clone().unwrap_or_else(Folders::unknown),
            Some(Some(path)) if !target.is_some_and(|word| word.glob) && !path.starts_with(['+']) => before.then(path),
            Some(_) => Folders::unknown(),
        };
        self.failed = (!self.stops_at_errors).then(|| before.clone());
        if keeps {
            self.stack.push(before.clone());
        }
        self.previous = Some(before);
    }
}
