//! What is known of the shell that runs a script: its folder, its variables, its functions.

mod array;
mod attribute;
mod changed;
mod counting;
mod options;
mod own_commands;
mod positional;
mod trap;
mod value;

use attribute::Attribute;
use changed::changed;
use options::{Failing, Options};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use brush_parser::ast::FunctionBody;

use super::branch::Branches;
use super::command::{Assignment, Exported, Folders, Removed, Word};
use super::hidden::Hidden;
use super::printed::MAX_WAYS;
use super::written::plain;
use crate::paths;
use crate::programs::is_known_program;

pub(super) use array::Array;
pub(super) use positional::{Arguments, Positional};
pub(super) use trap::Trap;
pub(super) use value::Value;

/// By name. Shared until one of its holders changes it, because there is a state for each way that a script can go.
type Names<T> = Rc<BTreeMap<Arc<str>, T>>;

#[derive(Clone, Default)]
pub(super) struct State {
    /// `None`: set to something that is not known. What was never set comes from outside and is not known either.
    variables: Names<Option<Value>>,
    /// What those may be that are not known: the values on the ways that led here.
    possible: Names<Vec<Value>>,
    /// Which of those they are taken to be.
    pub(super) assumes: Option<usize>,
    /// Arrays of which every element is known.
    arrays: Names<Rc<Array>>,
    /// What becomes of what some variables are set to: `declare -l`.
    attributes: Names<Attribute>,
    /// What the script has set `PATH` to, as it is written.
    pub(super) path: Option<String>,
    /// Those that were there before, and that programs do not get to see any more.
    pub(super) removed: Removed,
    /// Names of those that programs get to see.
    exported: Rc<BTreeSet<Arc<str>>>,
    /// Those with their values; none where it was not asked for since they changed.
    environment: Option<Arc<[Exported]>>,
    pub(super) folders: Folders,
    /// Where it is if the last command failed; none where that makes no difference.
    failed: Option<Folders>,
    /// Whether that is likely: the script has deleted what it goes to.
    is_gone: bool,
    /// Folders that the script has deleted.
    deleted: Rc<BTreeSet<String>>,
    /// Those that the script has made, so that it can go there.
    made: Rc<BTreeSet<String>>,
    /// Where `cd -` leads.
    previous: Option<Folders>,
    /// Where `popd` leads.
    stack: Vec<Folders>,
    functions: Names<Defined>,
    /// Of those that are set, the last comes last.
    traps: Vec<Rc<Trap>>,
    /// Of the shell: `alias x=…`.
    pub(super) aliases: Names<Arc<str>>,
    /// Programs under other names: by copies, links and `hash -p`.
    renamed: Names<Arc<str>>,
    /// `$0`, of a script that is run by its name.
    zero: Option<Value>,
    /// `$1`, `$2`, ….
    positional: Arguments,
    /// For each function around, what its local variables were before.
    locals: Vec<Names<Before>>,
    /// `$_`: the last word of the last command.
    last_word: Option<Value>,
    /// Other names of variables: `declare -n`.
    references: Names<Arc<str>>,
    pub(super) options: Options,
    pub(super) failing: Failing,
    /// What is walked is never run: `exit` stands before it.
    pub(super) is_over: bool,
    pub(super) branches: Branches,
}

/// Variables of the shell that are numbers. Nobody cares which.
const NUMBERS: &[&str] =
    &["RANDOM", "SRANDOM", "PPID", "BASHPID", "UID", "EUID", "SECONDS", "EPOCHSECONDS", "LINENO", "COLUMNS", "LINES"];

/// Variables that are there before a script, with values that everybody knows.
const FROM_OUTSIDE: &[&str] = &[
    "SHELL",
    "BASH",
    "TMPDIR",
    "CLAUDE_PROJECT_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
];

/// More separators of words are nobody's.
const MAX_SEPARATORS: usize = 16;

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

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// `2`, or ` -1`: from the end.
fn place(range: &str, count: usize) -> Option<usize> {
    match range.trim().parse::<i64>().ok()? {
        from if from < 0 => count.checked_sub(usize::try_from(from.unsigned_abs()).ok()?),
        from => usize::try_from(from).ok(),
    }
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
pub(super) enum Before {
    NeverSet,
    Set { value: Option<Value>, possible: Vec<Value> },
}

/// What an expansion is.
pub(super) enum Expanded {
    One(Value),
    /// `$@`: each a word of its own, even between quotes.
    Several(Vec<Value>),
}

/// Without a copy where there is nothing to remove.
fn remove<T: Clone>(names: &mut Names<T>, name: &str) {
    if names.contains_key(name) {
        Rc::make_mut(names).remove(name);
    }
}

/// Adds what only the others have, without a copy where that is nothing.
fn add_missing<T: Clone>(names: &mut Names<T>, others: &Names<T>) {
    if Rc::ptr_eq(names, others) {
        return;
    }
    let missing: Vec<_> = others.iter().filter(|(name, _)| !names.contains_key(*name)).collect();
    if !missing.is_empty() {
        Rc::make_mut(names).extend(missing.into_iter().map(|(name, value)| (Arc::clone(name), value.clone())));
    }
}

/// Some more that a variable may be, without a copy where that is nothing.
fn add_possible<'v>(possible: &mut Names<Vec<Value>>, name: &Arc<str>, values: impl IntoIterator<Item = &'v Value>) {
    for value in values {
        let known = possible.get(name).map_or(&[][..], Vec::as_slice);
        if known.len() < MAX_WAYS && !known.contains(value) {
            Rc::make_mut(possible).entry(Arc::clone(name)).or_default().push(value.clone());
        }
    }
}

impl State {
    /// How much a copy of it may be.
    pub(super) fn size(&self) -> usize {
        self.variables.len()
            + self.possible.len()
            + self.arrays.len()
            + self.exported.len()
            + self.made.len()
            + self.functions.len()
            + self.aliases.len()
            + self.renamed.len()
    }

    pub(super) fn assign(&mut self, name: &str, value: Option<Value>) {
        if let Some(alias) = name.strip_prefix("BASH_ALIASES[").and_then(|name| name.strip_suffix(']')) {
            let text = value.as_ref().map(|value| Arc::clone(&value.text));
            Rc::make_mut(&mut self.aliases).extend(text.map(|text| (alias.into(), text)));
        } else if let Some((name, key)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            return self.assign_element(name, key, value);
        }
        // An element of an array changes the array.
        let name = name.split('[').next().unwrap_or(name);
        let meant = self.references.get(name).cloned();
        let name = meant.as_deref().unwrap_or(name);
        let value = match self.attributes.get(name) {
            Some(attribute) => value.and_then(|value| self.as_declared(*attribute, &value)),
            None => value,
        };
        remove(&mut self.possible, name);
        remove(&mut self.arrays, name);
        if self.options.exports_all {
            self.export_name(name);
        }
        if name == "HOME" || self.exported.contains(name) {
            self.environment = None;
        }
        Rc::make_mut(&mut self.variables).insert(name.into(), value);
    }

    /// `NAME[key]=value`
    fn assign_element(&mut self, name: &str, key: &str, value: Option<Value>) {
        let before = self.arrays.get(name).cloned();
        // One that nothing was said of before is made by it.
        let before = before.or_else(|| (!self.variables.contains_key(name)).then(|| Rc::new(Array::List(Vec::new()))));
        let value = value.filter(|value| !value.in_kind);
        let array = before.zip(value).and_then(|(array, value)| {
            let key = self.key(key, &array)?;
            Rc::unwrap_or_clone(array).with(&key, value)
        });
        self.assign(name, None);
        if let Some(array) = array {
            self.assign_array(name, array);
        }
    }

    /// Takes variables away for a while. Returns those that were gone before, where there are any to take.
    pub(super) fn remove_variables(&mut self, more: &Removed) -> Option<Removed> {
        let before = (*more != Removed::default()).then(|| self.removed.clone());
        self.removed.or(more);
        before
    }

    /// Where programs are looked for.
    pub(super) fn note_path(&mut self, name: &str, value: &Word) {
        if name == "PATH" {
            self.path = Some(value.value.as_deref().unwrap_or(&value.shown).to_owned());
        }
    }

    fn export_name(&mut self, name: &str) {
        if !self.exported.contains(name) {
            self.environment = None;
            Rc::make_mut(&mut self.exported).insert(name.into());
        }
    }

    /// A known program lies there from now on.
    pub(super) fn rename(&mut self, program: &str, path: &str) {
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let name = base(program);
        if paths::is_free(program) && is_known_program(&name) && base(path) != name {
            Rc::make_mut(&mut self.renamed).insert(plain(path).into(), name.into());
        }
    }

    /// The program that a name stands for, where it is not its own.
    pub(super) fn real_name(&self, name: &str) -> Option<&str> {
        // The program that looks: the shell.
        let is_itself = name.starts_with("/proc/") && name.ends_with("/exe");
        self.renamed.get(plain(name).as_str()).map(|program| &**program).or(is_itself.then_some("bash"))
    }

    pub(super) fn define(&mut self, name: &str, function: Rc<Function>) {
        let is_certain = !is_special(name);
        Rc::make_mut(&mut self.functions).insert(name.into(), Defined { function, is_certain });
    }

    pub(super) fn function(&self, name: &str) -> Option<Defined> {
        self.functions.get(name).cloned()
    }

    /// Returns the arguments that were there.
    pub(super) fn enter_function(&mut self, arguments: Positional) -> Arguments {
        self.locals.push(Names::default());
        std::mem::replace(&mut self.positional, arguments.into())
    }

    pub(super) fn leave_function(&mut self, arguments: Arguments) {
        let locals = self.locals.pop().unwrap_or_default();
        for (name, before) in locals.iter() {
            self.restore(name, before);
        }
        self.positional = arguments;
    }

    /// Sets variables for one command of the shell itself. Returns what they were.
    pub(super) fn enter_assignments(&mut self, set: &[Assignment]) -> Vec<(Arc<str>, Before)> {
        let before = set.iter().map(|set| (set.name.as_str().into(), self.before(&set.name))).collect();
        for assignment in set {
            self.assign(&assignment.name, Value::of(&assignment.value));
        }
        before
    }

    pub(super) fn leave_assignments(&mut self, before: Vec<(Arc<str>, Before)>) {
        for (name, before) in before {
            self.restore(&name, &before);
        }
    }

    fn before(&self, name: &str) -> Before {
        self.variables.get(name).map_or(Before::NeverSet, |value| Before::Set {
            value: value.clone(),
            possible: self.possible.get(name).cloned().unwrap_or_default(),
        })
    }

    /// As it was, and no array any more.
    fn restore(&mut self, name: &Arc<str>, before: &Before) {
        remove(&mut self.possible, name);
        remove(&mut self.arrays, name);
        remove(&mut self.attributes, name);
        self.environment = None;
        let variables = Rc::make_mut(&mut self.variables);
        match before {
            Before::Set { value, possible } => {
                variables.insert(Arc::clone(name), value.clone());
                add_possible(&mut self.possible, name, possible);
            }
            Before::NeverSet => drop(variables.remove(name)),
        }
    }

    pub(super) fn has_own_separators(&self) -> bool {
        self.variables.contains_key("IFS")
    }

    /// At which unquoted expansions are split; `None` where nobody knows.
    pub(super) fn separators(&self) -> Option<Cow<'static, str>> {
        match self.variables.get("IFS") {
            None => Some(Cow::Borrowed(" \t\n")),
            // Where something is assumed, so is what is usual.
            Some(None) if self.assumes.is_some() => Some(Cow::Borrowed(" \t\n")),
            Some(separators) => {
                let few = separators.as_ref().filter(|value| value.text.len() <= MAX_SEPARATORS);
                few.map(|value| Cow::Owned(value.text.to_string()))
            }
        }
    }

    pub(super) fn assign_array(&mut self, name: &str, array: Array) {
        self.assign(name, None);
        Rc::make_mut(&mut self.arrays).insert(name.into(), Rc::new(array));
    }

    /// The elements of an array with some more behind them; `None` where those before are not known.
    pub(super) fn appended(&self, name: &str, more: Array) -> Option<Array> {
        Rc::unwrap_or_clone(Rc::clone(self.arrays.get(name)?)).then(more)
    }

    /// `NAME+=more`: the value with some more behind it; `None` where it is not known.
    pub(super) fn extended(&self, name: &str, more: &Value) -> Option<Value> {
        let value = self.value(name).filter(|_| !more.tilde && !self.attributes.contains_key(name))?;
        Some(Value {
            text: [&*value.text, &more.text].concat().into(),
            glob: value.glob || more.glob,
            tilde: value.tilde,
            in_kind: value.in_kind || more.in_kind,
        })
    }

    /// The value of an expansion without commands in it; `None` where it is not known.
    pub(super) fn expand(&self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix('$')?;
        let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
        if let Some(range) = inside.strip_prefix("@:") {
            let arguments = self.arguments()?;
            // They count from one, and those from the end from behind the last.
            let from = place(range, arguments.len() + 1)?.saturating_sub(1);
            let arguments = arguments.iter().skip(from).cloned();
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
        if inside == "!#" {
            return self.arguments()?.last().cloned()?.map(Expanded::One);
        }
        if let Some(name) = inside.strip_prefix('!').and_then(|name| name.strip_suffix("[@]")) {
            return self.arrays.get(name).map(|array| Expanded::Several(array.keys()));
        }
        if let Some(name) = inside.strip_prefix('!').filter(|name| is_name(name)) {
            // The value of the variable that it names.
            let meant = self.value(name).filter(|value| !value.in_kind && is_name(&value.text))?;
            return self.expand(&format!("${}", meant.text));
        }
        let name_length =
            inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(inside.len());
        let (name, operator) = inside.split_at(name_length);
        if let Some(elements) = self.arrays.get(name) {
            if matches!(operator, "[@]" | "[*]") {
                return Some(Expanded::Several(elements.values()));
            }
            if let Some(range) = operator.strip_prefix("[@]:").filter(|range| !is_default(range)) {
                let from = place(range, elements.len())?;
                return Some(Expanded::Several(elements.values().into_iter().skip(from).collect()));
            }
            if let Some(key) = operator.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
                let key = self.key(key, elements)?;
                return elements.named(&key).or_else(|| elements.at(key.parse().ok()?)).map(Expanded::One);
            }
        }
        let value = self.value(name)?;
        let counted = self.counted_range(operator);
        let operator = counted.as_deref().unwrap_or(operator);
        match operator {
            "" => Some(Expanded::One(value)),
            // The default of what has a value.
            _ if changed(&value, operator).is_some() => changed(&value, operator).map(Expanded::One),
            // One from outside may not be there.
            _ if is_default(operator)
                && !value.text.is_empty()
                && (self.variables.contains_key(name) || operator.trim_start_matches(':').starts_with('?')) =>
            {
                Some(Expanded::One(value))
            }
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
        let name = self.references.get(name).map_or(name, |meant| meant);
        let assumed = self.assumes.and_then(|number| {
            let possible = self.possible.get(name)?;
            possible.get(number).or(possible.last())
        });
        if let Some(value) = assumed {
            return Some(value.clone());
        }
        match self.variables.get(name) {
            Some(None) => self.arrays.get(name).and_then(|array| array.named("0")),
            Some(value) => value.clone(),
            None if matches!(name, "SHELL" | "BASH") => Some(Value::plain("bash")),
            None if name == "_" => self.last_word.clone(),
            None if name == "IFS" => Some(Value::plain(" \t\n")),
            None if name == "TMPDIR" => Some(Value::in_kind(paths::TEMP)),
            None if name == "CLAUDE_PROJECT_DIR" => Some(Value::in_kind(paths::ROOT)),
            None if NUMBERS.contains(&name) => Some(Value::some_number()),
            None if name == "HOME" => Some(Value { tilde: true, ..Value::plain("~") }),
            None if name.starts_with("XDG_") => in_home(name).map(|place| Value { tilde: true, ..Value::plain(place) }),
            None if name == "PWD" => self.folders.only().map(|folder| Value {
                tilde: folder.starts_with('~'),
                ..Value::in_kind(if folder.is_empty() { "." } else { folder })
            }),
            None => None,
        }
    }

    /// In a shell of its own, as another program: it sees what is exported, and has no functions. What is not exported
    /// may still be there from outside.
    pub(super) fn enter_program(&mut self, name: Option<Value>, arguments: Positional) {
        if !self.variables.is_empty() {
            let variables = Rc::make_mut(&mut self.variables);
            for (_, value) in variables.iter_mut().filter(|(name, _)| !self.exported.contains(*name)) {
                *value = None;
            }
            variables.remove("IFS");
            self.environment = None;
        }
        (self.arrays, self.attributes) = (Names::default(), Names::default());
        self.aliases = Names::default();
        self.functions = Names::default();
        self.references = Names::default();
        (self.zero, self.positional) = (name, arguments.into());
        self.last_word = None;
        (self.failing, self.options) = (Failing::default(), Options::default());
        (self.previous, self.stack) = (None, Vec::new());
    }

    /// The script that is run has this name.
    pub(super) fn enter_script(&mut self, path: &str) {
        let name = Value::plain(path);
        self.zero = Some(name.clone());
        self.assign_array("BASH_SOURCE", Array::List(vec![name.clone()]));
        Rc::make_mut(&mut self.variables).insert("BASH_SOURCE".into(), Some(name));
    }

    pub(super) fn export(&mut self, assignment: &Assignment) {
        self.assign(&assignment.name, Value::of(&assignment.value));
        self.export_name(&assignment.name);
    }

    /// What programs get to see of what the script has set.
    pub(super) fn exported(&mut self) -> Arc<[Exported]> {
        let known = |name: &Arc<str>| {
            let value = self.variables.get(name)?.as_ref().map(|value| Arc::clone(&value.text));
            Some(Exported { name: Arc::clone(name), value })
        };
        let home: Arc<str> = "HOME".into();
        let exported = || self.exported.iter().chain([&home]).filter_map(known).collect();
        let environment = self.environment.take().unwrap_or_else(exported);
        Arc::clone(self.environment.insert(environment))
    }

    /// Everything may have changed.
    pub(super) fn forget(&mut self) {
        self.forget_settings();
        (self.folders, self.failed) = (Folders::unknown(), None);
        let variables = Rc::make_mut(&mut self.variables);
        for name in FROM_OUTSIDE {
            variables.entry((*name).into()).or_insert(None);
        }
    }

    /// All that is set may have changed: it is what it was, or something else.
    fn forget_settings(&mut self) {
        self.arrays = Names::default();
        let variables = Rc::make_mut(&mut self.variables);
        for (name, value) in variables.iter_mut() {
            add_possible(&mut self.possible, name, value.take().as_ref());
        }
        for name in ["HOME", "IFS"] {
            variables.entry(name.into()).or_insert(None);
        }
        self.environment = None;
        self.positional.forget();
        (self.previous, self.last_word) = (None, None);
        self.stack.clear();
        self.branches.forget();
        self.doubt_functions();
    }

    /// They may be other ones by now, or none.
    fn doubt_functions(&mut self) {
        for defined in Rc::make_mut(&mut self.functions).values_mut() {
            defined.is_certain = false;
        }
    }

    /// What this text of a loop may change is not known when its next round begins.
    pub(super) fn forget_changed_in(&mut self, text: &str) {
        let mut words = text
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '$' && letter != '.');
        let mentioned: BTreeSet<&str> =
            text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '$').collect();
        let sources = text.split(['\n', ';', '&', '|', '(', '{']).any(|part| part.trim_start().starts_with(". "));
        if sources
            || words.any(|word| matches!(word, "eval" | "source" | "let"))
            || mentioned.iter().any(|word| self.functions.contains_key(*word))
        {
            self.forget();
            return;
        }
        if ["cd", "pushd", "popd"].iter().any(|word| mentioned.contains(word)) {
            self.folders = Folders::unknown();
        }
        for name in mentioned {
            remove(&mut self.arrays, name);
            if let Some((name, Some(value))) = self.variables.get_key_value(name) {
                let name = Arc::clone(name);
                add_possible(&mut self.possible, &name, [value]);
                Rc::make_mut(&mut self.variables).insert(name, None);
                self.environment = None;
            }
        }
    }

    /// As it is if either of two ways was taken.
    pub(super) fn join(&mut self, other: &Self) {
        if self.both_go_on(other) {
            self.folders.or(&other.folders);
            self.join_all_else(other);
        }
    }

    /// As it is if the way that is meant was taken, or else another.
    pub(super) fn join_failed(&mut self, other: &Self) {
        if self.both_go_on(other) {
            self.folders.or_else(&other.folders);
            self.join_all_else(other);
        }
    }

    /// Where one of two ways ends, it is as on the other; but what the one has set to run at its end will run.
    fn both_go_on(&mut self, other: &Self) -> bool {
        match (self.is_over, other.is_over) {
            (false, false) => return true,
            (_, true) => self.join_traps(other),
            (true, false) => {
                let ended = std::mem::replace(self, other.clone());
                self.join_traps(&ended);
            }
        }
        false
    }

    fn join_all_else(&mut self, other: &Self) {
        self.join_traps(other);
        self.join_variables(&other.variables);
        if !Rc::ptr_eq(&self.possible, &other.possible) {
            for (name, values) in other.possible.iter() {
                add_possible(&mut self.possible, name, values);
            }
        }
        if !Rc::ptr_eq(&self.arrays, &other.arrays) {
            Rc::make_mut(&mut self.arrays).retain(|name, elements| other.arrays.get(name) == Some(elements));
        }
        self.branches.or(&other.branches);
        self.removed.or(&other.removed);
        self.positional.join(&other.positional);
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.last_word != other.last_word {
            self.last_word = None;
        }
        self.options.exports_all |= other.options.exports_all;
        self.failing.ends &= other.failing.ends;
        self.options.lastpipe |= other.options.lastpipe;
        self.options.dotglob |= other.options.dotglob;
        add_missing(&mut self.references, &other.references);
        add_missing(&mut self.attributes, &other.attributes);
        add_missing(&mut self.aliases, &other.aliases);
        add_missing(&mut self.renamed, &other.renamed);
        self.join_functions(&other.functions);
    }

    /// One that is not there on both ways may not be there.
    fn join_functions(&mut self, others: &Names<Defined>) {
        if Rc::ptr_eq(&self.functions, others) {
            return;
        }
        let functions = Rc::make_mut(&mut self.functions);
        for (name, defined) in functions.iter_mut() {
            defined.is_certain &= others.get(name).is_some_and(|other| other.is_certain);
        }
        for (name, defined) in others.iter() {
            let uncertain = || Defined { is_certain: false, ..defined.clone() };
            functions.entry(Arc::clone(name)).or_insert_with(uncertain);
        }
    }

    /// Those that differ are not known, but may be what they are here or there.
    fn join_variables(&mut self, others: &Names<Option<Value>>) {
        if Rc::ptr_eq(&self.variables, others) {
            return;
        }
        let here = self.variables.iter().filter(|(name, value)| others.get(*name) != Some(*value));
        let there = others.iter().filter(|(name, _)| !self.variables.contains_key(*name));
        let differing: Vec<Arc<str>> = here.chain(there).map(|(name, _)| Arc::clone(name)).collect();
        if differing.is_empty() {
            return;
        }
        self.environment = None;
        let variables = Rc::make_mut(&mut self.variables);
        for name in differing {
            let value = variables.insert(Arc::clone(&name), None).flatten();
            let values = value.iter().chain(others.get(&name).into_iter().flatten());
            add_possible(&mut self.possible, &name, values);
        }
    }

    /// It may be any of these.
    pub(super) fn may_be(&mut self, name: &str, values: &[Value]) {
        add_possible(&mut self.possible, &name.into(), values);
    }

    /// What is set otherwise there may be so here.
    pub(super) fn may_be_as(&mut self, other: &Self) {
        self.positional.may_be_as(&other.positional);
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        for (name, value) in other.variables.iter() {
            if value.is_some() && self.variables.get(name) != Some(value) {
                add_possible(&mut self.possible, name, value);
            }
        }
    }

    /// As it is if the last command failed, or with `!` before it, worked.
    pub(super) fn if_failed(&self) -> Self {
        let mut state = self.clone();
        state.assume(state.failing.is_negated);
        state
    }

    /// From here on, nobody knows whether the last command worked.
    pub(super) fn settle(&mut self) {
        // Had it failed, nothing more would run.
        if self.failing.ends && !self.failing.is_tested && !self.failing.is_negated {
            return self.assume(true);
        }
        self.failing.is_negated = false;
        self.branches.settle();
        let is_gone = std::mem::take(&mut self.is_gone);
        if let Some(failed) = self.failed.take() {
            if is_gone {
                self.folders.or(&failed);
            } else {
                self.folders.or_else(&failed);
            }
        }
    }

    /// From here on, the last command is known to have worked, or with `!` before it, to have failed.
    pub(super) fn assume_success(&mut self) {
        self.assume(!self.failing.is_negated);
    }

    fn assume(&mut self, worked: bool) {
        (self.failing.is_negated, self.is_gone) = (false, false);
        let failed = self.failed.take();
        if worked {
            self.branches.assume_success();
        } else {
            self.branches.fail();
            self.folders = failed.unwrap_or_else(|| self.folders.clone());
        }
    }

    /// Whether the last command went somewhere else, or failed to.
    pub(super) fn may_have_moved(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether what follows would be the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.variables == other.variables
            && self.possible == other.possible
            && self.folders == other.folders
            && self.positional == other.positional
            && self.branches == other.branches
    }

    /// `$1`, `$2`, …, as far as they are known.
    fn arguments(&self) -> Option<&[Option<Value>]> {
        self.positional.list(self.assumes)
    }

    pub(super) fn has_possible(&self) -> bool {
        !self.possible.is_empty() || self.positional.possible() > 0
    }

    /// How many things the variables that a text uses may be.
    pub(super) fn possible_in(&self, text: &str) -> usize {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let behind = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        let is_argument = |letter: char| letter.is_ascii_digit() || matches!(letter, '@' | '*' | '#');
        let counts = behind.map(|rest| {
            let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
            let of_name = rest.get(..length).and_then(|name| self.possible.get(name)).map_or(0, Vec::len);
            if rest.starts_with(is_argument) { self.positional.possible() } else { of_name }
        });
        // What is put behind a value changes with it.
        let behind_values = text
            .match_indices("+=")
            .filter_map(|(place, _)| text.get(..place)?.rsplit(|letter| !is_name(letter)).next());
        let appended = behind_values.filter_map(|name| self.possible.get(name)).map(Vec::len);
        counts.chain(appended).max().unwrap_or(0)
    }
}

/// Where the folders of a user are, as good as everywhere.
fn in_home(variable: &str) -> Option<&'static str> {
    match variable {
        "XDG_CONFIG_HOME" => Some("~/.config"),
        "XDG_STATE_HOME" => Some("~/.local/state"),
        "XDG_DATA_HOME" => Some("~/.local/share"),
        "XDG_CACHE_HOME" => Some("~/.cache"),
        _ => None,
    }
}
