//! The known state of the shell that runs a script: working directory, variables, functions, options.

mod arithmetic;
mod array;
mod attribute;
mod builtins;
mod checked_out_branches;
mod declaration;
mod defined_commands;
mod expansion;
mod expansion_operators;
mod joining;
mod options;
mod parameters;
mod pattern;
mod positional_parameters;
mod possible_values;
mod shared_map;
mod trap;
mod value;
mod variable_name;
mod variables;
mod working_directory;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{Assignment, PossibleDirectories};
use options::{FailureHandling, Options};
use parameters::Parameters;
use possible_values::{ScalarOrArray, add_possible};
use shared_map::{SharedMap, remove};
use variables::{PreviousValue, Variables};
use working_directory::WorkingDirectory;

pub(crate) use array::Array;
pub(crate) use checked_out_branches::CheckedOutBranches;
pub(crate) use defined_commands::{DefinedCommands, DefinedFunction, Function};
pub(crate) use expansion::Expanded;
pub(crate) use positional_parameters::{ParameterList, PositionalParameters};
pub(crate) use possible_values::MAX_COMBINATIONS;
pub(crate) use trap::Trap;
pub(crate) use value::Value;
pub(crate) use variable_name::VariableName;

/// The known state of a shell at one point of the script.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) variables: Variables,
    pub(crate) directory: WorkingDirectory,
    pub(crate) commands: DefinedCommands,
    parameters: Parameters,
    /// Traps in the order they were installed.
    traps: Vec<Rc<Trap>>,
    pub(crate) options: Options,
    pub(crate) failure: FailureHandling,
    /// True if the next commands do not run, because of an earlier `exit`, `return`, `break` or `continue`.
    pub(crate) is_unreachable: bool,
    pub(crate) branches: CheckedOutBranches,
}

/// Variables that the environment usually sets, to values that are known without reading the environment.
const INHERITED_VARIABLES: &[&str] = &[
    "SHELL",
    "BASH",
    "TMPDIR",
    "CLAUDE_PROJECT_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
];

/// True if the text of a loop's body uses an array only to append to it. The elements of such an array are not
/// forgotten before the body is walked: as far as the appended elements are known, they are the same in all iterations,
/// because all other values that the loop changes are unknown.
fn is_only_appended(text: &str, name: &str) -> bool {
    let is_name_character = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).all(|(index, _)| {
        let before = text.get(..index).and_then(|before| before.chars().next_back());
        let after = text.get(index + name.len()..).unwrap_or_default();
        let is_other = before.is_some_and(is_name_character) || after.starts_with(is_name_character);
        is_other || before != Some('$') && after.starts_with("+=(")
    })
}

impl State {
    /// An estimate of the cost of cloning or joining the state.
    pub(crate) fn size(&self) -> usize {
        self.variables.values.len()
            + self.variables.possible.len()
            + self.variables.arrays.len()
            + self.variables.exported.len()
            + self.directory.created.len()
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
        // Assignments to elements of other arrays than `BASH_ALIASES` have already returned. An assignment to an
        // element of `BASH_ALIASES` also changes the whole array.
        let name = name.split('[').next().unwrap_or(name);
        let target = self.variables.references.get(name).cloned();
        let name = target.as_deref().unwrap_or(name);
        let value = match self.variables.attributes.get(name) {
            Some(attribute) => value.and_then(|value| self.with_attribute(*attribute, &value)),
            None => value,
        };
        remove(&mut self.variables.possible, name);
        remove(&mut self.variables.arrays, name);
        if self.options.allexport {
            self.variables.export_name(name);
        }
        if name == "HOME" || self.variables.exported.contains(name) {
            self.variables.environment = None;
        }
        Rc::make_mut(&mut self.variables.values).insert(name.into(), value);
    }

    /// Applies `NAME[key]=value`.
    fn assign_element(&mut self, name: &str, key: &str, value: Option<Value>) {
        let before = self.variables.array(name).cloned();
        // If the script has not set the variable before, assigning an element creates the array.
        let before =
            before.or_else(|| (!self.variables.values.contains_key(name)).then(|| Rc::new(Array::List(Vec::new()))));
        let value = value.filter(|value| !value.is_placeholder);
        let array = before.zip(value).and_then(|(array, value)| {
            let key = self.array_key(key, &array)?;
            Rc::unwrap_or_clone(array).with_element(&key, value)
        });
        self.assign(name, None);
        if let Some(array) = array {
            self.assign_array(name, array);
        }
    }

    /// Starts a function call. Returns the caller's positional parameters.
    pub(crate) fn enter_function(&mut self, arguments: ParameterList) -> PositionalParameters {
        self.variables.locals.push(SharedMap::default());
        std::mem::replace(&mut self.parameters.positional, arguments.into())
    }

    /// True if the running function was called with these arguments, and all these arguments are known.
    pub(crate) fn has_arguments(&self, arguments: &ParameterList) -> bool {
        arguments.is_known() && self.parameters.positional == arguments.clone().into()
    }

    pub(crate) fn set_arguments(&mut self, arguments: ParameterList) {
        self.parameters.positional = arguments.into();
    }

    /// Ends a function call. `arguments`: the caller's positional parameters.
    pub(crate) fn leave_function(&mut self, arguments: PositionalParameters) {
        let locals = self.variables.locals.pop().unwrap_or_default();
        for (name, before) in locals.iter() {
            self.variables.restore(name, before);
        }
        self.parameters.positional = arguments;
    }

    /// Sets variables for the duration of one builtin. Returns their previous values.
    pub(crate) fn enter_assignments(&mut self, set: &[Assignment]) -> Vec<(Arc<str>, PreviousValue)> {
        let before =
            set.iter().map(|set| (set.name.as_str().into(), self.variables.previous_value(&set.name))).collect();
        for assignment in set {
            self.assign(&assignment.name, Value::of(&assignment.value));
        }
        before
    }

    /// Restores the values that [`Self::enter_assignments`] returned.
    pub(crate) fn leave_assignments(&mut self, before: Vec<(Arc<str>, PreviousValue)>) {
        for (name, before) in before {
            self.variables.restore(&name, &before);
        }
    }

    pub(crate) fn assign_array(&mut self, name: &str, array: Array) {
        self.assign(name, None);
        Rc::make_mut(&mut self.variables.arrays).insert(name.into(), Rc::new(array));
    }

    /// Returns the array with more elements appended; `None` if the array's present elements are not known.
    pub(crate) fn appended_array(&self, name: &str, more: Array) -> Option<Array> {
        Rc::unwrap_or_clone(Rc::clone(self.variables.array(name)?)).concat(more)
    }

    /// `NAME+=more`: returns the value with more text appended; `None` if the present value is not known.
    pub(crate) fn appended_value(&self, name: &str, more: &Value) -> Option<Value> {
        let value = self.value(name).filter(|_| !more.tilde && !self.variables.attributes.contains_key(name))?;
        Some(Value {
            text: [&*value.text, &more.text].concat().into(),
            glob: value.glob || more.glob,
            tilde: value.tilde,
            is_placeholder: value.is_placeholder || more.is_placeholder,
        })
    }

    /// Starts a new shell process. The process inherits exported variables and no functions. Variables that are not
    /// exported become unknown, because the environment may have variables of these names.
    pub(crate) fn enter_shell_process(&mut self, name: Option<Value>, arguments: ParameterList) {
        if !self.variables.values.is_empty() {
            let variables = Rc::make_mut(&mut self.variables.values);
            for (_, value) in variables.iter_mut().filter(|(name, _)| !self.variables.exported.contains(*name)) {
                *value = None;
            }
            variables.remove("IFS");
            self.variables.environment = None;
        }
        self.variables.mark_all_incomplete();
        (self.variables.arrays, self.variables.attributes) = (SharedMap::default(), SharedMap::default());
        self.commands.aliases = SharedMap::default();
        self.commands.functions = SharedMap::default();
        self.variables.references = SharedMap::default();
        (self.parameters.zero, self.parameters.positional) = (name, arguments.into());
        self.parameters.last_word = None;
        (self.failure, self.options) = (FailureHandling::default(), Options::default());
        (self.directory.previous, self.directory.stack) = (None, Vec::new());
    }

    /// Sets `$0` and `BASH_SOURCE` of a script.
    pub(crate) fn enter_script(&mut self, path: &str) {
        let name = Value::literal(path);
        self.parameters.zero = Some(name.clone());
        self.assign_array("BASH_SOURCE", Array::List(vec![name.clone()]));
        Rc::make_mut(&mut self.variables.values).insert("BASH_SOURCE".into(), Some(name));
    }

    pub(crate) fn export(&mut self, assignment: &Assignment) {
        self.assign(&assignment.name, Value::of(&assignment.value));
        self.variables.export_name(&assignment.name);
    }

    /// Forgets everything that arbitrary code in the same shell could change.
    pub(crate) fn forget(&mut self) {
        self.forget_all_but_directory();
        (self.directory.possible, self.directory.if_failed) = (PossibleDirectories::unknown(), None);
        let variables = Rc::make_mut(&mut self.variables.values);
        for name in INHERITED_VARIABLES {
            variables.entry((*name).into()).or_insert(None);
        }
    }

    /// Forgets everything that the defined functions could change. The working directory is kept if no function can
    /// change it. `IFS` keeps its default value if the script has not set it and no function can change it.
    pub(crate) fn forget_changed_by_functions(&mut self) {
        let texts: Vec<String> = self.commands.functions.values().map(|it| it.function.body.0.to_string()).collect();
        let any_contains = |wanted: &[&str]| {
            let words = |text: &String| {
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').any(|word| wanted.contains(&word))
            };
            texts.iter().any(words)
        };
        let runs_arbitrary_code = any_contains(&["eval", "source", "."]);
        let directories =
            (!runs_arbitrary_code && !any_contains(&["cd", "pushd", "popd"])).then(|| self.directory.possible.clone());
        let keeps_separators =
            !runs_arbitrary_code && !any_contains(&["IFS"]) && !self.variables.values.contains_key("IFS");
        self.forget();
        self.directory.possible = directories.unwrap_or_else(|| self.directory.possible.clone());
        if keeps_separators {
            Rc::make_mut(&mut self.variables.values).remove("IFS");
        }
    }

    /// Forgets everything but the working directory. Values that were known become possible values.
    pub(crate) fn forget_all_but_directory(&mut self) {
        self.variables.mark_all_incomplete();
        for (name, array) in std::mem::take(&mut self.variables.arrays).iter() {
            add_possible(&mut self.variables.possible, name, [ScalarOrArray::Array(Rc::clone(array))]);
        }
        let variables = Rc::make_mut(&mut self.variables.values);
        for (name, value) in variables.iter_mut() {
            add_possible(&mut self.variables.possible, name, value.take().map(ScalarOrArray::Scalar));
        }
        for name in ["HOME", "IFS"] {
            variables.entry(name.into()).or_insert(None);
        }
        self.variables.environment = None;
        self.parameters.positional.forget();
        (self.directory.previous, self.parameters.last_word) = (None, None);
        self.directory.stack.clear();
        self.branches.forget();
        self.commands.mark_functions_uncertain();
    }

    /// Forgets all values that the body of a loop changes, because the values are not known when the next iteration
    /// starts.
    pub(crate) fn forget_changed_in(&mut self, text: &str) {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$' && c != '.');
        let mentioned: BTreeSet<&str> =
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').collect();
        let sources = text.split(['\n', ';', '&', '|', '(', '{']).any(|part| part.trim_start().starts_with(". "));
        if sources || words.any(|word| matches!(word, "eval" | "source" | "let")) {
            self.forget();
            return;
        }
        let changes_directory = ["cd", "pushd", "popd"].iter().any(|word| mentioned.contains(word));
        if mentioned.iter().any(|word| self.commands.functions.contains_key(*word)) {
            if changes_directory {
                self.forget();
            } else {
                self.forget_changed_by_functions();
            }
            return;
        }
        if changes_directory {
            self.directory.possible = PossibleDirectories::unknown();
        }
        // After `shift` or `set` in the body, the next iteration has other positional parameters.
        let shifts = ["shift", "set"].iter().any(|word| mentioned.contains(word));
        for name in mentioned {
            if !shifts && is_only_appended(text, name) && self.variables.arrays.contains_key(name) {
                continue;
            }
            let value_before = self.variables.known_value(name);
            remove(&mut self.variables.arrays, name);
            if let Some((name, value)) = self.variables.values.get_key_value(name) {
                let (name, is_known) = (Arc::clone(name), value.is_some());
                add_possible(&mut self.variables.possible, &name, value_before);
                self.variables.mark_incomplete(&name);
                if is_known {
                    Rc::make_mut(&mut self.variables.values).insert(name, None);
                    self.variables.environment = None;
                }
            }
        }
    }

    /// True if an expansion is the value of a variable that the script has not set: `$NAME`, `${NAME}`.
    pub(crate) fn is_inherited_variable(&self, raw: &str) -> bool {
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

    pub(crate) fn has_possible_values(&self) -> bool {
        !self.variables.possible.is_empty() || self.parameters.positional.possible_count() > 0
    }
}
