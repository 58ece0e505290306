//! Settings that count once a person has accepted them, where a project makes them.

use std::ops::Range;

use engine::observers::Observer;
use engine::rules::Tier;

use super::keys::{MODES, SANDBOXES};
use super::{Config, Mode, Sandbox};
use crate::text::fields::Fields;
use crate::values::command_text::{self, CommandPlace};

/// A setting by which a project would weaken a guard or start a program. It counts once a person has accepted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    Disabled,
    /// `mode: observe`.
    Observe,
    /// Commands that the user does not let agents run.
    AgentMay(Vec<String>),
    CommandEnv(Vec<String>),
    SandboxOff,
    ProgressCommand(String),
    /// A behavior that is a program.
    External(Box<Observer>),
}

impl Setting {
    /// What it does, for the person who is to accept it.
    pub fn effect(&self) -> &'static str {
        match self {
            Self::Disabled => "switches every rule off but those that protect the guard itself",
            Self::Observe => "lets every call through and only watches",
            Self::AgentMay(_) => "lets agents run more commands of Linchpin by themselves",
            Self::CommandEnv(_) => "gives environment variables to the commands of rules and gates",
            Self::SandboxOff => "lets the commands of rules and gates write anywhere",
            Self::ProgressCommand(_) | Self::External(_) => "starts a program",
        }
    }
}

/// Such a setting, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unaccepted {
    pub setting: Setting,
    pub key: Range<usize>,
    /// The key with its value.
    pub text: Range<usize>,
}

impl Config {
    /// Takes over a setting that needs nobody's acceptance, or has it.
    pub fn accept(&mut self, setting: Setting) {
        match setting {
            Setting::Disabled => self.enabled = false,
            Setting::Observe => self.mode = Mode::Observe,
            Setting::AgentMay(commands) => self.agent_permissions.by_project = commands,
            Setting::CommandEnv(names) => self.commands.env.extend(names),
            Setting::SandboxOff => self.commands.sandbox = Sandbox::Off,
            Setting::ProgressCommand(command) => self.commands.progress = Some(command),
            Setting::External(observer) => self.observers.push(*observer),
        }
    }

    /// What weakens a guard or starts a program is not taken over, but returned with its place.
    pub(super) fn take_weakening_settings(&mut self, fields: &mut Fields, tier: Tier) -> Vec<Unaccepted> {
        let mut found = Vec::new();
        let enabled = fields.flag("enabled").unwrap_or(true);
        found.extend((!enabled).then_some(("enabled", Setting::Disabled)));
        match fields.choice("mode", &MODES) {
            Some(Mode::Observe) => found.push(("mode", Setting::Observe)),
            Some(Mode::Enforce) => self.mode = Mode::Enforce,
            None => {}
        }
        found.extend(self.agent_permissions.take(fields, tier).map(|more| ("agent_may", Setting::AgentMay(more))));
        let names = fields.texts("command_env").unwrap_or_default();
        let names: Vec<String> = names.into_iter().map(|name| name.value).collect();
        found.extend((!names.is_empty()).then_some(("command_env", Setting::CommandEnv(names))));
        let command = fields.text("progress_command");
        let command = command.filter(|command| {
            command_text::split("progress_command", command, CommandPlace::OneText, fields).is_some()
        });
        found.extend(command.map(|command| ("progress_command", Setting::ProgressCommand(command.value))));
        match fields.choice("sandbox", &SANDBOXES) {
            Some(Sandbox::Off) => found.push(("sandbox", Setting::SandboxOff)),
            // A nearer tier makes it stricter, never milder.
            Some(stricter) => self.commands.sandbox = self.commands.sandbox.max(stricter),
            None => {}
        }
        let place = |(key, setting)| {
            let span = fields.key_span(key)?;
            let text = fields.source().extent(span.start, fields.end_of(key));
            Some(Unaccepted { setting, key: span, text })
        };
        found.into_iter().filter_map(place).collect()
    }
}
