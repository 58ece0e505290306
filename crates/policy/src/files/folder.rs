//! Policy folders, and the locations of the files in them.

use std::fs;
use std::path::{Path, PathBuf};

use engine::rules::Tier;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

/// A directory with `config.yml`, `rules/` and `workflows/`: a project's `.linchpin`, or the directory of the user's
/// own policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFolder {
    pub tier: Tier,
    pub path: PathBuf,
    /// Relative paths in policy files and messages start here: the project's root, or the directory of the user's
    /// policy.
    pub base: PathBuf,
}

impl PolicyFolder {
    pub const NAME: &str = ".linchpin";

    pub fn of_project(root: &Path) -> Self {
        Self { tier: Tier::Project, path: root.join(Self::NAME), base: root.to_owned() }
    }

    /// `path` is Linchpin's directory in the user's configuration directory.
    pub fn of_user(path: &Path) -> Self {
        Self { tier: Tier::User, path: path.to_owned(), base: path.to_owned() }
    }

    /// True if the directory has any policy file. It can exist without one, because it also contains the journal.
    pub fn has_policy(&self) -> bool {
        // A dangling symlink counts: loading must fail rather than ignore the rules.
        let has_rules = || self.rules().symlink_metadata().is_ok_and(|rules| rules.is_dir() || rules.is_symlink());
        // Of the user, an empty directory does not count: it is left when the only rule is deleted.
        let has_rules = || has_rules() && (self.tier != Tier::User || !is_empty_directory(&self.rules()));
        self.config().exists() || has_rules() || self.workflows().is_dir() || self.loop_file().exists()
    }

    pub fn config(&self) -> PathBuf {
        self.path.join("config.yml")
    }

    /// The default directory of rules; `rules_dir` in the configuration can name another.
    pub fn rules(&self) -> PathBuf {
        self.path.join("rules")
    }

    pub fn loop_file(&self) -> PathBuf {
        self.path.join("loop.yml")
    }

    pub fn workflows(&self) -> PathBuf {
        self.path.join("workflows")
    }

    /// The directory of guides: texts that prompts of workflows include.
    pub fn guides(&self) -> PathBuf {
        self.path.join("guides")
    }

    /// Errors for `config.yaml` and `loop.yaml`: only the extension `.yml` is read.
    pub fn misnamed_file_errors(&self) -> Vec<Diagnostic> {
        let files = [self.config(), self.loop_file()];
        let misnamed_files = files
            .iter()
            .map(|file| (file, file.with_extension("yaml")))
            .filter(|(_, misnamed_file)| misnamed_file.is_file());
        let problem = |(file, misnamed_file): (&PathBuf, PathBuf)| {
            let (expected_name, actual_name) = (self.display_name(file), self.display_name(&misnamed_file));
            let message = format!("`{actual_name}` is ignored, because the file must be named `{expected_name}`");
            let help = if file.exists() {
                "delete it, or rename it".to_owned()
            } else {
                format!("`mv {actual_name} {expected_name}`")
            };
            Diagnostic::error(DiagnosticKind::InvalidValue, message, &Source::new(actual_name, ""), None).help(help)
        };
        misnamed_files.map(problem).collect()
    }

    /// The name of a file in messages: for a project's file, the path relative to the project; otherwise the whole
    /// path.
    pub fn display_name(&self, file: &Path) -> String {
        let path = match self.tier {
            Tier::Project => file.strip_prefix(&self.base).unwrap_or(file),
            Tier::Local | Tier::User | Tier::Bundled => file,
        };
        // Control characters in a name could be escape sequences for the terminal.
        path.display().to_string().replace(char::is_control, "?")
    }
}

/// False if the directory cannot be read.
fn is_empty_directory(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// The policy folders that apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyFolders {
    pub project: Option<PolicyFolder>,
    pub user: Option<PolicyFolder>,
}

impl PolicyFolders {
    /// From the earliest to the latest tier.
    pub fn folders(&self) -> impl Iterator<Item = &PolicyFolder> {
        self.user.iter().chain(&self.project)
    }
}
