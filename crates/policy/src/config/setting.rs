//! Settings of a project that need a person's trust.

use std::ops::Range;

use engine::observers::Observer;
use engine::rules::Tier;

use super::keys::{MODES, SANDBOXES};
use super::{Config, PolicyMode, Sandbox};
use crate::text::fields::Fields;
use crate::values::command_text::{self, CommandPlace};

/// A setting that makes the policy milder or starts a program. In a project, it applies only if it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingNeedingTrust {
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

impl SettingNeedingTrust {
    /// Describes the effect of the setting to the person who is asked to trust it.
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

/// A setting that needs trust, with its spans in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpannedSetting {
    pub setting: SettingNeedingTrust,
    pub key_span: Range<usize>,
    /// The span of the key and its value.
    pub span: Range<usize>,
}

impl Config {
    /// Applies a setting that is trusted, or needs no trust because it is the user's.
    pub fn apply(&mut self, setting: SettingNeedingTrust) {
        match setting {
            SettingNeedingTrust::Disabled => self.enabled = false,
            SettingNeedingTrust::Observe => self.mode = PolicyMode::Observe,
            SettingNeedingTrust::AgentMay(commands) => self.agent_permissions.allowed_by_project = commands,
            SettingNeedingTrust::CommandEnv(names) => self.commands.env.extend(names),
            SettingNeedingTrust::SandboxOff => self.commands.sandbox = Sandbox::Off,
            SettingNeedingTrust::ProgressCommand(command) => self.commands.progress = Some(command),
            SettingNeedingTrust::External(observer) => self.observers.push(*observer),
        }
    }

    /// Reads the settings that can make the policy milder or start a program. Returns those that do, without applying
    /// them.
    pub(super) fn take_settings_needing_trust(&mut self, fields: &mut Fields, tier: Tier) -> Vec<SpannedSetting> {
        let mut settings = Vec::new();
        let enabled = fields.boolean("enabled").unwrap_or(true);
        settings.extend((!enabled).then_some(("enabled", SettingNeedingTrust::Disabled)));
        match fields.choice("mode", &MODES) {
            Some(PolicyMode::Observe) => settings.push(("mode", SettingNeedingTrust::Observe)),
            Some(PolicyMode::Enforce) => self.mode = PolicyMode::Enforce,
            None => {}
        }
        settings.extend(
            self.agent_permissions.take(fields, tier).map(|added| ("agent_may", SettingNeedingTrust::AgentMay(added))),
        );
        let names = fields.texts("command_env").unwrap_or_default();
        let names: Vec<String> = names.into_iter().map(|name| name.value).collect();
        settings.extend((!names.is_empty()).then_some(("command_env", SettingNeedingTrust::CommandEnv(names))));
        let command = fields.text("progress_command");
        let command = command.filter(|command| {
            command_text::split_words("progress_command", command, CommandPlace::SingleString, fields).is_some()
        });
        settings
            .extend(command.map(|command| ("progress_command", SettingNeedingTrust::ProgressCommand(command.value))));
        match fields.choice("sandbox", &SANDBOXES) {
            Some(Sandbox::Off) => settings.push(("sandbox", SettingNeedingTrust::SandboxOff)),
            // A later tier can make the sandbox stricter, but not milder.
            Some(stricter) => self.commands.sandbox = self.commands.sandbox.max(stricter),
            None => {}
        }
        let add_spans = |(key, setting)| {
            let key_span = fields.key_span(key)?;
            let span = fields.source().entry_span(key_span.start, fields.end_of(key));
            Some(SpannedSetting { setting, key_span, span })
        };
        settings.into_iter().filter_map(add_spans).collect()
    }
}
