//! Facts about the project's git repository, read at most once by each policy that judges the event.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use engine::facts::{GitField, Missing};
use serde_json::Value;
use tree::Repository;

use crate::position::PhaseRecord;

pub struct GitFacts {
    root: PathBuf,
    /// `None` if the project is not in a repository.
    repository: OnceLock<Option<Repository>>,
    /// True if anything in the working tree differs from `HEAD`, including untracked files; `None` if this is unknown,
    /// for example because git failed.
    dirty: OnceLock<Option<bool>>,
}

impl GitFacts {
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), repository: OnceLock::new(), dirty: OnceLock::new() }
    }

    fn repository(&self) -> Option<&Repository> {
        self.repository.get_or_init(|| Repository::of(&self.root)).as_ref()
    }

    /// The value of a field of `git` in expressions. `default_branch` is the setting of this name; if it is `None`,
    /// the repository is asked for the default branch.
    pub fn field(&self, field: GitField, default_branch: Option<&String>) -> Result<Value, Missing> {
        let text = |value: Option<String>| value.map_or(Value::Null, Value::String);
        let repository = self.repository();
        Ok(match field {
            GitField::Branch => text(repository.and_then(Repository::branch)),
            GitField::Head => text(repository.and_then(Repository::head)),
            GitField::DefaultBranch => {
                text(default_branch.cloned().or_else(|| repository.and_then(Repository::default_branch)))
            }
            GitField::Dirty => match repository {
                Some(repository) => Value::Bool(self.is_dirty(repository)?),
                None => Value::Null,
            },
        })
    }

    /// The number of commits since a phase began; `None` if it is unknown.
    pub fn commits_since(&self, phase: &PhaseRecord) -> Option<u32> {
        self.repository()?.count_commits_since(phase.started / 1000, phase.head.as_deref())
    }

    fn is_dirty(&self, repository: &Repository) -> Result<bool, Missing> {
        const WHY: &str = "git did not answer in time, or cannot be run safely here";
        self.dirty.get_or_init(|| repository.is_dirty()).ok_or_else(|| Missing::Failed(WHY.to_owned()))
    }
}
