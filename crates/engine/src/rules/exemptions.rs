//! Calls that are exempt from a rule. Only pace rules, and rules that Linchpin derives from another key of a policy
//! file (such as a tool list of a workflow or `writes` of a hat), have exemptions.

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
    /// True if Linchpin's own commands are exempt.
    pub linchpin: bool,
    /// True if calls that only read are exempt.
    #[serde(rename = "reading")]
    pub read_only: bool,
}

/// Programs that only read and print, unless a redirection or an argument makes them change files.
const READ_ONLY_PROGRAMS: [&str; 35] = [
    "[", "basename", "cat", "cd", "cmp", "cut", "date", "diff", "dirname", "echo", "egrep", "false", "fgrep", "file",
    "find", "grep", "head", "jq", "ls", "nl", "printf", "pwd", "realpath", "rg", "sed", "sort", "stat", "tail", "test",
    "tr", "tree", "true", "uniq", "wc", "which",
];
/// Read-only subcommands of git, which must be the first word after `git`.
const READ_ONLY_SUBCOMMANDS: [&str; 7] = ["status", "log", "show", "diff", "blame", "ls-files", "rev-parse"];
/// Flags that let read-only subcommands of git write files or start programs.
const UNSAFE_FLAGS: [&str; 4] = ["--output", "--ext-diff", "--textconv", "--open-files-in-pager"];

impl Exemptions {
    /// Tools that only read.
    pub const READ_ONLY_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];

    /// Exempts Linchpin's own commands and calls that only read.
    pub fn harmless() -> Self {
        Self { linchpin: true, read_only: true, ..Self::default() }
    }

    pub(crate) fn covers(&self, call: &ToolCall, situation: &Situation) -> bool {
        let named = self.tools.iter().any(|tool| call.names().any(|name| tool.matches(name)));
        let reached = self.mcp_tools.iter().any(|pattern| call.mcp.iter().any(|tool| pattern.matches(tool)));
        named || reached || self.is_harmless(call, situation)
    }

    fn is_harmless(&self, call: &ToolCall, situation: &Situation) -> bool {
        if call.shell.is_none() {
            return self.read_only
                && call.mcp.is_empty()
                && call.names().all(|name| Self::READ_ONLY_TOOLS.contains(&name));
        }
        let Some(script) = situation.script().filter(|script| script.complete) else { return false };
        let changes = |access: Option<Access>| access != Some(Access::Read);
        !script.commands.is_empty()
            && script.commands.iter().all(|command| self.is_harmless_command(command))
            && !situation.touched_paths().iter().any(|touch| changes(touch.access) && touch.absolute != "/dev/null")
            && !situation.unknown_paths().iter().any(|touch| changes(touch.access))
    }

    fn is_harmless_command(&self, command: &SimpleCommand) -> bool {
        let is_plain = command.wrappers.is_empty() && command.assignments().is_empty() && !command.is_remote();
        let mut words = command.words().iter().map(|word| word.value.as_deref());
        // Only a program that is called by its bare name is exempt, because a path could lead to any program.
        let Some(Some(program)) = words.next().filter(|_| is_plain) else { return false };
        let mut reads = || match program {
            "git" => {
                words.next().flatten().is_some_and(|name| READ_ONLY_SUBCOMMANDS.contains(&name))
                    && words
                        .all(|word| word.is_some_and(|word| !UNSAFE_FLAGS.iter().any(|flag| word.starts_with(flag))))
            }
            // `date -s` sets the clock, and `printf -v` sets a variable.
            "date" => words.all(|word| word.is_some_and(|word| !word.starts_with("-s") && !word.starts_with("--s"))),
            "printf" => words.next().is_some_and(|first| first.is_some_and(|first| !first.starts_with("-v"))),
            _ => READ_ONLY_PROGRAMS.contains(&program),
        };
        (self.linchpin && program == "linchpin") || (self.read_only && reads())
    }
}
