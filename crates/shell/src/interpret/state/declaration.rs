//! Flags of `declare`, `local`, `export` and similar builtins.

use std::rc::Rc;

use super::attribute::Attribute;
use super::variables::Variables;
use crate::model::SimpleCommand;

/// The flags of a declaration.
pub(super) struct Declaration<'c> {
    pub(super) program: &'c str,
    /// `-n`, `-a`, `-A`: the variable is a reference or an array.
    pub(super) is_reference_or_array: bool,
    /// `-p`, `-f`: prints variables or functions, and sets nothing.
    pub(super) only_prints: bool,
    /// `-n`: the values are names of other variables.
    pub(super) is_nameref: bool,
    /// `-l`, `-u`, `-i`
    attribute: Option<Attribute>,
    scope: Scope,
    pub(super) visibility: Visibility,
}

/// The part of the script in which a declared variable is visible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The variable is visible until the enclosing function returns, or everywhere if there is no enclosing function.
    Local,
    Global,
}

/// Whether programs inherit the variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    AsBefore,
    Exported,
    /// `export -n`, `declare +x`
    NotExported,
}

impl<'c> Declaration<'c> {
    pub(super) fn of(command: &SimpleCommand, program: &'c str) -> Self {
        let operands = || command.words().iter().skip(1).filter_map(|word| word.value.as_deref());
        let flags = || operands().filter(|text| text.starts_with('-'));
        let is_reference = |flag: &str| !flag.starts_with("--") && flag.contains('n');
        let stops_export = |word: &str| match word {
            "-n" => program == "export",
            word => word.starts_with('+') && word.contains('x'),
        };
        let is_local = matches!(program, "local" | "declare" | "typeset") && !flags().any(|flag| flag.contains('g'));
        let visibility = match program {
            _ if operands().any(stops_export) => Visibility::NotExported,
            "export" => Visibility::Exported,
            _ if flags().any(|flag| flag.contains('x')) => Visibility::Exported,
            _ => Visibility::AsBefore,
        };
        Self {
            program,
            is_reference_or_array: flags().any(|flag| flag.contains(['n', 'a', 'A'])),
            only_prints: flags().any(|flag| flag.contains(['p', 'f', 'F'])),
            is_nameref: program != "export" && flags().any(is_reference),
            attribute: flags().filter(|_| program != "export").find_map(Attribute::of),
            scope: if is_local { Scope::Local } else { Scope::Global },
            visibility,
        }
    }
}

impl Variables {
    /// Applies a declaration to a name, before its value is assigned.
    pub(super) fn declare(&mut self, declaration: &Declaration, name: &str) {
        if declaration.visibility == Visibility::NotExported {
            self.removed.add(name);
        }
        if declaration.scope == Scope::Local && !self.locals.is_empty() {
            let before = self.previous_value(name);
            if let Some(locals) = self.locals.last_mut() {
                Rc::make_mut(locals).entry(name.into()).or_insert(before);
            }
        }
        if let Some(attribute) = declaration.attribute.filter(|_| !name.starts_with(['-', '+'])) {
            Rc::make_mut(&mut self.attributes).insert(name.into(), attribute);
        }
    }
}
