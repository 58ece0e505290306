//! Limits the work of one evaluation.
//!
//! Expressions have no loops, so the number of steps is bounded by their length. The text and items that a single step
//! reads or builds are not; every step of non-constant cost therefore charges the budget in advance.

use std::fmt::{self, Write};

use minijinja::{Error, State, Value};

use super::error::failure;

/// One unit is about one byte read. The budget is enough to read a large file several times, and too small for a
/// noticeable delay.
const UNITS: usize = 32 << 20;

/// Cost of a list item, higher than its bytes.
const ITEM: usize = 32;

pub(super) struct WorkBudget {
    left: usize,
}

impl Default for WorkBudget {
    fn default() -> Self {
        Self { left: UNITS }
    }
}

impl WorkBudget {
    pub(super) fn charge(&mut self, units: usize) -> Result<(), Error> {
        match self.left.checked_sub(units) {
            Some(left) => self.left = left,
            None => return Err(failure("the expression processes too much text or too many items")),
        }
        Ok(())
    }

    pub(super) fn charge_items(&mut self, count: usize) -> Result<(), Error> {
        self.charge(count.saturating_mul(ITEM))
    }
}

/// The budget of the running evaluation.
pub(super) fn of<'s>(state: &'s mut State<'_, '_>) -> &'s mut WorkBudget {
    state.get_or_insert_extension_with(WorkBudget::default)
}

/// Formats a value like Python's `str` and charges for the output.
pub(super) fn text(value: &Value, work: &mut WorkBudget) -> Result<String, Error> {
    let mut charged = ChargedText { text: String::new(), work };
    match write!(charged, "{value}") {
        Ok(()) => Ok(charged.text),
        Err(_) => Err(failure("the expression processes too much text or too many items")),
    }
}

struct ChargedText<'w> {
    text: String,
    work: &'w mut WorkBudget,
}

impl Write for ChargedText<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // Parts may be empty and numerous, so each costs more than its bytes.
        self.work.charge(part.len() + 16).map_err(|_| fmt::Error)?;
        self.text.push_str(part);
        Ok(())
    }
}
