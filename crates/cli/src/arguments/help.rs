//! `linchpin --help`: lists the commands in groups. The argument parser wraps the text to the width of the terminal.

use clap::{Command, CommandFactory};

use super::CommandLine;

/// All commands, in the order in which the help lists them. A test checks that no command is missing.
pub const GROUPS: [(&str, &[&str]); 4] = [
    ("Set up", &["init", "install", "uninstall", "doctor", "trust", "demo", "completions"]),
    ("Guard", &["hook", "check", "ack", "allow", "pause", "resume"]),
    ("Understand", &["validate", "test", "explain", "try", "replay", "rules", "workflows", "hats", "log"]),
    (
        "Work",
        &[
            "start", "next", "continue", "approve", "status", "set", "repeat", "prev", "restart", "abort", "run",
            "runs", "stop", "emit", "progress", "task", "memory",
        ],
    ),
];

/// Returns the argument parser. `width`: the width of help texts; by default, the width of the terminal.
pub fn command(width: Option<usize>) -> Command {
    let command = CommandLine::command();
    let command = match width {
        Some(width) => command.term_width(width),
        None => command,
    };
    let groups = grouped_list(&command);
    command.help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}\n"))
}

/// Returns the parser's list of commands, with a heading above the first command of each group.
fn grouped_list(command: &Command) -> String {
    let order = |name: &str| GROUPS.iter().flat_map(|(_, names)| names.iter()).position(|known| *known == name);
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let ordered = names.iter().fold(command.clone(), |command, name| {
        let place = order(name).unwrap_or(usize::MAX);
        command.mut_subcommand(name, |command| command.display_order(place))
    });
    let list = ordered.help_template("{subcommands}").render_help().to_string();
    let mut text = String::new();
    for line in list.lines() {
        let name = line.strip_prefix("  ").and_then(|line| line.split(' ').next()).unwrap_or_default();
        if let Some((heading, _)) = GROUPS.iter().find(|(_, names)| names.first() == Some(&name)) {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.extend([gap, *heading, ":\n"]);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
