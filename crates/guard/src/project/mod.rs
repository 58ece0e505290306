//! A project: its root, the tiers that apply to it, and the paths of its state.

mod tmp_layout;
mod unrecorded_versions;

use std::io;
use std::path::{Path, PathBuf};

use engine::rules::Tier;
use policy::{CompiledPolicy, CompiledWorkflow, Config, LoadedPolicy, PolicyFolder, Tiers};

pub use self::tmp_layout::TmpLayout;
use self::unrecorded_versions::UnrecordedVersions;
use crate::Environment;
use crate::grants::Trust;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub root: PathBuf,
    pub tiers: Tiers,
}

impl Project {
    /// The project for commands that people run: `LINCHPIN_ROOT`; if it is not set, the nearest ancestor with a policy;
    /// if there is none, the working directory.
    pub fn of_person(environment: &Environment) -> Self {
        let root = root_from_environment(environment).or_else(|| nearest_root(&environment.cwd));
        Self::at(root.as_deref().unwrap_or(&environment.cwd), environment)
    }

    /// The project to which sessions of agents in this directory belong, and which has their journal: `LINCHPIN_ROOT`;
    /// if it is not set, the outermost ancestor with a policy.
    pub fn of_sessions(environment: &Environment) -> Self {
        let root = root_from_environment(environment).or_else(|| outermost_root(&environment.cwd));
        Self::at(root.as_deref().unwrap_or(&environment.cwd), environment)
    }

    pub fn at(root: &Path, environment: &Environment) -> Self {
        let project = PolicyFolder::of_project(root);
        let user = PolicyFolder::of_user(&environment.config);
        let tiers = Tiers { project: project.has_policy().then_some(project), user: user.has_policy().then_some(user) };
        Self { root: root.to_owned(), tiers }
    }

    /// A directory below the root with a policy of its own. The user tier is left out, because it already applies at
    /// the root.
    pub(crate) fn nested(root: &Path) -> Self {
        let tiers = Tiers { project: Some(PolicyFolder::of_project(root)), user: None };
        Self { root: root.to_owned(), tiers }
    }

    /// Policies of directories from the root down to `folder`, outermost first. They add rules to the root's.
    pub fn nested_above(&self, folder: &Path) -> Vec<Self> {
        let between = folder.ancestors().take_while(|above| *above != self.root && above.starts_with(&self.root));
        let mut nested: Vec<Self> =
            between.filter(|above| PolicyFolder::of_project(above).has_policy()).map(Self::nested).collect();
        nested.reverse();
        nested
    }

    pub fn has_policy(&self) -> bool {
        self.tiers.project.is_some() || self.tiers.user.is_some()
    }

    /// The path of the journal: beside the policy or, if the project has no policy, in the user's state directory.
    pub fn journal_path(&self, environment: &Environment) -> PathBuf {
        match &self.tiers.project {
            Some(folder) if folder.has_policy() && can_hold_journal(&folder.path) => folder.path.join("state.db"),
            _ => environment.project_state(&self.root).join("state.db"),
        }
    }

    /// The path of the database of tasks, memories and runs. It is in the user's state directory, so that a repository
    /// cannot bring its own.
    pub fn work_database_path(&self, environment: &Environment) -> PathBuf {
        environment.project_state(&self.root).join("work.db")
    }

    /// The directory for files that may be deleted at any time: the queue of file rules, and tree snapshots. If the
    /// project's own directory cannot be used, it is in the user's state directory: a repository must not be able to
    /// turn off the user's file rules.
    pub fn tmp(&self, environment: &Environment) -> PathBuf {
        let tmp_of_policy = self.tmp_of_policy().filter(|tmp| is_usable(tmp));
        tmp_of_policy.unwrap_or_else(|| environment.project_state(&self.root).join("tmp"))
    }

    /// The project's own `tmp` directory, if it exists but cannot be used.
    pub fn unusable_tmp(&self) -> Option<PathBuf> {
        self.tmp_of_policy().filter(|tmp| !is_usable(tmp))
    }

    fn tmp_of_policy(&self) -> Option<PathBuf> {
        self.tiers.project.as_ref().map(|folder| folder.path.join("tmp"))
    }

    /// Deletes the compiled policy. Called if it could not be read; the next event compiles the policy again.
    pub fn delete_compiled(&self, environment: &Environment) {
        let _ = std::fs::remove_file(self.cache_path(environment));
    }

    /// The file of the compiled policy.
    pub fn cache_path(&self, environment: &Environment) -> PathBuf {
        environment.project_state(&self.root).join("policy")
    }

    /// The policy to judge by, compiled if the cache is stale. Texts of newly compiled rules are queued for the journal; if that fails, they stay in
    /// `definitions_read`.
    pub fn compile(&self, environment: &Environment) -> CompiledPolicy {
        let trust = Trust::of(&self.root, environment);
        let mut policy =
            policy::compiled_policy(&self.tiers, &self.cache_path(environment), |text| trust.accepts(text));
        if self.unrecorded_versions(environment).queue(&policy.definitions_read).is_ok() {
            policy.definitions_read.clear();
        }
        policy
    }

    /// The policy for judging. Unlike [`Self::compile`], does not write the cache.
    pub fn compile_read_only(&self, environment: &Environment) -> CompiledPolicy {
        let trust = Trust::of(&self.root, environment);
        policy::compiled_policy_read_only(&self.tiers, &self.cache_path(environment), |text| trust.accepts(text))
    }

    /// The versions of the project's rules that are not in the journal yet.
    pub(crate) fn unrecorded_versions(&self, environment: &Environment) -> UnrecordedVersions {
        UnrecordedVersions::of(&self.root, environment)
    }

    /// The workflow with this name, in compiled form. `tier` selects its tier; if it is `None`, the latest tier wins.
    /// If `is_cached` is true, the compiled form is cached for the next event.
    pub fn workflow(
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

    /// Records that the project has a journal. Returns true if it had one before.
    pub fn record_journal(&self, environment: &Environment) -> bool {
        let mark = environment.project_state(&self.root).join("had-journal");
        let had_journal = mark.exists();
        if !had_journal {
            // If this fails, the next new journal causes no notice either.
            let _ = policy::write_private_file(&mark, "");
        }
        had_journal
    }

    /// The policy as its files are now. In place of a broken file, it has the file's last good version.
    pub fn load(&self, environment: &Environment) -> LoadedPolicy {
        let trust = Trust::of(&self.root, environment);
        policy::load(&self.tiers, &policy::last_good_policy(&self.cache_path(environment)), |text| trust.accepts(text))
    }
}

/// How long to wait for a locked journal, as a fraction of the deadline, so that there is time left to answer.
const LOCK_TIMEOUT_FRACTION: f64 = 0.5;

/// The options for opening the journal. `run` is the run of a loop that the event belongs to.
pub(crate) fn store_options(config: &Config, now: i64, run: Option<u64>) -> store::StoreOptions {
    store::StoreOptions { busy_timeout: config.deadline.mul_f64(LOCK_TIMEOUT_FRACTION), now, run }
}

/// True if the journal can be stored in a policy's directory. A repository may contain a directory, a pipe or a symlink
/// at the journal's path. This would turn off the rules that need the journal, or make Linchpin write to a path that
/// the repository chose.
fn can_hold_journal(folder: &Path) -> bool {
    ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"]
        .iter()
        .all(|name| is_file_or_missing(&folder.join(name)))
}

/// False for a symlink.
fn is_file_or_missing(path: &Path) -> bool {
    path.symlink_metadata().map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |metadata| metadata.is_file())
}

/// True if Linchpin can create files in a project's `tmp` directory and its subdirectories. Symlinks are refused: they
/// would make Linchpin write to a path that the repository chose.
fn is_usable(tmp: &Path) -> bool {
    let layout = TmpLayout::of(tmp);
    let is_usable_folder = |folder: &Path| match folder.symlink_metadata() {
        Ok(metadata) => metadata.is_dir() && is_writable(folder),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    is_file_or_missing(&layout.name_file())
        && is_usable_folder(tmp)
        && layout.folders().iter().all(|folder| is_usable_folder(folder))
        && (tmp.exists() || tmp.parent().is_some_and(is_writable))
}

/// True if files can be created in a directory, which may not exist yet.
pub fn can_create_files(folder: &Path) -> bool {
    folder.ancestors().find(|folder| folder.exists()).is_some_and(|folder| folder.is_dir() && is_writable(folder))
}

#[cfg(unix)]
fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn is_writable(_: &Path) -> bool {
    true
}

/// `LINCHPIN_ROOT` with symlinks resolved, because a project's state is found by its real path.
fn root_from_environment(environment: &Environment) -> Option<PathBuf> {
    let root = environment.get("LINCHPIN_ROOT").map(PathBuf::from).filter(|root| root.is_absolute())?;
    Some(root.canonicalize().unwrap_or(root))
}

/// The outermost directory with a policy among `start` and its ancestors. Policies of directories below it only add
/// rules.
pub fn outermost_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().filter(|folder| PolicyFolder::of_project(folder).has_policy()).last().map(Path::to_owned)
}

/// The nearest directory with a policy, from `start` upwards.
pub fn nearest_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| PolicyFolder::of_project(folder).has_policy()).map(Path::to_owned)
}
