//! What is known of the shell that runs a script: its folder, its variables, its functions.

mod array;
mod attribute;
mod changed;
mod counting;
mod expansion;
mod joining;
mod name;
mod options;
mod own_commands;
mod pattern;
mod positional;
mod possible;
mod trap;
mod value;

use attribute::Attribute;
use options::{Failing, Options};
use possible::{Held, Possible, add_possible};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use brush_parser::ast::FunctionBody;

use super::branch::Branches;
use super::command::{Assignment, Exported, Folders, Removed, Word};
use super::hidden::Hidden;
use super::written::plain;
use crate::paths;
use crate::programs::is_known_program;

pub(super) use array::Array;
pub(super) use expansion::Expanded;
pub(super) use name::Name;
pub(super) use positional::{Arguments, Positional};
pub(super) use possible::MAX_TOGETHER;
pub(super) use trap::Trap;
pub(super) use value::{SOME_NUMBER, Value};

/// By name. Shared until one of its holders changes it, because there is a state for each way that a script can go.
type Names<T> = Rc<BTreeMap<Arc<str>, T>>;

#[derive(Clone, Default)]
pub(super) struct State {
    /// `None`: set to something that is not known. What was never set comes from outside and is not known either.
    variables: Names<Option<Value>>,
    /// What those may be that are not known: the values on the ways that led here.
    possible: Names<Possible>,
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
    /// How often one was set by a name that nobody knows.
    pub(super) set_blindly: usize,
    pub(super) options: Options,
    pub(super) failing: Failing,
    /// What is walked is never run: `exit` stands before it.
    pub(super) is_over: bool,
    pub(super) branches: Branches,
}

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
    Set { value: Option<Value>, array: Option<Rc<Array>>, possible: Option<Possible> },
}

/// Whether elements are put behind an array, and nothing else is done with it: the next round adds nothing new, because
/// all else that the loop changes is not known in any round.
fn is_only_appended(text: &str, name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(name).all(|(place, _)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        let behind = text.get(place + name.len()..).unwrap_or_default();
        let is_other = before.is_some_and(is_of_name) || behind.starts_with(is_of_name);
        is_other || before != Some('$') && behind.starts_with("+=(")
    })
}

/// Without a copy where there is nothing to remove.
fn remove<T: Clone>(names: &mut Names<T>, name: &str) {
    if names.contains_key(name) {
        Rc::make_mut(names).remove(name);
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
        let before = self.array(name).cloned();
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

    /// Whether these are the arguments of the function that runs, all of them known.
    pub(super) fn is_given(&self, arguments: &Positional) -> bool {
        arguments.is_known() && self.positional == arguments.clone().into()
    }

    pub(super) fn give(&mut self, arguments: Positional) {
        self.positional = arguments.into();
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
            array: self.arrays.get(name).cloned(),
            possible: self.possible.get(name).cloned(),
        })
    }

    /// As it was.
    fn restore(&mut self, name: &Arc<str>, before: &Before) {
        remove(&mut self.possible, name);
        remove(&mut self.arrays, name);
        remove(&mut self.attributes, name);
        self.environment = None;
        let variables = Rc::make_mut(&mut self.variables);
        match before {
            Before::Set { value, array, possible } => {
                variables.insert(Arc::clone(name), value.clone());
                if let Some(array) = array {
                    Rc::make_mut(&mut self.arrays).insert(Arc::clone(name), Rc::clone(array));
                }
                if let Some(possible) = possible {
                    Rc::make_mut(&mut self.possible).insert(Arc::clone(name), possible.clone());
                }
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
        Rc::unwrap_or_clone(Rc::clone(self.array(name)?)).then(more)
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
        self.doubt_possible();
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

    /// The same, as far as the functions that there are may change it: the folder is what it was where none leads
    /// elsewhere, and so is how words are split.
    pub(super) fn forget_by_functions(&mut self) {
        let texts: Vec<String> = self.functions.values().map(|it| it.function.body.0.to_string()).collect();
        let is_in_one = |wanted: &[&str]| {
            let words = |text: &String| {
                text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.')
                    .any(|word| wanted.contains(&word))
            };
            texts.iter().any(words)
        };
        let is_anything = is_in_one(&["eval", "source", "."]);
        let folders = (!is_anything && !is_in_one(&["cd", "pushd", "popd"])).then(|| self.folders.clone());
        let is_split_as_ever = !is_anything && !is_in_one(&["IFS"]) && !self.variables.contains_key("IFS");
        self.forget();
        self.folders = folders.unwrap_or_else(|| self.folders.clone());
        if is_split_as_ever {
            Rc::make_mut(&mut self.variables).remove("IFS");
        }
    }

    /// All that is set may have changed: it is what it was, or something else.
    pub(super) fn forget_settings(&mut self) {
        self.doubt_possible();
        for (name, array) in std::mem::take(&mut self.arrays).iter() {
            add_possible(&mut self.possible, name, [Held::Several(Rc::clone(array))]);
        }
        let variables = Rc::make_mut(&mut self.variables);
        for (name, value) in variables.iter_mut() {
            add_possible(&mut self.possible, name, value.take().map(Held::One));
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
        if sources || words.any(|word| matches!(word, "eval" | "source" | "let")) {
            self.forget();
            return;
        }
        let leaves = ["cd", "pushd", "popd"].iter().any(|word| mentioned.contains(word));
        if mentioned.iter().any(|word| self.functions.contains_key(*word)) {
            if leaves {
                self.forget();
            } else {
                self.forget_by_functions();
            }
            return;
        }
        if leaves {
            self.folders = Folders::unknown();
        }
        // The next round has other arguments.
        let shifts = ["shift", "set"].iter().any(|word| mentioned.contains(word));
        for name in mentioned {
            if !shifts && is_only_appended(text, name) && self.arrays.contains_key(name) {
                continue;
            }
            let held = self.held(name);
            remove(&mut self.arrays, name);
            if let Some((name, value)) = self.variables.get_key_value(name) {
                let (name, is_known) = (Arc::clone(name), value.is_some());
                add_possible(&mut self.possible, &name, held);
                self.doubt(&name);
                if is_known {
                    Rc::make_mut(&mut self.variables).insert(name, None);
                    self.environment = None;
                }
            }
        }
    }

    /// Whether an expansion is nothing but a variable that no command here has set.
    pub(super) fn is_foreign(&self, raw: &str) -> bool {
        let name = raw
            .strip_prefix('$')
            .map(|name| name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name));
        let is_set = |name: &str| {
            self.variables.contains_key(name) || self.arrays.contains_key(name) || self.possible.contains_key(name)
        };
        name.is_some_and(|name| {
            expansion::is_name(name) && !name.starts_with(|first: char| first.is_ascii_digit()) && !is_set(name)
        })
    }

    pub(super) fn has_possible(&self) -> bool {
        !self.possible.is_empty() || self.positional.possible() > 0
    }
}
