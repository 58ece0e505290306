//! What is known of the shell that runs a script: its folder, its variables, its functions.

mod own_commands;
mod trap;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use brush_parser::ast::FunctionBody;

use super::branch::Branches;
use super::command::{Assignment, Folders, Word};
use super::hidden::Hidden;
use super::written::plain;
use crate::paths;
use crate::programs::is_known_program;

pub(super) use trap::Trap;

#[derive(Clone, Default)]
pub(super) struct State {
    /// `None`: set to something that is not known. What was never set comes from outside and is not known either.
    variables: BTreeMap<String, Option<Value>>,
    /// What those may be that are not known: the value on one of two ways.
    possible: BTreeMap<String, Value>,
    /// The same of `$1`, `$2`, ….
    possible_positional: Option<Vec<Option<Value>>>,
    /// Whether they are taken to be that.
    pub(super) assumes: bool,
    /// Arrays of which every element is known.
    arrays: BTreeMap<String, Vec<Value>>,
    /// Names of those that programs get to see.
    exported: BTreeSet<String>,
    pub(super) folders: Folders,
    /// Where it is if the last command failed; none where that makes no difference.
    failed: Option<Folders>,
    /// Those that the script has made, so that it can go there.
    made: BTreeSet<String>,
    /// Where `cd -` leads.
    previous: Option<Folders>,
    /// Where `popd` leads.
    stack: Vec<Folders>,
    functions: BTreeMap<String, Defined>,
    /// Of those that are set, the last comes last.
    traps: Vec<Rc<Trap>>,
    /// Of the shell: `alias x=…`.
    pub(super) aliases: BTreeMap<String, String>,
    /// Programs under other names: by copies, links and `hash -p`.
    renamed: BTreeMap<String, String>,
    /// `$0`, of a script that is run by its name.
    zero: Option<Value>,
    /// `$1`, `$2`, …; none where they are not known.
    positional: Option<Vec<Option<Value>>>,
    /// For each function around, what its local variables were before.
    locals: Vec<BTreeMap<String, Before>>,
    /// `$_`: the last word of the last command.
    last_word: Option<Value>,
    /// `set -a`: programs get to see whatever is set.
    exports_all: bool,
    /// `set -e`: what follows runs only if all before it worked.
    stops_at_errors: bool,
    pub(super) branches: Branches,
}

/// Variables of the shell that are numbers. Nobody cares which.
const NUMBERS: &[&str] =
    &["RANDOM", "SRANDOM", "PPID", "BASHPID", "UID", "EUID", "SECONDS", "EPOCHSECONDS", "LINENO", "COLUMNS", "LINES"];
const SOME_NUMBER: &str = "12345";

/// Longer arrays are not followed.
const MAX_ELEMENTS: usize = 256;

/// What `:0:4`, `%end` or `#beginning` make of a value; `None` for anything that is a pattern.
fn changed(value: &Value, operator: &str) -> Option<Value> {
    let is_text = |text: &&str| !text.contains(['*', '?', '[', '$', '`', '\\', '"', '\'']);
    let with = |text: &str| Value { text: text.to_owned(), ..value.clone() };
    let text = value.text.as_str();
    if let Some(range) = operator.strip_prefix(':') {
        let (from, length) = range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
        let from: usize = from.trim().parse().ok()?;
        let length = length.map_or(Some(usize::MAX), |length| length.trim().parse().ok())?;
        return Some(with(&text.chars().skip(from).take(length).collect::<String>()));
    }
    if let Some(end) = operator.strip_prefix("%%").or_else(|| operator.strip_prefix('%')).filter(is_text) {
        return Some(with(text.strip_suffix(end).unwrap_or(text)));
    }
    let start = operator.strip_prefix("##").or_else(|| operator.strip_prefix('#')).filter(is_text)?;
    Some(with(text.strip_prefix(start).unwrap_or(text)))
}

/// Commands of the shell that a function does not hide in every shell: POSIX looks for them first.
fn is_special(name: &str) -> bool {
    let special = [
        ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
        "source", "times", "trap", "unset",
    ];
    special.contains(&name)
}

/// `:-x`, `=x`, `:?message`: what counts only for a variable that has no value.
fn is_default(operator: &str) -> bool {
    operator.strip_prefix(':').unwrap_or(operator).starts_with(['-', '=', '?'])
}

/// `[2]`
fn index(operator: &str) -> Option<usize> {
    operator.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    /// It has glob characters that were not quoted.
    pub(super) glob: bool,
    /// It is the home folder, or begins with it.
    pub(super) tilde: bool,
    /// It is not the text itself, but stands for one of its kind.
    pub(super) in_kind: bool,
}

/// A function under its name.
#[derive(Clone)]
pub(super) struct Defined {
    pub(super) function: Rc<Function>,
    /// Whether the name surely means the function; a program of the same name may be meant otherwise.
    pub(super) is_certain: bool,
}

pub(super) struct Function {
    pub(super) body: FunctionBody,
    /// Of the text that defines it.
    pub(super) hidden: Rc<Hidden>,
}

/// What a variable was before a function had one of the same name.
#[derive(Clone)]
enum Before {
    NeverSet,
    Set(Option<Value>),
}

/// What an expansion is.
pub(super) enum Expanded {
    One(Value),
    /// `$@`: each a word of its own, even between quotes.
    Several(Vec<Value>),
}

impl Value {
    pub(super) fn of(word: &Word) -> Option<Self> {
        let in_kind = word.value.is_none();
        word.meaning().map(|text| Self { text: text.to_owned(), glob: word.glob, tilde: word.tilde, in_kind })
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), glob: false, tilde: false, in_kind: false }
    }

    pub(super) fn in_kind(text: impl Into<String>) -> Self {
        Self { in_kind: true, ..Self::plain(text) }
    }

    pub(super) fn some_number() -> Self {
        Self::in_kind(SOME_NUMBER)
    }
}

impl State {
    pub(super) fn assign(&mut self, name: &str, value: Option<Value>) {
        // An element of an array changes the array.
        let name = name.split('[').next().unwrap_or(name);
        self.possible.remove(name);
        self.arrays.remove(name);
        if self.exports_all {
            self.exported.insert(name.to_owned());
        }
        self.variables.insert(name.to_owned(), value);
    }

    /// A known program lies there from now on.
    pub(super) fn rename(&mut self, program: &str, path: &str) {
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let name = base(program);
        if paths::is_free(program) && is_known_program(&name) && base(path) != name {
            self.renamed.insert(plain(path), name);
        }
    }

    /// The program that a name stands for, where it is not its own.
    pub(super) fn real_name(&self, name: &str) -> Option<&str> {
        self.renamed.get(&plain(name)).map(String::as_str)
    }

    pub(super) fn define(&mut self, name: &str, function: Rc<Function>) {
        let is_certain = !is_special(name);
        self.functions.insert(name.to_owned(), Defined { function, is_certain });
    }

    pub(super) fn function(&self, name: &str) -> Option<Defined> {
        self.functions.get(name).cloned()
    }

    /// Returns the arguments that were there.
    pub(super) fn enter_function(&mut self, arguments: Vec<Option<Value>>) -> Option<Vec<Option<Value>>> {
        self.locals.push(BTreeMap::new());
        self.positional.replace(arguments)
    }

    pub(super) fn leave_function(&mut self, arguments: Option<Vec<Option<Value>>>) {
        for (name, value) in self.locals.pop().into_iter().flatten() {
            match value {
                Before::Set(value) => self.variables.insert(name, value),
                Before::NeverSet => self.variables.remove(&name),
            };
        }
        self.positional = arguments;
    }

    /// At which unquoted expansions are split; `None` where nobody knows.
    pub(super) fn separators(&self) -> Option<String> {
        match self.variables.get("IFS") {
            None => Some(" \t\n".to_owned()),
            Some(separators) => separators.as_ref().map(|value| value.text.clone()),
        }
    }

    pub(super) fn assign_array(&mut self, name: &str, elements: Vec<Value>) {
        self.assign(name, None);
        self.arrays.insert(name.to_owned(), elements);
    }

    /// The elements of an array with some more behind them; `None` where those before are not known.
    pub(super) fn appended(&self, name: &str, more: Vec<Value>) -> Option<Vec<Value>> {
        let elements = self.arrays.get(name)?;
        (elements.len() + more.len() <= MAX_ELEMENTS).then(|| elements.iter().cloned().chain(more).collect())
    }

    /// The value of an expansion without commands in it; `None` where it is not known.
    pub(super) fn expand(&self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix('$')?;
        let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
        if let Some(from) = inside.strip_prefix("@:").and_then(|from| from.parse::<usize>().ok()) {
            let arguments = self.arguments()?.iter().skip(from.saturating_sub(1)).cloned();
            return arguments.collect::<Option<Vec<_>>>().map(Expanded::Several);
        }
        if matches!(inside, "@" | "*") {
            let arguments = self.arguments()?.iter().cloned().collect::<Option<Vec<_>>>()?;
            return Some(Expanded::Several(arguments));
        }
        if matches!(inside, "$" | "!" | "?") {
            return Some(Expanded::One(Value::some_number()));
        }
        if inside == "#" {
            let count = self.arguments()?.len();
            return Some(Expanded::One(Value::plain(count.to_string())));
        }
        let name_length =
            inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(inside.len());
        let (name, operator) = inside.split_at(name_length);
        if let ("[@]" | "[*]", Some(elements)) = (operator, self.arrays.get(name)) {
            return Some(Expanded::Several(elements.clone()));
        }
        if let (Some(index), Some(elements)) = (index(operator), self.arrays.get(name)) {
            // Of what a pattern becomes, nobody knows the number.
            let is_counted = |before: &[Value]| !before.iter().any(|value| value.glob);
            return elements
                .get(index)
                .filter(|_| elements.get(..index).is_some_and(is_counted))
                .cloned()
                .map(Expanded::One);
        }
        let value = self.value(name)?;
        match operator {
            "" => Some(Expanded::One(value)),
            // The default of what has a value.
            _ if changed(&value, operator).is_some() => changed(&value, operator).map(Expanded::One),
            _ if is_default(operator) && !value.text.is_empty() => Some(Expanded::One(value)),
            _ => None,
        }
    }

    fn value(&self, name: &str) -> Option<Value> {
        if let Ok(number) = name.parse::<usize>() {
            if number == 0 {
                return self.zero.clone();
            }
            let arguments = self.arguments()?;
            return match number.checked_sub(1) {
                None => None,
                Some(place) => arguments.get(place).cloned().unwrap_or_else(|| Some(Value::plain(""))),
            };
        }
        match self.variables.get(name) {
            Some(None) if self.assumes => self.possible.get(name).cloned(),
            Some(value) => value.clone(),
            None if matches!(name, "SHELL" | "BASH") => Some(Value::plain("bash")),
            None if name == "_" => self.last_word.clone(),
            None if name == "TMPDIR" => Some(Value::in_kind(paths::TEMP)),
            None if name == "CLAUDE_PROJECT_DIR" => Some(Value::in_kind(paths::ROOT)),
            None if NUMBERS.contains(&name) => Some(Value::some_number()),
            None if name == "HOME" => Some(Value { tilde: true, ..Value::plain("~") }),
            None if name == "PWD" => self.folders.only().map(|folder| Value {
                tilde: folder.starts_with('~'),
                ..Value::in_kind(if folder.is_empty() { "." } else { folder })
            }),
            None => None,
        }
    }

    /// In a shell of its own, as another program: it sees what is exported, and has no functions. What is not exported
    /// may still be there from outside.
    pub(super) fn enter_program(&mut self, name: Option<Value>, arguments: Vec<Option<Value>>) {
        for (name, value) in &mut self.variables {
            if !self.exported.contains(name) {
                *value = None;
            }
        }
        self.variables.remove("IFS");
        self.arrays.clear();
        self.aliases.clear();
        self.functions.clear();
        (self.zero, self.positional) = (name, Some(arguments));
        self.last_word = None;
        (self.stops_at_errors, self.exports_all) = (false, false);
        (self.previous, self.stack) = (None, Vec::new());
    }

    /// The script that is run has this name.
    pub(super) fn enter_script(&mut self, path: &str) {
        let name = Value::plain(path);
        self.zero = Some(name.clone());
        self.assign_array("BASH_SOURCE", vec![name.clone()]);
        self.variables.insert("BASH_SOURCE".to_owned(), Some(name));
    }

    pub(super) fn export(&mut self, assignment: &Assignment) {
        self.assign(&assignment.name, Value::of(&assignment.value));
        self.exported.insert(assignment.name.clone());
    }

    /// What programs get to see of what the script has set.
    pub(super) fn exported(&self) -> Vec<Assignment> {
        let known = |name: &String| {
            let value = self.variables.get(name)?;
            let value = Word { value: value.as_ref().map(|value| value.text.clone()), ..Word::default() };
            Some(Assignment { name: name.clone(), value })
        };
        let home = "HOME".to_owned();
        self.exported.iter().chain([&home]).filter_map(known).collect()
    }

    /// Everything may have changed.
    pub(super) fn forget(&mut self) {
        self.variables.clear();
        self.arrays.clear();
        self.possible.clear();
        // Nobody knows what it is set to by now.
        self.variables.insert("HOME".to_owned(), None);
        self.variables.insert("IFS".to_owned(), None);
        (self.folders, self.failed) = (Folders::unknown(), None);
        self.positional = None;
        (self.previous, self.last_word) = (None, None);
        self.stack.clear();
        self.branches.forget();
        self.doubt_functions();
    }

    /// They may be other ones by now, or none.
    fn doubt_functions(&mut self) {
        for defined in self.functions.values_mut() {
            defined.is_certain = false;
        }
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
        let sources = text.split(['\n', ';', '&', '|', '(', '{']).any(|part| part.trim_start().starts_with(". "));
        if sources
            || words.any(|word| matches!(word, "eval" | "source" | "let"))
            || self.functions.keys().any(|name| mentions(name))
        {
            self.forget();
            return;
        }
        if ["cd", "pushd", "popd"].into_iter().any(mentions) {
            self.folders = Folders::unknown();
        }
        for (name, value) in &mut self.variables {
            if mentions(name) {
                self.arrays.remove(name);
                self.possible.extend(value.take().map(|value| (name.clone(), value)));
            }
        }
    }

    /// As it is if either of two ways was taken.
    pub(super) fn join(&mut self, other: &Self) {
        self.folders.or(&other.folders);
        self.join_all_else(other);
    }

    /// As it is if the way that is meant was taken, or else another.
    pub(super) fn join_failed(&mut self, other: &Self) {
        self.folders.or_else(&other.folders);
        self.join_all_else(other);
    }

    fn join_all_else(&mut self, other: &Self) {
        for name in other.variables.keys() {
            self.variables.entry(name.clone()).or_insert(None);
        }
        for (name, value) in &mut self.variables {
            let others = other.variables.get(name);
            if others != Some(value) {
                let possible = value.take().or_else(|| others.cloned().flatten());
                self.possible.extend(possible.map(|possible| (name.clone(), possible)));
            }
        }
        for (name, value) in &other.possible {
            self.possible.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self.join_traps(other);
        self.arrays.retain(|name, elements| other.arrays.get(name) == Some(elements));
        self.branches.or(&other.branches);
        if self.positional != other.positional {
            self.possible_positional = self.positional.take().or_else(|| other.positional.clone());
        }
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.last_word != other.last_word {
            self.last_word = None;
        }
        self.exports_all |= other.exports_all;
        self.stops_at_errors &= other.stops_at_errors;
        for (name, alias) in &other.aliases {
            self.aliases.entry(name.clone()).or_insert_with(|| alias.clone());
        }
        for (path, program) in &other.renamed {
            self.renamed.entry(path.clone()).or_insert_with(|| program.clone());
        }
        for (name, defined) in &mut self.functions {
            let others = other.functions.get(name);
            defined.is_certain &= others.is_some_and(|others| others.is_certain);
        }
        for (name, defined) in &other.functions {
            let uncertain = || Defined { is_certain: false, ..defined.clone() };
            self.functions.entry(name.clone()).or_insert_with(uncertain);
        }
    }

    /// As it is if the last command failed.
    pub(super) fn if_failed(&self) -> Self {
        let mut state = self.clone();
        state.folders = state.failed.take().unwrap_or(state.folders);
        state.branches.fail();
        state
    }

    /// From here on, nobody knows whether the last command worked.
    pub(super) fn settle(&mut self) {
        self.branches.settle();
        if let Some(failed) = self.failed.take() {
            self.folders.or_else(&failed);
        }
    }

    /// From here on, the last command is known to have worked.
    pub(super) fn assume_success(&mut self) {
        self.branches.assume_success();
        self.failed = None;
    }

    /// Whether what follows would be the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.variables == other.variables
            && self.folders == other.folders
            && self.positional == other.positional
            && self.branches == other.branches
    }

    /// `$1`, `$2`, …, as far as they are known.
    fn arguments(&self) -> Option<&Vec<Option<Value>>> {
        self.positional.as_ref().or_else(|| self.possible_positional.as_ref().filter(|_| self.assumes))
    }

    /// Whether a text uses a variable that may be something.
    pub(super) fn has_possible_in(&self, text: &str) -> bool {
        if self.positional.is_none() && self.possible_positional.is_some() {
            return text.contains('$');
        }
        let uses = |name: &String| {
            let mut behind = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
            behind.any(|rest| rest.starts_with(name.as_str()))
        };
        self.possible.keys().any(uses)
    }
}
