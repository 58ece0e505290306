//! Git settings that commands set or inherit.

use std::sync::Arc;

use super::Walker;
use crate::limits::Gap;
use crate::model::SimpleCommand;
use crate::programs::Flag;
use crate::written_files::git_config;

impl Walker<'_> {
    /// Notes the settings that a `git` command inherits from its environment.
    pub(super) fn note_git_environment(&mut self, command: &mut SimpleCommand) {
        if command.program() == Some("git") {
            match git_config::settings_from_environment(command, &self.files) {
                Some(settings) => command.context.git_environment = settings,
                None => self.add_gap(Gap::Unknown("git".to_owned())),
            }
        }
    }

    /// Notes the settings that `git config alias.x …` and `git remote add --mirror …` set for the commands that
    /// follow.
    pub(super) fn note_git_setting(&mut self, command: &SimpleCommand) {
        let arguments = command.arguments().filter(|_| command.program() == Some("git"));
        let Some(arguments) = arguments else { return };
        let form = arguments.subcommands.first().map(String::as_str);
        let operands = arguments.operands.iter().filter_map(|index| command.text_from(*index, 0));
        let operands: Vec<&str> = operands.filter(|operand| *operand != "set").collect();
        match (form, operands.as_slice()) {
            (Some("config"), [value]) => {
                let flag = arguments.flags.iter().find(|flag| flag.name == "--add").and_then(|flag| flag.value);
                let name = flag.and_then(|name| command.text_from(name.word, name.from));
                if let Some(name) = name {
                    self.add_git_setting((name.to_ascii_lowercase(), (*value).to_owned()));
                }
            }
            (Some("config"), [name, value]) => {
                self.add_git_setting((name.to_ascii_lowercase(), (*value).to_owned()));
            }
            (Some("remote"), ["add", name, ..]) => {
                let mirror = arguments.flags.iter().find(|flag| flag.name == "--mirror");
                let kind = |flag: &Flag| flag.value.and_then(|value| command.text_from(value.word, value.from));
                let setting = |flag| {
                    (format!("remote.{name}.mirror").to_ascii_lowercase(), kind(flag).unwrap_or("true").to_owned())
                };
                if let Some(setting) = mirror.map(setting) {
                    self.add_git_setting(setting);
                }
            }
            _ => {}
        }
    }

    fn add_git_setting(&mut self, setting: (String, String)) {
        self.git_settings = self.git_settings.iter().cloned().chain([Arc::new(setting)]).collect();
    }
}
