//! Settings that flags of git make.

use crate::model::SimpleCommand;
use crate::programs::{Argument, Arguments};

/// What a flag of git sets: `name=value` of `-c`, and of `--config-env` with the value of the variable. `None` where that is
/// not known.
pub(crate) fn given(command: &SimpleCommand, arguments: &Arguments, value: Argument) -> Option<String> {
    let text = command.text_from(value.word, value.from)?;
    if !arguments.flags.iter().any(|flag| flag.name == "--config-env" && flag.value == Some(value)) {
        return Some(text.to_owned());
    }
    let (name, variable) = text.rsplit_once('=')?;
    command.variable(variable)?.known().map(|value| format!("{name}={value}"))
}
