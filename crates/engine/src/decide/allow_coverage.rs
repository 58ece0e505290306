use crate::rules::{Detector, Rule, Truth};
use crate::situation::Situation;
use shell::SimpleCommand;

/// The parts of a call that are covered by the `allow` rules that match the call. A call is approved only if every part
/// is covered.
pub(super) struct AllowCoverage<'a> {
    pub(super) situation: &'a Situation,
    /// True if one rule covers the whole call.
    covers_whole_call: bool,
    /// For each simple command, true if a rule covers the command.
    covered_commands: Vec<bool>,
}

impl<'a> AllowCoverage<'a> {
    pub(super) fn new(situation: &'a Situation) -> Self {
        Self { situation, covers_whole_call: false, covered_commands: Vec::new() }
    }

    pub(super) fn add(&mut self, rule: &Rule) {
        let Detector::Tool(tool) = &rule.detect else {
            self.covers_whole_call = true;
            return;
        };
        if !tool.covers_whole_call(self.situation) {
            return;
        }
        // An `allow` rule that matches only a wrapper (`timeout`) does not cover the command that the wrapper runs.
        let Ok(command_truths) = tool.command_truths_without_wrappers(self.situation) else { return };
        if command_truths.is_empty() {
            self.covers_whole_call = true;
            return;
        }
        self.covered_commands.resize(command_truths.len(), false);
        for (covered, truth) in self.covered_commands.iter_mut().zip(&command_truths) {
            *covered |= *truth == Truth::True;
        }
    }

    /// The reason why the call is not fully covered, worded for people; `None` if the call is fully covered.
    pub(super) fn why_incomplete(&self) -> Option<String> {
        let because = |why: &str| Some(why.to_owned());
        let Some(script) = self.situation.script() else {
            let is_shell = self.situation.event.tool.as_ref().is_none_or(|call| call.shell.is_some());
            return if self.covers_whole_call && !is_shell {
                None
            } else {
                because("the rule does not cover everything that the call does")
            };
        };
        if let Some(gap) = script.gaps.first() {
            return Some(gap.to_string());
        }
        // A shell loop or an arithmetic command could set `PATH`, which decides which program a command name starts.
        if !script.complete || !script.unattached_words.is_empty() {
            return because("a loop sets a variable");
        }
        // The policy of a directory cannot approve commands that run outside of this directory.
        if !self.situation.runs_in_scope_only() {
            return because("part of the command runs outside the directory of this policy");
        }
        if self.covers_whole_call {
            return None;
        }
        if self.covered_commands.is_empty() {
            return because("conditions on branches or paths never cover a shell command");
        }
        let mut commands = script.commands.iter().enumerate();
        commands.find_map(|(index, command)| self.why_not_covered(index, command))
    }

    /// The reason why a simple command is not covered. The patterns of rules match only the words of a command, so
    /// rules never cover redirections and leading assignments.
    fn why_not_covered(&self, index: usize, command: &SimpleCommand) -> Option<String> {
        if !self.covered_commands.get(index).copied().unwrap_or(false) {
            let text = self.situation.command_texts().get(index).filter(|text| !text.is_empty());
            return Some(match text {
                Some(text) => format!("`{text}` is not covered"),
                None => "part of the command sets variables or writes a file without a program".to_owned(),
            });
        }
        let unknown = (!command.is_known()).then_some("the command has words that are only known when it runs");
        command.hidden_effect().or(unknown).map(str::to_owned)
    }
}
