//! What `declare` and its like are told about the variables that they declare, by their flags.

use std::rc::Rc;

use super::attribute::Attribute;
use super::variables::Variables;
use crate::model::SimpleCommand;

pub(super) struct Declaration<'c> {
    pub(super) program: &'c str,
    /// `-n`, `-a`, `-A`: a reference to another variable, or several values.
    pub(super) changes: bool,
    /// `-p`, `-f`: it only tells what is there.
    pub(super) only_tells: bool,
    /// `-n`: the values are names of other variables.
    pub(super) refers: bool,
    /// `-l`, `-u`, `-i`
    attribute: Option<Attribute>,
    reach: Reach,
    pub(super) visibility: Visibility,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Where it stands in a function, only there.
    Local,
    Global,
}

/// Whether programs get to see the variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    AsBefore,
    Exported,
    /// `export -n`, `declare +x`
    Hidden,
}

impl<'c> Declaration<'c> {
    pub(super) fn of(command: &SimpleCommand, program: &'c str) -> Self {
        let operands = || command.words().iter().skip(1).filter_map(|word| word.value.as_deref());
        let flags = || operands().filter(|text| text.starts_with('-'));
        let is_reference = |flag: &str| !flag.starts_with("--") && flag.contains('n');
        let hides = |word: &str| match word {
            "-n" => program == "export",
            word => word.starts_with('+') && word.contains('x'),
        };
        let is_local = matches!(program, "local" | "declare" | "typeset") && !flags().any(|flag| flag.contains('g'));
        let visibility = match program {
            _ if operands().any(hides) => Visibility::Hidden,
            "export" => Visibility::Exported,
            _ if flags().any(|flag| flag.contains('x')) => Visibility::Exported,
            _ => Visibility::AsBefore,
        };
        Self {
            program,
            changes: flags().any(|flag| flag.contains(['n', 'a', 'A'])),
            only_tells: flags().any(|flag| flag.contains(['p', 'f', 'F'])),
            refers: program != "export" && flags().any(is_reference),
            attribute: flags().filter(|_| program != "export").find_map(Attribute::of),
            reach: if is_local { Reach::Local } else { Reach::Global },
            visibility,
        }
    }
}

impl Variables {
    /// Notes what is declared about a name, before it is set.
    pub(super) fn declare(&mut self, declaration: &Declaration, name: &str) {
        if declaration.visibility == Visibility::Hidden {
            self.removed.add(name);
        }
        if declaration.reach == Reach::Local && !self.locals.is_empty() {
            let before = self.before(name);
            if let Some(locals) = self.locals.last_mut() {
                Rc::make_mut(locals).entry(name.into()).or_insert(before);
            }
        }
        if let Some(attribute) = declaration.attribute.filter(|_| !name.starts_with(['-', '+'])) {
            Rc::make_mut(&mut self.attributes).insert(name.into(), attribute);
        }
    }
}
