//! Names that the script has given to commands: functions, aliases, and programs under other names.

use std::rc::Rc;
use std::sync::Arc;

use brush_parser::ast::FunctionBody;

use super::Names;
use super::shared_map::add_missing;
use crate::model::plain;
use crate::programs::is_known_program;
use crate::syntax::hidden::Hidden;

#[derive(Clone, Default)]
pub(crate) struct DefinedCommands {
    pub(super) functions: Names<Defined>,
    /// Of the shell: `alias x=…`.
    pub(crate) aliases: Names<Arc<str>>,
    /// Programs under other names: by copies, links and `hash -p`.
    pub(super) renamed: Names<Arc<str>>,
}

/// A function under its name.
#[derive(Clone)]
pub(crate) struct Defined {
    pub(crate) function: Rc<Function>,
    /// Whether the name surely means the function; a program of the same name may be meant otherwise.
    pub(crate) is_certain: bool,
}

pub(crate) struct Function {
    pub(crate) body: FunctionBody,
    /// Of the text that defines it.
    pub(crate) hidden: Rc<Hidden>,
}

impl DefinedCommands {
    pub(crate) fn define(&mut self, name: &str, function: Rc<Function>) {
        let is_certain = !is_special(name);
        Rc::make_mut(&mut self.functions).insert(name.into(), Defined { function, is_certain });
    }

    pub(crate) fn function(&self, name: &str) -> Option<Defined> {
        self.functions.get(name).cloned()
    }

    /// A known program lies there from now on.
    pub(crate) fn rename(&mut self, program: &str, path: &str) {
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let name = base(program);
        if path::is_free(program) && is_known_program(&name) && base(path) != name {
            Rc::make_mut(&mut self.renamed).insert(plain(path).into(), name.into());
        }
    }

    /// The program that a name stands for, where it is not its own.
    pub(crate) fn real_name(&self, name: &str) -> Option<&str> {
        // The program that looks: the shell.
        let is_itself = name.starts_with("/proc/") && name.ends_with("/exe");
        self.renamed.get(plain(name).as_str()).map(|program| &**program).or(is_itself.then_some("bash"))
    }

    /// They may be other ones by now, or none.
    pub(super) fn doubt_functions(&mut self) {
        for defined in Rc::make_mut(&mut self.functions).values_mut() {
            defined.is_certain = false;
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
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
}

/// Commands of the shell that a function does not hide in every shell: POSIX looks for them first.
fn is_special(name: &str) -> bool {
    let special = [
        ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
        "source", "times", "trap", "unset",
    ];
    special.contains(&name)
}
