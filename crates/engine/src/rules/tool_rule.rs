//! Rules about a tool call that is about to run.
//!
//! Every clause is true, false or unknown; the rule is what all of its clauses together are. Unknown is what cannot be
//! said before a command runs: text that does not parse, a variable in a place that matters, a path that a command
//! names without it being known what the command does with it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tool_name::glob_matches;
use super::{
    Against, BranchClause, Clause, CommandMatcher, CommandRegex, Exemptions, McpPattern, PathClause, Subject, ToolName,
    Truth,
};
use crate::bounded_regex::RegexError;
use crate::event::ToolCall;
use crate::facts::Missing;
use crate::situation::Situation;
use crate::verdict::Level;
use shell::SimpleCommand;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRule {
    pub tools: Vec<ToolName>,
    pub mcp_tools: Vec<McpPattern>,
    pub search: CommandRegex,
    /// One of them speaks of a command; empty: any command will do.
    pub matchers: Vec<CommandMatcher>,
    pub rewrites: Option<BranchClause>,
    /// One clause for each of `paths`, `reads`, `writes` and `deletes` that the rule has.
    pub paths: Vec<PathClause>,
    /// What it means that no clause is false and one is unknown; `None`: as the rule's action implies.
    pub incomplete: Option<Level>,
    /// Of the lists of tools in a workflow; no key of a rule says it.
    pub unless: Option<Exemptions>,
}

/// A tool rule, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolMatch {
    pub clauses: Vec<Clause>,
    /// For each simple command, whether the rule's command clauses speak of it or of what it is run through. Empty
    /// where the rule has none: it speaks of the whole call.
    pub commands: Vec<Truth>,
}

impl ToolMatch {
    pub fn truth(&self) -> Truth {
        self.clauses.iter().fold(Truth::True, |truth, clause| truth.and(clause.truth))
    }

    /// The facts that its clauses depend on and that are missing.
    pub fn missing(&self) -> impl Iterator<Item = &Missing> {
        self.clauses.iter().filter_map(|clause| clause.missing.as_ref())
    }

    pub fn truth_but_for_paths(&self) -> Truth {
        let others = self.clauses.iter().filter(|clause| !clause.is_about_paths());
        others.fold(Truth::True, |truth, clause| truth.and(clause.truth))
    }
}

impl ToolRule {
    /// Stops at the first false clause: a rule that cannot match should cost little. `thorough` judges them all.
    pub fn judge(&self, situation: &Situation, thorough: bool) -> Result<ToolMatch, RegexError> {
        let mut found = ToolMatch { clauses: Vec::new(), commands: Vec::new() };
        let Some(call) = &situation.event.tool else {
            found.clauses.push(Clause::new("tools", Truth::False, "no tool call".to_owned()));
            return Ok(found);
        };
        if !self.tools.is_empty() || !self.mcp_tools.is_empty() {
            found.clauses.push(self.name_clause(call));
        }
        let done = |found: &ToolMatch| !thorough && found.truth() == Truth::False;
        if let Some(unless) = self.unless.as_ref().filter(|_| !done(&found))
            && unless.holds(call, situation)
        {
            found.clauses.push(Clause::new("unless", Truth::False, "a call that always passes".to_owned()));
        }
        if self.search.is_some() && !done(&found) {
            found.commands = self.search.truths(situation, Against::CommandsAndWrappers)?;
            found.clauses.push(command_clause(self.search.key(), situation, &found.commands));
        }
        if !self.matchers.is_empty() && !done(&found) {
            let mut missing = None;
            found.commands = self.matched(situation, &found.commands, Against::CommandsAndWrappers, &mut missing);
            found.clauses.push(Clause { missing, ..command_clause("command", situation, &found.commands) });
        }
        if let Some(clause) = self.rewrites.as_ref().filter(|_| !done(&found)) {
            found.clauses.push(clause.judge(situation, &found.commands));
        }
        for clause in &self.paths {
            if !done(&found) {
                found.clauses.push(clause.judge(situation, &found.commands));
            }
        }
        Ok(found)
    }

    /// Whether the rule, where it matches, speaks of all that the call does. One about paths must know each of them,
    /// and of a shell call neither those nor branches ever are all.
    pub fn covers_whole_call(&self, situation: &Situation) -> bool {
        let is_shell = situation.event.tool.as_ref().is_some_and(|call| call.shell.is_some());
        let names_some = self.rewrites.is_some() || self.matchers.iter().any(|matcher| !matcher.paths.is_empty());
        if names_some {
            return false;
        }
        self.paths.is_empty() || (!is_shell && self.paths.iter().all(|clause| clause.covers_all(situation)))
    }

    /// For each simple command, whether the rule's command clauses speak of it, whatever runs it. Empty where the rule
    /// has none: it speaks of the whole call.
    pub(crate) fn commands_themselves(&self, situation: &Situation) -> Result<Vec<Truth>, RegexError> {
        let searched =
            if self.search.is_some() { self.search.truths(situation, Against::Commands)? } else { Vec::new() };
        if self.matchers.is_empty() {
            return Ok(searched);
        }
        Ok(self.matched(situation, &searched, Against::Commands, &mut None))
    }

    /// Whether it is about shell calls only.
    pub fn is_about_commands(&self) -> bool {
        self.search.is_some() || !self.matchers.is_empty() || self.rewrites.is_some()
    }

    /// Whether some of the tools that it names are those of an MCP server that is not called so.
    pub fn names_server_besides(&self, server: &str) -> bool {
        let by_pattern = self.mcp_tools.iter().map(|pattern| pattern.server.as_str());
        let by_name = self.tools.iter().filter_map(|tool| {
            let rest = tool.0.strip_prefix("mcp__")?;
            Some(rest.split_once("__").map_or(rest, |(server, _)| server))
        });
        by_pattern.chain(by_name).any(|named| !glob_matches(named, server))
    }

    /// For each simple command that earlier clauses speak of, whether a matcher does. `missing`: a fact that this depends on.
    fn matched(
        &self,
        situation: &Situation,
        before: &[Truth],
        against: Against,
        missing: &mut Option<Missing>,
    ) -> Vec<Truth> {
        let commands = situation.script().into_iter().flat_map(|script| &script.commands).enumerate();
        let truth = |(place, command): (usize, &SimpleCommand)| {
            let before = before.get(place).copied().unwrap_or(Truth::True);
            if before == Truth::False || !situation.concerns(place) {
                return Truth::False;
            }
            let meant = || std::iter::once(command).chain(against.wrappers(command).iter().map(Arc::as_ref));
            let mut matched = Truth::False;
            for matcher in &self.matchers {
                for command in meant() {
                    matched = matched.or(matcher.truth(command, place, situation, missing));
                }
            }
            before.and(matched)
        };
        commands.map(truth).collect()
    }

    fn name_clause(&self, call: &ToolCall) -> Clause {
        let named = self.tools.iter().any(|tool| call.names().any(|name| tool.matches(name)));
        let reached = self.mcp_tools.iter().any(|pattern| call.mcp.iter().any(|tool| pattern.matches(tool)));
        let key = if self.tools.is_empty() { "mcp_tools" } else { "tools" };
        Clause::new(key, (named || reached).into(), call.names().collect::<Vec<_>>().join(", "))
    }
}

/// What the truths about single commands are together.
fn command_clause(key: &'static str, situation: &Situation, truths: &[Truth]) -> Clause {
    // A shell call without a command is asked about whatever the rules say.
    let Some(script) = situation.script() else {
        return Clause::new(key, Truth::False, "not a shell call with a command".to_owned());
    };
    let found = truths.iter().copied().fold(Truth::False, Truth::or);
    // What the parser could not read may hold anything.
    let truth = if script.complete { found } else { found.or(Truth::Unknown) };
    let speaking = situation.texts().iter().zip(truths).filter(|(_, command)| **command == truth);
    let texts: Vec<&str> = speaking.map(|(text, _)| text.as_str()).collect();
    let shown = match truth {
        Truth::False => situation.texts().join("; "),
        _ if texts.is_empty() => "a command that cannot be read".to_owned(),
        _ => texts.join("; "),
    };
    Clause { subject: Subject::among(truths, truth, situation), ..Clause::new(key, truth, shown) }
}
