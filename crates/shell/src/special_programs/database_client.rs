//! Database clients. In addition to queries, they accept commands that run a shell: `\! ls`, `.shell ls`.

use crate::model::SimpleCommand;
use crate::programs::{Arguments, Role};

pub(crate) fn is_client(program: &str) -> bool {
    matches!(program, "sqlite3" | "psql" | "mysql" | "mariadb" | "duckdb")
}

/// Returns the queries in the arguments, and for database clients also their stdin and their script file.
pub(crate) fn queries<'c>(command: &'c SimpleCommand, arguments: &Arguments) -> Vec<&'c str> {
    let in_arguments = arguments.with_roles.iter().filter(|argument| argument.role == Role::Query);
    let in_arguments =
        in_arguments.filter_map(|argument| command.value_or_placeholder_from(argument.word, argument.from));
    let in_input = command.stdin_text().into_iter().chain(command.script_text());
    in_arguments.chain(in_input.filter(|_| command.program().is_some_and(is_client))).collect()
}

/// Returns the shell commands in the text of one or more queries. A line contains at most one shell command.
pub(crate) fn shell_commands(text: &str) -> Vec<String> {
    let command_in = |line: &str| {
        let line = line.trim_start();
        if let Some(text) = line.strip_prefix("\\!") {
            return Some(text.trim().to_owned());
        }
        let (name, text) = line.split_once(char::is_whitespace)?;
        let text = match name.to_ascii_lowercase().as_str() {
            ".shell" | ".system" | ".sh" | ".sys" | "system" => Some(text),
            ".once" | ".output" | ".o" | "\\o" | "\\g" | "pager" => text.trim_start().strip_prefix('|'),
            _ => None,
        };
        text.map(|text| text.trim().to_owned())
    };
    text.lines().filter_map(command_in).collect()
}
