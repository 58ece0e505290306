//! Tool rules, which judge a tool call (by default before the call runs).
//!
//! A rule matches if all of its clauses are true. A clause is unknown if its truth cannot be determined before the
//! command runs: the script cannot be parsed, a relevant word contains a variable, or it is unknown how the command
//! uses a path.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tool_name::glob_matches;
use super::{
    BranchClause, Clause, CommandMatcher, CommandRegex, CommandScope, Exemptions, McpPattern, PathClause, Subject,
    ToolName, Truth, strongest_truth,
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
    #[serde(rename = "search")]
    pub command_regex: CommandRegex,
    /// The matchers, at least one of which must match a command; empty if any command matches.
    pub matchers: Vec<CommandMatcher>,
    pub rewrites: Option<BranchClause>,
    pub paths: Vec<PathClause>,
    /// The level of the finding if no clause is false and at least one is unknown; `None` for the default of the rule's
    /// action.
    pub incomplete: Option<Level>,
    /// The calls that the rule never matches. Set only for rules that Linchpin derives from another key of a policy
    /// file.
    #[serde(rename = "unless")]
    pub exemptions: Option<Exemptions>,
}

/// The result of judging a call by a tool rule.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolMatch {
    pub clauses: Vec<Clause>,
    /// For each simple command, the truth of the rule's command clauses for that command or its wrappers. Empty if the
    /// rule has no command clauses and therefore applies to the whole call.
    pub command_truths: Vec<Truth>,
}

impl ToolMatch {
    pub fn truth(&self) -> Truth {
        self.clauses.iter().fold(Truth::True, |truth, clause| truth.and(clause.truth))
    }

    /// The missing facts that the truth of clauses depends on.
    pub fn missing(&self) -> impl Iterator<Item = &Missing> {
        self.clauses.iter().filter_map(|clause| clause.missing.as_ref())
    }

    pub fn truth_without_paths(&self) -> Truth {
        let others = self.clauses.iter().filter(|clause| !clause.matches_paths());
        others.fold(Truth::True, |truth, clause| truth.and(clause.truth))
    }
}

impl ToolRule {
    /// Judges the clauses. Unless `evaluate_all` is set, stops at the first false clause, because most rules do not
    /// match and must be judged fast.
    pub fn judge(&self, situation: &Situation, evaluate_all: bool) -> Result<ToolMatch, RegexError> {
        let mut tool_match = ToolMatch { clauses: Vec::new(), command_truths: Vec::new() };
        let Some(call) = &situation.event.tool else {
            tool_match.clauses.push(Clause::new("tools", Truth::False, "no tool call".to_owned()));
            return Ok(tool_match);
        };
        if !self.tools.is_empty() || !self.mcp_tools.is_empty() {
            tool_match.clauses.push(self.name_clause(call));
        }
        let is_done = |tool_match: &ToolMatch| !evaluate_all && tool_match.truth() == Truth::False;
        if let Some(exemptions) = self.exemptions.as_ref().filter(|_| !is_done(&tool_match))
            && exemptions.covers(call, situation)
        {
            tool_match.clauses.push(Clause::new("unless", Truth::False, "a call that is always allowed".to_owned()));
        }
        if self.command_regex.is_some() && !is_done(&tool_match) {
            tool_match.command_truths = self.command_regex.truths(situation, CommandScope::CommandsAndWrappers)?;
            tool_match.clauses.push(command_clause(self.command_regex.key(), situation, &tool_match.command_truths));
        }
        if !self.matchers.is_empty() && !is_done(&tool_match) {
            let mut missing = None;
            tool_match.command_truths = self.match_commands(
                situation,
                &tool_match.command_truths,
                CommandScope::CommandsAndWrappers,
                &mut missing,
            );
            tool_match
                .clauses
                .push(Clause { missing, ..command_clause("command", situation, &tool_match.command_truths) });
        }
        if let Some(clause) = self.rewrites.as_ref().filter(|_| !is_done(&tool_match)) {
            tool_match.clauses.push(clause.judge(situation, &tool_match.command_truths));
        }
        for clause in &self.paths {
            if !is_done(&tool_match) {
                tool_match.clauses.push(clause.judge(situation, &tool_match.command_truths));
            }
        }
        Ok(tool_match)
    }

    /// True if a match of the rule covers all effects of the call. A rule with path clauses must match every path that
    /// the call names. A rule with branch clauses, or with path clauses for a shell call, never covers all effects.
    /// This function does not judge which simple commands the rule covers (see `command_truths_without_wrappers`).
    pub fn covers_whole_call(&self, situation: &Situation) -> bool {
        let is_shell = situation.event.tool.as_ref().is_some_and(|call| call.shell.is_some());
        let covers_part = self.rewrites.is_some() || self.matchers.iter().any(|matcher| !matcher.paths.is_empty());
        if covers_part {
            return false;
        }
        self.paths.is_empty() || (!is_shell && self.paths.iter().all(|clause| clause.covers_all(situation)))
    }

    /// The truth of the rule's command clauses for each simple command, without wrappers. Empty if the rule has no
    /// command clauses and applies to the whole call.
    pub(crate) fn command_truths_without_wrappers(&self, situation: &Situation) -> Result<Vec<Truth>, RegexError> {
        let regex_truths = if self.command_regex.is_some() {
            self.command_regex.truths(situation, CommandScope::Commands)?
        } else {
            Vec::new()
        };
        if self.matchers.is_empty() {
            return Ok(regex_truths);
        }
        Ok(self.match_commands(situation, &regex_truths, CommandScope::Commands, &mut None))
    }

    /// True if the rule applies to shell calls only.
    pub fn applies_to_commands(&self) -> bool {
        self.command_regex.is_some() || !self.matchers.is_empty() || self.rewrites.is_some()
    }

    /// True if the rule names a tool of an MCP server other than `server`.
    pub fn names_other_server(&self, server: &str) -> bool {
        let by_pattern = self.mcp_tools.iter().map(|pattern| pattern.server.as_str());
        let by_name = self.tools.iter().filter_map(|tool| {
            let rest = tool.0.strip_prefix("mcp__")?;
            Some(rest.split_once("__").map_or(rest, |(server, _)| server))
        });
        by_pattern.chain(by_name).any(|named| !glob_matches(named, server))
    }

    /// The truth of the matchers for each simple command, combined with the truth of the earlier clauses (`before`). If
    /// the result depends on a missing fact, the fact is stored in `missing`.
    fn match_commands(
        &self,
        situation: &Situation,
        before: &[Truth],
        scope: CommandScope,
        missing: &mut Option<Missing>,
    ) -> Vec<Truth> {
        let commands = situation.script().into_iter().flat_map(|script| &script.commands).enumerate();
        let truth = |(index, command): (usize, &SimpleCommand)| {
            let before = before.get(index).copied().unwrap_or(Truth::True);
            if before == Truth::False || !situation.is_in_scope(index) {
                return Truth::False;
            }
            let with_wrappers = || std::iter::once(command).chain(scope.wrappers(command).iter().map(Arc::as_ref));
            let mut matched = Truth::False;
            for matcher in &self.matchers {
                for command in with_wrappers() {
                    matched = matched.or(matcher.truth(command, index, situation, missing));
                }
            }
            before.and(matched).and(strongest_truth(command))
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

/// Combines the truths for the simple commands into one clause.
fn command_clause(key: &'static str, situation: &Situation, truths: &[Truth]) -> Clause {
    // The clause is false without a script. This is safe, because Linchpin asks the person about every shell call
    // without a script, whatever the rules are.
    let Some(script) = situation.script() else {
        return Clause::new(key, Truth::False, Clause::NO_COMMAND.to_owned());
    };
    let strongest = truths.iter().copied().fold(Truth::False, Truth::or);
    // The part of the script that could not be parsed may contain a match.
    let truth = if script.complete { strongest } else { strongest.or(Truth::Unknown) };
    let matching = situation.command_texts().iter().zip(truths).filter(|(_, command_truth)| **command_truth == truth);
    let texts: Vec<&str> = matching.map(|(text, _)| text.as_str()).collect();
    let shown = match truth {
        Truth::False => situation.command_texts().join("; "),
        _ if texts.is_empty() => Clause::UNPARSABLE.to_owned(),
        _ => texts.join("; "),
    };
    Clause { subject: Subject::innermost_command(truths, truth, situation), ..Clause::new(key, truth, shown) }
}
