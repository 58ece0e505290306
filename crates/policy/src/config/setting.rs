//! Settings of a project that need a person's trust.

use std::ops::Range;

use engine::observers::Observer;
use engine::rules::Tier;

use super::keys::{MODES, SANDBOXES};
use super::{Config, PolicyMode, Sandbox};
use crate::text::fields::Fields;
use crate::values::command_text::{self, CommandPlace};

/// A setting that weakens the user's guard or starts a program. In a project it applies only with trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeakeningSetting {
    Disabled,
    /// `mode: observe`.
    Observe,
    /// `agent_may` commands that the user does not allow.
    AgentMay(Vec<String>),
    CommandEnv(Vec<String>),
    SandboxOff,
    ProgressCommand(String),
    /// An observer that runs a program.
    External(Box<Observer>),
}

impl WeakeningSetting {
    /// The effect of the setting, for the person who is asked to trust it.
    pub fn effect(&self) -> &'static str {
        match self {
            Self::Disabled => "switches off every rule except those that protect Linchpin itself",
            Self::Observe => "allows every call and only records verdicts",
            Self::AgentMay(_) => "allows agents to run more Linchpin commands",
            Self::CommandEnv(_) => "passes environment variables to the commands of rules and gates",
            Self::SandboxOff => "allows the commands of rules and gates to write anywhere",
            Self::ProgressCommand(_) | Self::External(_) => "starts a program",
        }
    }
}

/// A setting that needs trust, with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedSetting {
    pub setting: WeakeningSetting,
    pub key: Range<usize>,
    /// The key with its value.
    pub text: Range<usize>,
}

impl Config {
    /// Applies a setting that is trusted, or needs no trust because it is the user's.
    pub fn apply(&mut self, setting: WeakeningSetting) {
        match setting {
            WeakeningSetting::Disabled => self.enabled = false,
            WeakeningSetting::Observe => self.mode = PolicyMode::Observe,
            WeakeningSetting::AgentMay(commands) => self.agent_permissions.by_project = commands,
            WeakeningSetting::CommandEnv(names) => self.commands.env.extend(names),
            WeakeningSetting::SandboxOff => self.commands.sandbox = Sandbox::Off,
            WeakeningSetting::ProgressCommand(command) => self.commands.progress = Some(command),
            WeakeningSetting::External(observer) => self.observers.push(*observer),
        }
    }

    /// Reads the settings that can weaken the guard or start a program. Returns those that do, without applying them.
    pub(super) fn take_weakening_settings(&mut self, fields: &mut Fields, tier: Tier) -> Vec<UntrustedSetting> {
        let mut found = Vec::new();
        let enabled = fields.flag("enabled").unwrap_or(true);
        found.extend((!enabled).then_some(("enabled", WeakeningSetting::Disabled)));
        match fields.choice("mode", &MODES) {
            Some(PolicyMode::Observe) => found.push(("mode", WeakeningSetting::Observe)),
            Some(PolicyMode::Enforce) => self.mode = PolicyMode::Enforce,
            None => {}
        }
        found.extend(
            self.agent_permissions.take(fields, tier).map(|more| ("agent_may", WeakeningSetting::AgentMay(more))),
        );
        let names = fields.texts("command_env").unwrap_or_default();
        let names: Vec<String> = names.into_iter().map(|name| name.value).collect();
        found.extend((!names.is_empty()).then_some(("command_env", WeakeningSetting::CommandEnv(names))));
        let command = fields.text("progress_command");
        let command = command.filter(|command| {
            command_text::split("progress_command", command, CommandPlace::SingleString, fields).is_some()
        });
        found.extend(command.map(|command| ("progress_command", WeakeningSetting::ProgressCommand(command.value))));
        match fields.choice("sandbox", &SANDBOXES) {
            Some(Sandbox::Off) => found.push(("sandbox", WeakeningSetting::SandboxOff)),
            // A nearer tier can make the sandbox stricter, not milder.
            Some(stricter) => self.commands.sandbox = self.commands.sandbox.max(stricter),
            None => {}
        }
        let place = |(key, setting)| {
            let span = fields.key_span(key)?;
            let text = fields.source().extent(span.start, fields.end_of(key));
            Some(UntrustedSetting { setting, key: span, text })
        };
        found.into_iter().filter_map(place).collect()
    }
}
