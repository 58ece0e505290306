use crate::rules::{Detector, Rule, Truth};
use crate::situation::Situation;
use shell::SimpleCommand;

/// How much of a call `allow` rules speak of. Only a call that they cover whole is approved.
pub(super) struct Coverage<'a> {
    pub(super) situation: &'a Situation,
    whole: bool,
    commands: Vec<bool>,
}

impl<'a> Coverage<'a> {
    pub(super) fn new(situation: &'a Situation) -> Self {
        Self { situation, whole: false, commands: Vec::new() }
    }

    pub(super) fn add(&mut self, rule: &Rule) {
        let Detector::Tool(tool) = &rule.detect else {
            self.whole = true;
            return;
        };
        if !tool.covers_whole_call(self.situation) {
            return;
        }
        // To allow `timeout` is not to allow what it runs.
        let Ok(commands) = tool.commands_themselves(self.situation) else { return };
        if commands.is_empty() {
            self.whole = true;
            return;
        }
        self.commands.resize(commands.len(), false);
        for (covered, truth) in self.commands.iter_mut().zip(&commands) {
            *covered |= *truth == Truth::True;
        }
    }

    /// Why the call is not covered whole, for people.
    pub(super) fn lack(&self) -> Option<String> {
        let said = |why: &str| Some(why.to_owned());
        let Some(script) = self.situation.script() else {
            let is_shell = self.situation.event.tool.as_ref().is_none_or(|call| call.shell.is_some());
            return if self.whole && !is_shell { None } else { said("it does not speak of all that the call does") };
        };
        if let Some(gap) = script.gaps.first() {
            return Some(gap.to_string());
        }
        // A loop sets a variable, which may be `PATH`.
        if !script.complete || !script.loose.is_empty() {
            return said("a loop sets a variable");
        }
        // The policy of a folder does not speak for what happens elsewhere.
        if !self.situation.is_all_here() {
            return said("some of it runs outside of the folder that this policy is for");
        }
        if self.whole {
            return None;
        }
        if self.commands.is_empty() {
            return said("what is said of branches or of paths covers no shell command");
        }
        let mut commands = script.commands.iter().enumerate();
        commands.find_map(|(place, command)| self.lack_of(place, command))
    }

    /// A pattern reads a command's words alone: what it redirects or sets before it is not covered by one.
    fn lack_of(&self, place: usize, command: &SimpleCommand) -> Option<String> {
        if !self.commands.get(place).copied().unwrap_or(false) {
            let text = self.situation.texts().get(place).filter(|text| !text.is_empty());
            return Some(match text {
                Some(text) => format!("`{text}` is not covered"),
                None => "it sets variables, or writes a file, without a program".to_owned(),
            });
        }
        let unknown = (!command.is_known()).then_some("it has words that are not known before it runs");
        command.beyond_its_words().or(unknown).map(str::to_owned)
    }
}
