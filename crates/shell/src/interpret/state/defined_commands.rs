//! Command names that the script defines: functions, aliases, and programs under other names.

use std::rc::Rc;
use std::sync::Arc;

use brush_parser::ast::FunctionBody;

use super::SharedMap;
use super::shared_map::add_missing;
use crate::model::normalize_path;
use crate::programs::is_known_program;
use crate::syntax::hidden_expansions::HiddenExpansions;

#[derive(Clone, Default)]
pub(crate) struct DefinedCommands {
    pub(super) functions: SharedMap<DefinedFunction>,
    /// Aliases: `alias x=…`.
    pub(crate) aliases: SharedMap<Arc<str>>,
    /// Programs under other names. The key is the path of a copy or symlink, or a name from `hash -p`; the value is the
    /// name of the program.
    pub(super) renamed: SharedMap<Arc<str>>,
}

/// A function that is defined under a name.
#[derive(Clone)]
pub(crate) struct DefinedFunction {
    pub(crate) function: Rc<Function>,
    /// True if the name certainly refers to the function. Otherwise the name may refer to a program.
    pub(crate) is_certain: bool,
}

pub(crate) struct Function {
    pub(crate) body: FunctionBody,
    /// The script that defines the function, with the expansions that markers in the body stand for.
    pub(crate) hidden: Rc<HiddenExpansions>,
}

impl DefinedCommands {
    pub(crate) fn define(&mut self, name: &str, function: Rc<Function>) {
        let is_certain = !is_special_builtin(name);
        Rc::make_mut(&mut self.functions).insert(name.into(), DefinedFunction { function, is_certain });
    }

    pub(crate) fn function(&self, name: &str) -> Option<DefinedFunction> {
        self.functions.get(name).cloned()
    }

    /// Notes that a program was copied or symlinked to a path, if the program is known.
    pub(crate) fn note_copy(&mut self, program: &str, path: &str) {
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let name = base(program);
        if path::is_rooted(program) && is_known_program(&name) && base(path) != name {
            Rc::make_mut(&mut self.renamed).insert(normalize_path(path).into(), name.into());
        }
    }

    /// Returns the program that a path or name stands for, if the program has another name.
    pub(crate) fn real_name(&self, name: &str) -> Option<&str> {
        // `/proc/self/exe` is the shell itself.
        let is_itself = name.starts_with("/proc/") && name.ends_with("/exe");
        self.renamed.get(normalize_path(name).as_str()).map(|program| &**program).or(is_itself.then_some("bash"))
    }

    /// Notes that the functions may have been redefined or unset.
    pub(super) fn mark_functions_uncertain(&mut self) {
        for defined in Rc::make_mut(&mut self.functions).values_mut() {
            defined.is_certain = false;
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        add_missing(&mut self.aliases, &other.aliases);
        add_missing(&mut self.renamed, &other.renamed);
        self.join_functions(&other.functions);
    }

    /// Joins the functions of another state. A function that only one of the two states defines becomes uncertain.
    fn join_functions(&mut self, others: &SharedMap<DefinedFunction>) {
        if Rc::ptr_eq(&self.functions, others) {
            return;
        }
        let functions = Rc::make_mut(&mut self.functions);
        for (name, defined) in functions.iter_mut() {
            defined.is_certain &= others.get(name).is_some_and(|other| other.is_certain);
        }
        for (name, defined) in others.iter() {
            let uncertain = || DefinedFunction { is_certain: false, ..defined.clone() };
            functions.entry(Arc::clone(name)).or_insert_with(uncertain);
        }
    }
}

/// True for the special builtins of POSIX. In some shells, a function cannot override a special builtin.
fn is_special_builtin(name: &str) -> bool {
    let special = [
        ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
        "source", "times", "trap", "unset",
    ];
    special.contains(&name)
}
