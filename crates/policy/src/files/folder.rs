//! Where policy files lie.

use std::path::{Path, PathBuf};

use engine::rules::Tier;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

/// A folder with `config.yml`, `rules/` and `workflows/`: a project's `.linchpin`, or the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFolder {
    pub tier: Tier,
    pub path: PathBuf,
    /// What relative paths in it and in messages start from: the project's root, or the folder itself.
    pub base: PathBuf,
}

impl PolicyFolder {
    pub const NAME: &str = ".linchpin";

    pub fn of_project(root: &Path) -> Self {
        Self { tier: Tier::Project, path: root.join(Self::NAME), base: root.to_owned() }
    }

    /// `path` is the user's own configuration folder of Linchpin.
    pub fn of_user(path: &Path) -> Self {
        Self { tier: Tier::User, path: path.to_owned(), base: path.to_owned() }
    }

    /// Whether there is a policy in it. The folder alone is none: a journal may lie there without one.
    pub fn has_policy(&self) -> bool {
        // A link that leads nowhere is meant for one.
        let has_rules = || self.rules().symlink_metadata().is_ok_and(|rules| rules.is_dir() || rules.is_symlink());
        self.config().exists() || has_rules() || self.workflows().is_dir() || self.loop_file().exists()
    }

    pub fn config(&self) -> PathBuf {
        self.path.join("config.yml")
    }

    /// Unless the configuration names another.
    pub fn rules(&self) -> PathBuf {
        self.path.join("rules")
    }

    pub fn loop_file(&self) -> PathBuf {
        self.path.join("loop.yml")
    }

    pub fn workflows(&self) -> PathBuf {
        self.path.join("workflows")
    }

    /// The texts that prompts of workflows put into themselves.
    pub fn guides(&self) -> PathBuf {
        self.path.join("guides")
    }

    /// Files that are meant to be read and are not, because of how their names end.
    pub fn misnamed(&self) -> Vec<Diagnostic> {
        let files = [self.config(), self.loop_file()];
        let twins = files.iter().map(|file| (file, file.with_extension("yaml"))).filter(|(_, twin)| twin.is_file());
        let problem = |(file, twin): (&PathBuf, PathBuf)| {
            let (meant, found) = (self.shown(file), self.shown(&twin));
            let message = format!("`{found}` is not read: the file is called `{meant}`");
            let help =
                if file.exists() { "delete it, or rename it".to_owned() } else { format!("`mv {found} {meant}`") };
            Diagnostic::error(ErrorKind::InvalidValue, message, &Source::new(found, ""), None).help(help)
        };
        twins.map(problem).collect()
    }

    /// A file's name in messages: relative to the project, or whole.
    pub fn shown(&self, file: &Path) -> String {
        let shown = match self.tier {
            Tier::Project => file.strip_prefix(&self.base).unwrap_or(file),
            Tier::Local | Tier::User | Tier::Bundled => file,
        };
        // A name may hold what a terminal would obey.
        shown.display().to_string().replace(char::is_control, "?")
    }
}

/// The folders whose policies apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tiers {
    pub project: Option<PolicyFolder>,
    pub user: Option<PolicyFolder>,
}

impl Tiers {
    /// Farthest first.
    pub fn folders(&self) -> impl Iterator<Item = &PolicyFolder> {
        self.user.iter().chain(&self.project)
    }
}
