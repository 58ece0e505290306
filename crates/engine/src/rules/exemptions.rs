//! Calls that a rule is not about, whatever else it says.

use serde::{Deserialize, Serialize};

use super::{McpPattern, ToolName};
use crate::event::ToolCall;
use crate::situation::Situation;
use path::Access;
use shell::SimpleCommand;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exemptions {
    pub tools: Vec<ToolName>,
    pub mcp_tools: Vec<McpPattern>,
    /// Commands of Linchpin's own.
    pub linchpin: bool,
    /// What plainly does nothing but read.
    pub reading: bool,
}

/// Programs that do nothing but read and show, as long as nothing that they are given is written.
const READING_PROGRAMS: [&str; 35] = [
    "[", "basename", "cat", "cd", "cmp", "cut", "date", "diff", "dirname", "echo", "egrep", "false", "fgrep", "file",
    "find", "grep", "head", "jq", "ls", "nl", "printf", "pwd", "realpath", "rg", "sed", "sort", "stat", "tail", "test",
    "tr", "tree", "true", "uniq", "wc", "which",
];
/// Of git, where nothing stands before them.
const READING_SUBCOMMANDS: [&str; 7] = ["status", "log", "show", "diff", "blame", "ls-files", "rev-parse"];
/// Flags of git with which those do more.
const DOING_FLAGS: [&str; 4] = ["--output", "--ext-diff", "--textconv", "--open-files-in-pager"];

impl Exemptions {
    /// Tools that do nothing but read.
    pub const READING_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];

    /// Linchpin's own commands and plain reading.
    pub fn harmless() -> Self {
        Self { linchpin: true, reading: true, ..Self::default() }
    }

    pub(crate) fn holds(&self, call: &ToolCall, situation: &Situation) -> bool {
        let named = self.tools.iter().any(|tool| call.names().any(|name| tool.matches(name)));
        let reached = self.mcp_tools.iter().any(|pattern| call.mcp.iter().any(|tool| pattern.matches(tool)));
        named || reached || self.is_harmless(call, situation)
    }

    fn is_harmless(&self, call: &ToolCall, situation: &Situation) -> bool {
        if call.shell.is_none() {
            return self.reading && call.mcp.is_empty() && call.names().all(|name| Self::READING_TOOLS.contains(&name));
        }
        let Some(script) = situation.script().filter(|script| script.complete) else { return false };
        let changes = |access: Option<Access>| access != Some(Access::Read);
        !script.commands.is_empty()
            && script.commands.iter().all(|command| self.is_harmless_command(command))
            && !situation.touches().iter().any(|touch| changes(touch.access) && touch.absolute != "/dev/null")
            && !situation.unknown_touches().iter().any(|touch| changes(touch.access))
    }

    fn is_harmless_command(&self, command: &SimpleCommand) -> bool {
        let is_plain = command.wrappers.is_empty() && command.assignments().is_empty() && !command.is_remote();
        let mut words = command.words().iter().map(|word| word.value.as_deref());
        // By its name alone: a file of that name could be anything.
        let Some(Some(program)) = words.next().filter(|_| is_plain) else { return false };
        let mut reads = || match program {
            "git" => {
                words.next().flatten().is_some_and(|name| READING_SUBCOMMANDS.contains(&name))
                    && words.all(|word| word.is_some_and(|word| !DOING_FLAGS.iter().any(|flag| word.starts_with(flag))))
            }
            // These set something with a flag.
            "date" => words.all(|word| word.is_some_and(|word| !word.starts_with("-s") && !word.starts_with("--s"))),
            "printf" => words.next().is_some_and(|first| first.is_some_and(|first| !first.starts_with("-v"))),
            _ => READING_PROGRAMS.contains(&program),
        };
        (self.linchpin && program == "linchpin") || (self.reading && reads())
    }
}
