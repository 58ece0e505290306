//! Limits the work of one evaluation.
//!
//! Expressions have no loops, so their length limits the number of steps. But their length does not limit the text and
//! the items that a single step reads or builds. A step that could read or build a large amount therefore charges the
//! budget in advance.

use std::fmt::{self, Write};

use minijinja::{Error, State, Value};

use super::error::failure;

/// The budget of one evaluation. One unit is about one byte that is read. The budget is enough to read a large file
/// several times, but too small for a noticeable delay.
const UNITS: usize = 32 << 20;

/// The cost of a list item in units, whatever the size of the item is.
const ITEM: usize = 32;

pub(super) struct WorkBudget {
    remaining: usize,
}

impl Default for WorkBudget {
    fn default() -> Self {
        Self { remaining: UNITS }
    }
}

impl WorkBudget {
    pub(super) fn charge(&mut self, units: usize) -> Result<(), Error> {
        match self.remaining.checked_sub(units) {
            Some(remaining) => self.remaining = remaining,
            None => return Err(failure("the expression processes too much text or too many items")),
        }
        Ok(())
    }

    pub(super) fn charge_items(&mut self, count: usize) -> Result<(), Error> {
        self.charge(count.saturating_mul(ITEM))
    }
}

/// The budget of the current evaluation.
pub(super) fn of<'s>(state: &'s mut State<'_, '_>) -> &'s mut WorkBudget {
    state.get_or_insert_extension_with(WorkBudget::default)
}

/// Formats a value as Python's `str` does, and charges the budget for the output.
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
        // The text of a value can consist of many empty parts, so each part costs more than the number of its bytes.
        self.work.charge(part.len() + 16).map_err(|_| fmt::Error)?;
        self.text.push_str(part);
        Ok(())
    }
}
