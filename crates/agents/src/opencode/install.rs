//! The plugin module that is shipped within the binary.

use crate::install::{Form, Module, Moved, Settings};

pub(super) const SETTINGS: Settings = Settings {
    project_signs: &[".opencode"],
    home_signs: &[],
    project_file: ".opencode/plugins/linchpin.js",
    local_file: None,
    user_folder: ".config/opencode",
    moved_by: Some(Moved { variable: "XDG_CONFIG_HOME", below: "opencode" }),
    user_file: "plugins/linchpin.js",
    accepting: None,
    afterwards: Some("it loads plugins when it starts: start it again"),
    reads: &[],
    switch_files: &[],
    form: Form::Module(Module {
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

    /// Words in quotes that are written as events are, and are none.
    const OTHERS: [&str; 2] = ["ENOENT", "Linchpin"];

    #[test]
    fn the_plugin_calls_for_the_events_that_are_listed() {
        let Form::Module(module) = &SETTINGS.form else { unreachable!("it is a module") };
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
