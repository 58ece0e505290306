//! Texts for the clients of databases. Beside queries, they take commands that run others: `\! ls`, `.shell ls`.

use super::command::SimpleCommand;
use crate::programs::{Arguments, Role};

fn is_client(program: &str) -> bool {
    matches!(program, "sqlite3" | "psql" | "mysql" | "mariadb" | "duckdb")
}

/// Those that a client is given, and what it reads.
pub(super) fn texts<'c>(command: &'c SimpleCommand, arguments: &Arguments) -> Vec<&'c str> {
    let given = arguments.list.iter().filter(|argument| argument.role == Role::Query);
    let given = given.filter_map(|argument| command.meaning_from(argument.word, argument.from));
    given.chain(command.given_text().filter(|_| command.program().is_some_and(is_client))).collect()
}

/// The texts that a shell would run.
pub(super) fn commands(text: &str) -> Vec<String> {
    let run = |line: &str| {
        let line = line.trim_start();
        let behind = ["\\!", ".shell ", ".system ", "system "].iter().find_map(|name| line.strip_prefix(name));
        behind.map(|text| text.trim().to_owned())
    };
    text.lines().filter_map(run).collect()
}
