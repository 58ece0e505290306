//! Linchpin's plugin for OpenCode: a module that is embedded in Linchpin's binary.

use crate::install::{DirectoryOverride, Module, Settings, SettingsForm};

pub(super) const SETTINGS: Settings = Settings {
    project_markers: &[".opencode"],
    home_markers: &[],
    project_file: ".opencode/plugins/linchpin.js",
    local_file: None,
    user_directory: ".config/opencode",
    overridden_by: Some(DirectoryOverride { variable: "XDG_CONFIG_HOME", below: "opencode" }),
    user_file: "plugins/linchpin.js",
    acceptance: None,
    next_steps: Some("it loads plugins when it starts: start it again"),
    also_reads: &[],
    switch_files: &[],
    form: SettingsForm::Module(Module {
        plugin: include_str!("plugin.js"),
        events: &[
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "SessionStart",
        ],
    }),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Quoted words in the plugin that look like event names, but are not.
    const OTHERS: [&str; 2] = ["ENOENT", "Linchpin"];

    #[test]
    fn the_plugin_calls_for_the_events_that_are_listed() {
        let SettingsForm::Module(module) = &SETTINGS.form else { unreachable!("it is a module") };
        let is_name = |word: &&str| {
            word.starts_with(|char: char| char.is_ascii_uppercase())
                && word.chars().all(|char| char.is_ascii_alphabetic())
        };
        let quoted = module.plugin.split('"').skip(1).step_by(2);
        let mut called: Vec<&str> = quoted.filter(is_name).filter(|word| !OTHERS.contains(word)).collect();
        called.sort_unstable();
        called.dedup();
        let mut listed = module.events.to_vec();
        listed.sort_unstable();
        assert_eq!(called, listed);
    }
}
