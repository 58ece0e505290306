use crate::rules::{Detector, Rule, Truth};
use crate::situation::Situation;
use shell::SimpleCommand;

/// Tracks which parts of a call matching `allow` rules cover. A call is approved only if they cover all of it.
pub(super) struct AllowCoverage<'a> {
    pub(super) situation: &'a Situation,
    whole: bool,
    /// For each simple command, true if a rule covers it.
    covered_commands: Vec<bool>,
}

impl<'a> AllowCoverage<'a> {
    pub(super) fn new(situation: &'a Situation) -> Self {
        Self { situation, whole: false, covered_commands: Vec::new() }
    }

    pub(super) fn add(&mut self, rule: &Rule) {
        let Detector::Tool(tool) = &rule.detect else {
            self.whole = true;
            return;
        };
        if !tool.covers_whole_call(self.situation) {
            return;
        }
        // An `allow` rule that matches a wrapper (`timeout`) does not allow the command that it runs.
        let Ok(command_truths) = tool.command_truths_without_wrappers(self.situation) else { return };
        if command_truths.is_empty() {
            self.whole = true;
            return;
        }
        self.covered_commands.resize(command_truths.len(), false);
        for (covered, truth) in self.covered_commands.iter_mut().zip(&command_truths) {
            *covered |= *truth == Truth::True;
        }
    }

    /// Why the call is not fully covered, for people; `None` if it is.
    pub(super) fn why_incomplete(&self) -> Option<String> {
        let said = |why: &str| Some(why.to_owned());
        let Some(script) = self.situation.script() else {
            let is_shell = self.situation.event.tool.as_ref().is_none_or(|call| call.shell.is_some());
            return if self.whole && !is_shell {
                None
            } else {
                said("the rule does not cover everything that the call does")
            };
        };
        if let Some(gap) = script.gaps.first() {
            return Some(gap.to_string());
        }
        // A shell loop could assign `PATH`, and so change which programs run.
        if !script.complete || !script.unattached_words.is_empty() {
            return said("a loop sets a variable");
        }
        // A folder's policy cannot approve what runs outside the folder.
        if !self.situation.runs_in_scope_only() {
            return said("part of the command runs outside the folder of this policy");
        }
        if self.whole {
            return None;
        }
        if self.covered_commands.is_empty() {
            return said("conditions on branches or paths never cover a shell command");
        }
        let mut commands = script.commands.iter().enumerate();
        commands.find_map(|(index, command)| self.why_not_covered(index, command))
    }

    /// Patterns match only a command's words, so redirections and leading assignments are never covered by them.
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
