//! Commands that git runs because of aliases, settings and environment variables.

use std::borrow::Cow;

use super::DelegatedCommand;
use crate::model::{SimpleCommand, Word};
use crate::programs::{Arguments, Role};
use crate::special_programs::command_settings::{command_of_setting, is_command_variable};
use crate::syntax::quoting::quoted;

/// Returns the commands that git runs because of its settings, its environment variables and its operands
/// (`ext::COMMAND` as a remote, `git for-each-repo`).
pub(super) fn commands_of_git(
    command: &SimpleCommand,
    arguments: &Arguments,
    subcommand: &str,
) -> Vec<DelegatedCommand> {
    let is_alias = |name: &str| name.strip_prefix("alias.") == Some(subcommand.to_ascii_lowercase().as_str());
    let settings =
        command.context.git_settings.iter().map(|setting| &**setting).chain(&command.context.git_environment);
    let alias = settings.rev().find(|(name, _)| is_alias(name));
    let alias = alias.and_then(|(_, text)| script_of_alias(command, arguments, text));
    let mut commands: Vec<DelegatedCommand> = alias.into_iter().collect();
    let from_environment = command.context.git_environment.iter().filter(|(name, _)| !name.starts_with("alias."));
    let from_environment = from_environment
        .filter_map(|(name, value)| Some(command_of_setting("git", &format!("{name}={value}"))?.into_owned()));
    commands.extend(from_environment.map(|text| DelegatedCommand::script_prefix(Some(text))));
    if subcommand == "for-each-repo" {
        let words = arguments.operands.iter().filter_map(|index| command.words().get(*index)).cloned();
        commands.push(DelegatedCommand::words(std::iter::once(Word::known("git")).chain(words).collect()));
    }
    let operands = arguments.operands.iter().map(|index| command.text_from(*index, 0));
    let operands: Vec<&str> = operands.collect::<Option<_>>().unwrap_or_default();
    // A remote may be a command: `ext::COMMAND`.
    let remotes = operands.iter().filter_map(|remote| remote.strip_prefix("ext::"));
    commands.extend(remotes.map(|text| DelegatedCommand::script(Some(text.to_owned()))));
    if let ("config", [name, value]) = (subcommand, operands.as_slice()) {
        let text = command_of_setting("git", &format!("{name}={value}")).map(Cow::into_owned);
        commands.extend(text.map(|text| DelegatedCommand::script_prefix(Some(text))));
    }
    let variables = command.exported().iter().filter(|variable| is_command_variable(&variable.name));
    commands.extend(
        variables.map(|variable| DelegatedCommand::script_prefix(variable.value.as_deref().map(str::to_owned))),
    );
    commands
}

/// Returns the command that `git x` runs for an alias `x`. The arguments are appended to the alias.
pub(super) fn script_of_alias(command: &SimpleCommand, arguments: &Arguments, alias: &str) -> Option<DelegatedCommand> {
    let index = arguments.with_roles.iter().find(|argument| argument.role == Role::Subcommand)?.word;
    let after = command.words().get(index + 1..).unwrap_or_default().to_vec();
    // Flags before an alias apply to the command that the alias stands for.
    let flags = command.words().get(1..index).unwrap_or_default().iter();
    let flag = |word: &Word| word.value.as_ref().map(|text| format!("{} ", quoted(text)));
    let flags: String = flags.map(flag).collect::<Option<_>>()?;
    let text = alias.strip_prefix('!').map_or_else(|| format!("git {flags}{alias}"), str::to_owned);
    let text = Some(format!("{text} \"$@\""));
    Some(DelegatedCommand::Script {
        text,
        in_new_shell: true,
        gets_more_arguments: false,
        name: None,
        arguments: after,
    })
}

pub(super) fn is_subcommand(arguments: &Arguments, name: &str) -> bool {
    arguments.subcommands.first().is_some_and(|form| form.eq_ignore_ascii_case(name))
}
