//! Calls that only look. They stay allowed where an agent is to stop and think: it can do that only with open eyes.

use crate::event::Access;
use crate::shell::SimpleCommand;
use crate::situation::Situation;

/// Tools that only read.
const TOOLS: &[&str] = &["BashOutput", "Glob", "Grep", "LS", "NotebookRead", "Read", "TodoRead", "TodoWrite"];
/// Programs that only read, unless they are seen to write.
const PROGRAMS: &[&str] = &[
    "[", "awk", "basename", "bat", "cat", "cd", "column", "comm", "cut", "date", "diff", "dirname", "du", "echo",
    "egrep", "fd", "fgrep", "file", "find", "grep", "head", "jq", "less", "ls", "more", "nl", "od", "pwd", "readlink",
    "realpath", "rg", "sed", "sort", "stat", "tail", "test", "tr", "tree", "true", "type", "uniq", "wc", "which",
    "xxd", "yq",
];
const GIT: &[&str] =
    &["blame", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "rev-parse", "shortlog", "show", "status"];
/// What it may do, it decides by itself.
const OWN_PROGRAM: &str = "linchpin";

impl Situation {
    /// Whether the tool call reads and does nothing else, as far as anybody can tell, or is one of Linchpin's own.
    pub fn only_looks(&self) -> bool {
        let Some(call) = &self.event.tool else { return false };
        if call.shell.is_none() {
            return TOOLS.contains(&call.name.as_str());
        }
        let Some(script) = self.script().filter(|script| script.complete && !script.commands.is_empty()) else {
            return false;
        };
        let is_read = |access: Option<Access>| access == Some(Access::Read) || access.is_none();
        script.commands.iter().all(looks)
            && self.touches().iter().all(|touch| is_read(touch.access))
            && self.unknown_touches().iter().all(|touch| is_read(touch.access))
    }
}

fn looks(command: &SimpleCommand) -> bool {
    match command.program() {
        Some(OWN_PROGRAM) => true,
        Some("git") => command
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.subcommands.first())
            .is_some_and(|subcommand| GIT.contains(&subcommand.as_str())),
        Some(program) => PROGRAMS.contains(&program),
        None => false,
    }
}
