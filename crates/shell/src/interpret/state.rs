//! What is known of the shell that runs a script: its folder, its variables, its functions.

mod array;
mod attribute;
mod builtins;
mod counting;
mod declaration;
mod defined_commands;
mod expansion;
mod expansion_operators;
mod joining;
mod options;
mod parameters;
mod pattern;
mod positional;
mod possible;
mod shared_map;
mod trap;
mod value;
mod variable_name;
mod variables;
mod working_directory;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{Assignment, Folders};
use crate::special_programs::git_branches::Branches;
use options::{Failing, Options};
use parameters::Parameters;
use possible::{Held, add_possible};
use shared_map::{Names, remove};
use variables::{PreviousValue, Variables};
use working_directory::WorkingDirectory;

pub(crate) use array::Array;
pub(crate) use defined_commands::{Defined, DefinedCommands, Function};
pub(crate) use expansion::Expanded;
pub(crate) use positional::{Arguments, Positional};
pub(crate) use possible::MAX_TOGETHER;
pub(crate) use trap::Trap;
pub(crate) use value::Value;
pub(crate) use variable_name::Name;

#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) variables: Variables,
    pub(crate) directory: WorkingDirectory,
    pub(crate) commands: DefinedCommands,
    parameters: Parameters,
    /// Traps in the order they were installed.
    traps: Vec<Rc<Trap>>,
    pub(crate) options: Options,
    pub(crate) failing: Failing,
    /// What is walked is never run: `exit` stands before it.
    pub(crate) is_over: bool,
    pub(crate) branches: Branches,
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

impl State {
    /// How much a copy of it may be.
    pub(crate) fn size(&self) -> usize {
        self.variables.values.len()
            + self.variables.possible.len()
            + self.variables.arrays.len()
            + self.variables.exported.len()
            + self.directory.made.len()
            + self.commands.functions.len()
            + self.commands.aliases.len()
            + self.commands.renamed.len()
    }

    pub(crate) fn assign(&mut self, name: &str, value: Option<Value>) {
        if let Some(alias) = name.strip_prefix("BASH_ALIASES[").and_then(|name| name.strip_suffix(']')) {
            let text = value.as_ref().map(|value| Arc::clone(&value.text));
            Rc::make_mut(&mut self.commands.aliases).extend(text.map(|text| (alias.into(), text)));
        } else if let Some((name, key)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            return self.assign_element(name, key, value);
        }
        // An element of an array changes the array.
        let name = name.split('[').next().unwrap_or(name);
        let meant = self.variables.references.get(name).cloned();
        let name = meant.as_deref().unwrap_or(name);
        let value = match self.variables.attributes.get(name) {
            Some(attribute) => value.and_then(|value| self.as_declared(*attribute, &value)),
            None => value,
        };
        remove(&mut self.variables.possible, name);
        remove(&mut self.variables.arrays, name);
        if self.options.exports_all {
            self.variables.export_name(name);
        }
        if name == "HOME" || self.variables.exported.contains(name) {
            self.variables.environment = None;
        }
        Rc::make_mut(&mut self.variables.values).insert(name.into(), value);
    }

    /// `NAME[key]=value`
    fn assign_element(&mut self, name: &str, key: &str, value: Option<Value>) {
        let before = self.variables.array(name).cloned();
        // One that nothing was said of before is made by it.
        let before =
            before.or_else(|| (!self.variables.values.contains_key(name)).then(|| Rc::new(Array::List(Vec::new()))));
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

    /// Returns the arguments that were there.
    pub(crate) fn enter_function(&mut self, arguments: Positional) -> Arguments {
        self.variables.locals.push(Names::default());
        std::mem::replace(&mut self.parameters.positional, arguments.into())
    }

    /// Whether these are the arguments of the function that runs, all of them known.
    pub(crate) fn is_given(&self, arguments: &Positional) -> bool {
        arguments.is_known() && self.parameters.positional == arguments.clone().into()
    }

    pub(crate) fn give(&mut self, arguments: Positional) {
        self.parameters.positional = arguments.into();
    }

    pub(crate) fn leave_function(&mut self, arguments: Arguments) {
        let locals = self.variables.locals.pop().unwrap_or_default();
        for (name, before) in locals.iter() {
            self.variables.restore(name, before);
        }
        self.parameters.positional = arguments;
    }

    /// Sets variables for one command of the shell itself. Returns what they were.
    pub(crate) fn enter_assignments(&mut self, set: &[Assignment]) -> Vec<(Arc<str>, PreviousValue)> {
        let before = set.iter().map(|set| (set.name.as_str().into(), self.variables.before(&set.name))).collect();
        for assignment in set {
            self.assign(&assignment.name, Value::of(&assignment.value));
        }
        before
    }

    pub(crate) fn leave_assignments(&mut self, before: Vec<(Arc<str>, PreviousValue)>) {
        for (name, before) in before {
            self.variables.restore(&name, &before);
        }
    }

    pub(crate) fn assign_array(&mut self, name: &str, array: Array) {
        self.assign(name, None);
        Rc::make_mut(&mut self.variables.arrays).insert(name.into(), Rc::new(array));
    }

    /// The elements of an array with some more behind them; `None` where those before are not known.
    pub(crate) fn appended(&self, name: &str, more: Array) -> Option<Array> {
        Rc::unwrap_or_clone(Rc::clone(self.variables.array(name)?)).then(more)
    }

    /// `NAME+=more`: the value with some more behind it; `None` where it is not known.
    pub(crate) fn extended(&self, name: &str, more: &Value) -> Option<Value> {
        let value = self.value(name).filter(|_| !more.tilde && !self.variables.attributes.contains_key(name))?;
        Some(Value {
            text: [&*value.text, &more.text].concat().into(),
            glob: value.glob || more.glob,
            tilde: value.tilde,
            in_kind: value.in_kind || more.in_kind,
        })
    }

    /// In a shell of its own, as another program: it sees what is exported, and has no functions. What is not exported
    /// may still be there from outside.
    pub(crate) fn enter_program(&mut self, name: Option<Value>, arguments: Positional) {
        if !self.variables.values.is_empty() {
            let variables = Rc::make_mut(&mut self.variables.values);
            for (_, value) in variables.iter_mut().filter(|(name, _)| !self.variables.exported.contains(*name)) {
                *value = None;
            }
            variables.remove("IFS");
            self.variables.environment = None;
        }
        self.variables.doubt_possible();
        (self.variables.arrays, self.variables.attributes) = (Names::default(), Names::default());
        self.commands.aliases = Names::default();
        self.commands.functions = Names::default();
        self.variables.references = Names::default();
        (self.parameters.zero, self.parameters.positional) = (name, arguments.into());
        self.parameters.last_word = None;
        (self.failing, self.options) = (Failing::default(), Options::default());
        (self.directory.previous, self.directory.stack) = (None, Vec::new());
    }

    /// The script that is run has this name.
    pub(crate) fn enter_script(&mut self, path: &str) {
        let name = Value::plain(path);
        self.parameters.zero = Some(name.clone());
        self.assign_array("BASH_SOURCE", Array::List(vec![name.clone()]));
        Rc::make_mut(&mut self.variables.values).insert("BASH_SOURCE".into(), Some(name));
    }

    pub(crate) fn export(&mut self, assignment: &Assignment) {
        self.assign(&assignment.name, Value::of(&assignment.value));
        self.variables.export_name(&assignment.name);
    }

    /// Everything may have changed.
    pub(crate) fn forget(&mut self) {
        self.forget_settings();
        (self.directory.folders, self.directory.failed) = (Folders::unknown(), None);
        let variables = Rc::make_mut(&mut self.variables.values);
        for name in FROM_OUTSIDE {
            variables.entry((*name).into()).or_insert(None);
        }
    }

    /// The same, as far as the functions that there are may change it: the folder is what it was where none leads
    /// elsewhere, and so is how words are split.
    pub(crate) fn forget_by_functions(&mut self) {
        let texts: Vec<String> = self.commands.functions.values().map(|it| it.function.body.0.to_string()).collect();
        let is_in_one = |wanted: &[&str]| {
            let words = |text: &String| {
                text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.')
                    .any(|word| wanted.contains(&word))
            };
            texts.iter().any(words)
        };
        let is_anything = is_in_one(&["eval", "source", "."]);
        let folders = (!is_anything && !is_in_one(&["cd", "pushd", "popd"])).then(|| self.directory.folders.clone());
        let is_split_as_ever = !is_anything && !is_in_one(&["IFS"]) && !self.variables.values.contains_key("IFS");
        self.forget();
        self.directory.folders = folders.unwrap_or_else(|| self.directory.folders.clone());
        if is_split_as_ever {
            Rc::make_mut(&mut self.variables.values).remove("IFS");
        }
    }

    /// All that is set may have changed: it is what it was, or something else.
    pub(crate) fn forget_settings(&mut self) {
        self.variables.doubt_possible();
        for (name, array) in std::mem::take(&mut self.variables.arrays).iter() {
            add_possible(&mut self.variables.possible, name, [Held::Several(Rc::clone(array))]);
        }
        let variables = Rc::make_mut(&mut self.variables.values);
        for (name, value) in variables.iter_mut() {
            add_possible(&mut self.variables.possible, name, value.take().map(Held::One));
        }
        for name in ["HOME", "IFS"] {
            variables.entry(name.into()).or_insert(None);
        }
        self.variables.environment = None;
        self.parameters.positional.forget();
        (self.directory.previous, self.parameters.last_word) = (None, None);
        self.directory.stack.clear();
        self.branches.forget();
        self.commands.doubt_functions();
    }

    /// What this text of a loop may change is not known when its next round begins.
    pub(crate) fn forget_changed_in(&mut self, text: &str) {
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
        if mentioned.iter().any(|word| self.commands.functions.contains_key(*word)) {
            if leaves {
                self.forget();
            } else {
                self.forget_by_functions();
            }
            return;
        }
        if leaves {
            self.directory.folders = Folders::unknown();
        }
        // The next round has other arguments.
        let shifts = ["shift", "set"].iter().any(|word| mentioned.contains(word));
        for name in mentioned {
            if !shifts && is_only_appended(text, name) && self.variables.arrays.contains_key(name) {
                continue;
            }
            let held = self.variables.held(name);
            remove(&mut self.variables.arrays, name);
            if let Some((name, value)) = self.variables.values.get_key_value(name) {
                let (name, is_known) = (Arc::clone(name), value.is_some());
                add_possible(&mut self.variables.possible, &name, held);
                self.variables.doubt(&name);
                if is_known {
                    Rc::make_mut(&mut self.variables.values).insert(name, None);
                    self.variables.environment = None;
                }
            }
        }
    }

    /// Whether an expansion is nothing but a variable that no command here has set.
    pub(crate) fn is_foreign(&self, raw: &str) -> bool {
        let name = raw
            .strip_prefix('$')
            .map(|name| name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name));
        let is_set = |name: &str| {
            self.variables.values.contains_key(name)
                || self.variables.arrays.contains_key(name)
                || self.variables.possible.contains_key(name)
        };
        name.is_some_and(|name| {
            expansion::is_name(name) && !name.starts_with(|first: char| first.is_ascii_digit()) && !is_set(name)
        })
    }

    pub(crate) fn has_possible(&self) -> bool {
        !self.variables.possible.is_empty() || self.parameters.positional.possible() > 0
    }
}
