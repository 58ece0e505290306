//! Preset loops: `linchpin hats new` copies one into the project.

use std::path::Path;

use super::test_command::test_command;
use crate::files::bounded::{SIZE_LIMIT, read_bounded};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    pub text: &'static str,
}

pub const PRESETS: &[Preset] = &[
    Preset {
        name: "builder-reviewer",
        about: "one hat plans, one builds, one reviews; suits most work",
        text: include_str!("presets/builder-reviewer.yml"),
    },
    Preset {
        name: "spec-driven",
        about: "a specification first, then code that is checked against it",
        text: include_str!("presets/spec-driven.yml"),
    },
    Preset {
        name: "bug-hunt",
        about: "a test that shows the bug, then the cause, then the fix",
        text: include_str!("presets/bug-hunt.yml"),
    },
    Preset {
        name: "docs",
        about: "pages written from the source, then followed by a newcomer",
        text: include_str!("presets/docs.yml"),
    },
];

/// The test command in the presets' texts. It is replaced if the project's files show its test command.
const TEST_COMMAND_PLACEHOLDER: &str = "[make, test]";

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The text of the preset, with the test command of the project at `root` if the project's files show which command
    /// that is.
    pub fn text_for(&self, root: &Path) -> String {
        self.text.replace(TEST_COMMAND_PLACEHOLDER, detect_test_command(root).unwrap_or(TEST_COMMAND_PLACEHOLDER))
    }

    /// True if the preset runs tests, and the project's files do not show which command runs them.
    pub fn needs_test_command(&self, root: &Path) -> bool {
        self.text.contains(TEST_COMMAND_PLACEHOLDER) && detect_test_command(root).is_none()
    }
}

fn detect_test_command(root: &Path) -> Option<&'static str> {
    let has_script = |text: &str| text.contains("\"test\":") && !text.contains("no test specified");
    let file_contains = |file: &str, matches: &dyn Fn(&str) -> bool| {
        read_bounded(&root.join(file), SIZE_LIMIT).is_ok_and(|text| matches(&text))
    };
    test_command(|file| match file.split_once(": ") {
        Some((file, beginning)) => file_contains(file, &|text| text.lines().any(|line| line.starts_with(beginning))),
        None if file == "package.json" => file_contains(file, &has_script),
        None => root.join(file).exists(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`Preset::text_for`] replaces only the exact placeholder.
    #[test]
    fn presets_use_the_same_test_command() {
        for preset in PRESETS.iter().filter(|preset| preset.text.contains("command:")) {
            assert!(preset.text.contains(TEST_COMMAND_PLACEHOLDER), "{}", preset.name);
        }
    }
}
