//! Git settings in command-line flags.

use crate::model::SimpleCommand;
use crate::programs::{Argument, Arguments};

/// Returns the setting in the value of a flag of git, as `name=value`. The value of `-c` is the setting itself. In the
/// value of `--config-env`, `name=variable`, the variable contains the value of the setting. `None` if the setting is
/// not known.
pub(crate) fn setting_in_flag(command: &SimpleCommand, arguments: &Arguments, value: Argument) -> Option<String> {
    let text = command.text_from(value.word, value.from)?;
    if !arguments.flags.iter().any(|flag| flag.name == "--config-env" && flag.value == Some(value)) {
        return Some(text.to_owned());
    }
    let (name, variable) = text.rsplit_once('=')?;
    command.variable(variable)?.known().map(|value| format!("{name}={value}"))
}
