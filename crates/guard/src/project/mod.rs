//! A project: its root, the tiers that apply to it, and the paths of its state.

mod tmp_layout;
mod unrecorded_versions;

use std::io;
use std::path::{Path, PathBuf};

use engine::rules::Tier;
use policy::{CompiledPolicy, CompiledWorkflow, Config, LoadedPolicy, PolicyFolder, PolicyFolders};

pub use self::tmp_layout::TmpLayout;
use self::unrecorded_versions::UnrecordedVersions;
use crate::Environment;
use crate::grants::Trust;

/// A directory with the policy that applies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub root: PathBuf,
    pub tiers: PolicyFolders,
}

impl Project {
    /// The project for commands with which a person looks at a policy or edits it. Its root is `LINCHPIN_ROOT`; if that
    /// is not set to an absolute path, the nearest directory with a policy, from the working directory upwards; if
    /// there is none, the working directory.
    pub fn of_person(environment: &Environment) -> Self {
        let root = root_from_environment(environment).or_else(|| nearest_root(&environment.cwd));
        Self::at(root.as_deref().unwrap_or(&environment.cwd), environment)
    }

    /// The project for commands with which people and agents use the journal, the workflow and the tasks. Its root is
    /// `LINCHPIN_ROOT`; if that is not set to an absolute path, the outermost directory with a policy among the working
    /// directory and its ancestors; if there is none, the working directory.
    pub fn of_sessions(environment: &Environment) -> Self {
        let root = root_from_environment(environment).or_else(|| outermost_root(&environment.cwd));
        Self::at(root.as_deref().unwrap_or(&environment.cwd), environment)
    }

    /// The project with this root.
    pub fn at(root: &Path, environment: &Environment) -> Self {
        let project = PolicyFolder::of_project(root);
        let user = PolicyFolder::of_user(&environment.config);
        let tiers =
            PolicyFolders { project: project.has_policy().then_some(project), user: user.has_policy().then_some(user) };
        Self { root: root.to_owned(), tiers }
    }

    /// The project for a directory below another project's root, with a policy of its own. The user tier is left out,
    /// because it already applies at the root of the other project.
    pub(crate) fn nested(root: &Path) -> Self {
        let tiers = PolicyFolders { project: Some(PolicyFolder::of_project(root)), user: None };
        Self { root: root.to_owned(), tiers }
    }

    /// The directories with a policy between the root (not included) and `directory` (included), outermost first. The
    /// policies of these directories add rules to those of the project.
    pub fn nested_above(&self, directory: &Path) -> Vec<Self> {
        let between = directory.ancestors().take_while(|above| *above != self.root && above.starts_with(&self.root));
        let mut nested: Vec<Self> =
            between.filter(|above| PolicyFolder::of_project(above).has_policy()).map(Self::nested).collect();
        nested.reverse();
        nested
    }

    pub fn has_policy(&self) -> bool {
        self.tiers.project.is_some() || self.tiers.user.is_some()
    }

    /// The path of the journal: in the directory of the project's policy or, if the project has no policy or this
    /// directory cannot hold the journal, in the user's state directory.
    pub fn journal_path(&self, environment: &Environment) -> PathBuf {
        match &self.tiers.project {
            Some(directory)
                if directory.has_policy() && !self.policy_leads_out() && can_hold_journal(&directory.path) =>
            {
                directory.path.join("state.db")
            }
            _ => environment.project_state(&self.root).join("state.db"),
        }
    }

    /// True if the directory of the project's policy is a symlink out of the project. A repository must not choose a
    /// directory of the user to which Linchpin writes.
    fn policy_leads_out(&self) -> bool {
        let directory = self.tiers.project.as_ref().map(|directory| directory.path.as_path());
        let symlink = directory.filter(|directory| directory.is_symlink());
        symlink.is_some_and(|symlink| match (symlink.canonicalize(), self.root.canonicalize()) {
            (Ok(target), Ok(root)) => !target.starts_with(root),
            _ => true,
        })
    }

    /// The path of the database of tasks, memories and runs. The database is in the user's state directory, so that a
    /// repository cannot contain a database of its own.
    pub fn work_database_path(&self, environment: &Environment) -> PathBuf {
        environment.project_state(&self.root).join("work.db")
    }

    /// The directory for files that may be deleted at any time: the queue of file rules, and tree snapshots. If the
    /// project has no policy or its own `tmp` directory cannot be used, this is a directory in the user's state
    /// directory, because a repository must not be able to turn off the user's file rules.
    pub fn tmp(&self, environment: &Environment) -> PathBuf {
        let tmp_of_policy = self.tmp_of_policy().filter(|tmp| is_usable(tmp));
        tmp_of_policy.unwrap_or_else(|| environment.project_state(&self.root).join("tmp"))
    }

    /// The path of the project's own `tmp` directory, if that path cannot be used; `None` if it can, or if the project
    /// has no policy.
    pub fn unusable_tmp(&self) -> Option<PathBuf> {
        self.tmp_of_policy().filter(|tmp| !is_usable(tmp))
    }

    fn tmp_of_policy(&self) -> Option<PathBuf> {
        let directory = self.tiers.project.as_ref().filter(|_| !self.policy_leads_out());
        directory.map(|directory| directory.path.join("tmp"))
    }

    /// Deletes the cached policy, because it could not be read. The next event compiles the policy again.
    pub fn delete_compiled_policy(&self, environment: &Environment) {
        let _ = std::fs::remove_file(self.cache_path(environment));
    }

    /// The file that caches the compiled policy.
    pub fn cache_path(&self, environment: &Environment) -> PathBuf {
        environment.project_state(&self.root).join("policy")
    }

    /// The compiled policy, from the cache. If the cache is stale, the policy is compiled, and the texts of its rules
    /// are queued for the journal. If these texts cannot be queued, they stay in the policy's `definitions_read`.
    pub fn compiled_policy(&self, environment: &Environment) -> CompiledPolicy {
        let trust = Trust::of(&self.root, environment);
        let mut policy =
            policy::compiled_policy(&self.tiers, &self.cache_path(environment), |text| trust.accepts(text));
        if self.unrecorded_versions(environment).queue(&policy.definitions_read).is_ok() {
            policy.definitions_read.clear();
        }
        policy
    }

    /// Like [`Self::compiled_policy`], but writes nothing.
    pub fn compiled_policy_read_only(&self, environment: &Environment) -> CompiledPolicy {
        let trust = Trust::of(&self.root, environment);
        policy::compiled_policy_read_only(&self.tiers, &self.cache_path(environment), |text| trust.accepts(text))
    }

    /// The queue of versions of the project's rules that are not in the journal yet.
    pub(crate) fn unrecorded_versions(&self, environment: &Environment) -> UnrecordedVersions {
        UnrecordedVersions::of(&self.root, environment)
    }

    /// The workflow with this name, in compiled form. If `tier` is `None`, the workflow of the latest tier that has one
    /// of this name is returned. Returns `None` if there is no such workflow, or if its file never was valid. If
    /// `is_cached` is true, the compiled form is cached for the next event.
    pub fn compiled_workflow(
        &self,
        name: &str,
        tier: Option<Tier>,
        policy: &CompiledPolicy,
        is_cached: bool,
        environment: &Environment,
    ) -> Option<CompiledWorkflow> {
        let cache_path = environment.project_state(&self.root).join("workflow");
        policy::compiled_workflow(name, tier, &self.tiers, policy, &cache_path, is_cached, || self.load(environment))
    }

    /// Stores that the project has had a journal. Returns true if this was already stored.
    pub fn mark_has_journal(&self, environment: &Environment) -> bool {
        let mark = environment.project_state(&self.root).join("had-journal");
        let was_marked = mark.exists();
        if !was_marked {
            // If the file cannot be written, the project counts as one that never had a journal.
            let _ = policy::write_private_file(&mark, "");
        }
        was_marked
    }

    /// The policy as its files are now. In place of a broken file, its last good version is used.
    pub fn load(&self, environment: &Environment) -> LoadedPolicy {
        let trust = Trust::of(&self.root, environment);
        policy::load(&self.tiers, &policy::last_good_policy(&self.cache_path(environment)), |text| trust.accepts(text))
    }
}

/// The time to wait for a locked journal, as a fraction of the deadline. The rest of the time is needed to judge the
/// event and to answer.
const LOCK_TIMEOUT_FRACTION: f64 = 0.5;

/// The options for opening the journal. `run` is the run of a loop that the event belongs to.
pub(crate) fn store_options(config: &Config, now: i64, run: Option<u64>) -> store::StoreOptions {
    store::StoreOptions { busy_timeout: config.deadline.mul_f64(LOCK_TIMEOUT_FRACTION), now, run }
}

/// True if the journal can be stored in a policy's directory. False if the repository contains a directory, a pipe or a
/// symlink at the path of one of the journal's files: this would turn off the rules that need the journal, or make
/// Linchpin write to a path that the repository chose.
fn can_hold_journal(directory: &Path) -> bool {
    ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"]
        .iter()
        .all(|name| is_file_or_missing(&directory.join(name)))
}

/// True for a regular file, and for a path that does not exist. False for a symlink.
fn is_file_or_missing(path: &Path) -> bool {
    path.symlink_metadata().map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |metadata| metadata.is_file())
}

/// True if Linchpin can create files in a project's `tmp` directory and its subdirectories. These directories need not
/// exist yet. False if one of these directories is a symlink, because Linchpin would then write to a path that the
/// repository chose.
fn is_usable(tmp: &Path) -> bool {
    let layout = TmpLayout::of(tmp);
    let is_usable_directory = |directory: &Path| match directory.symlink_metadata() {
        Ok(metadata) => metadata.is_dir() && is_writable(directory),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    is_file_or_missing(&layout.name_file())
        && is_usable_directory(tmp)
        && layout.directories().iter().all(|directory| is_usable_directory(directory))
        && (tmp.exists() || tmp.parent().is_some_and(is_writable))
}

/// True if files can be created in a directory. The directory need not exist yet.
pub fn can_create_files(directory: &Path) -> bool {
    directory
        .ancestors()
        .find(|directory| directory.exists())
        .is_some_and(|directory| directory.is_dir() && is_writable(directory))
}

#[cfg(unix)]
fn is_writable(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    true
}

/// The path in `LINCHPIN_ROOT`; `None` if the variable is not set to an absolute path. Symlinks in the path are
/// resolved, because a project's state is stored under the real path of its root.
fn root_from_environment(environment: &Environment) -> Option<PathBuf> {
    let root = environment.get("LINCHPIN_ROOT").map(PathBuf::from).filter(|root| root.is_absolute())?;
    Some(root.canonicalize().unwrap_or(root))
}

/// The outermost directory with a policy among `start` and its ancestors. Policies of directories below this root only
/// add rules to its policy.
pub fn outermost_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().filter(|directory| PolicyFolder::of_project(directory).has_policy()).last().map(Path::to_owned)
}

/// The nearest directory with a policy, from `start` upwards.
pub fn nearest_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|directory| PolicyFolder::of_project(directory).has_policy()).map(Path::to_owned)
}
