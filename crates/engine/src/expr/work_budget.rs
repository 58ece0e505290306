//! How much one evaluation may do.
//!
//! An expression has no loops, so its number of steps is bounded by its length; what is not bounded by it is how much
//! text and how many items a single step goes through or builds. Every step that is not of constant cost says here
//! what it is about to do.

use std::fmt::{self, Write};

use minijinja::{Error, State, Value};

use super::error::failure;

/// One unit is about one byte read. Enough to go through a large file a few times; far from what anybody notices.
const UNITS: usize = 32 << 20;

/// What one item of a list costs: more than the bytes that it takes.
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
            None => return Err(failure("the expression works on too much text or too many items")),
        }
        Ok(())
    }

    pub(super) fn charge_items(&mut self, count: usize) -> Result<(), Error> {
        self.charge(count.saturating_mul(ITEM))
    }
}

/// The work left to the evaluation that is running.
pub(super) fn of<'s>(state: &'s mut State<'_, '_>) -> &'s mut WorkBudget {
    state.get_or_insert_extension_with(WorkBudget::default)
}

/// How a value is written where text is wanted, as Python's `str`, charging for what is written.
pub(super) fn text(value: &Value, work: &mut WorkBudget) -> Result<String, Error> {
    let mut charged = ChargedText { text: String::new(), work };
    match write!(charged, "{value}") {
        Ok(()) => Ok(charged.text),
        Err(_) => Err(failure("the expression works on too much text or too many items")),
    }
}

struct ChargedText<'w> {
    text: String,
    work: &'w mut WorkBudget,
}

impl Write for ChargedText<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // A part can be empty, and there can be very many of those: each costs more than its bytes.
        self.work.charge(part.len() + 16).map_err(|_| fmt::Error)?;
        self.text.push_str(part);
        Ok(())
    }
}
