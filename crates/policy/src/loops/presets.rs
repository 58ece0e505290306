//! Loops in the box, to begin with: `linchpin hats new` writes one down, and from then on it is the project's.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    pub text: &'static str,
}

pub const PRESETS: &[Preset] = &[
    Preset {
        name: "builder-reviewer",
        about: "one plans, one builds, one reviews: for most work",
        text: include_str!("presets/builder-reviewer.yml"),
    },
    Preset {
        name: "spec-driven",
        about: "a specification first, then code that is held against it",
        text: include_str!("presets/spec-driven.yml"),
    },
    Preset {
        name: "bug-hunt",
        about: "a test that shows the bug, then the cause, then the mend",
        text: include_str!("presets/bug-hunt.yml"),
    },
    Preset {
        name: "docs",
        about: "pages written from the source, and read against it",
        text: include_str!("presets/docs.yml"),
    },
];

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }
}
