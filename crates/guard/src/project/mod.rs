//! A project: its root, the tiers that apply to it, and where its state lies.

mod new_versions;

use std::io;
use std::path::{Path, PathBuf};

use engine::rules::Tier;
use policy::{Compiled, CompiledWorkflow, Config, Loaded, PolicyFolder, Tiers};

use self::new_versions::NewVersions;
use crate::Environment;
use crate::grants::Trust;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub root: PathBuf,
    pub tiers: Tiers,
}

impl Project {
    /// For people: the nearest ancestor with a policy folder, or what `LINCHPIN_ROOT` says; else where they are.
    pub fn of_person(environment: &Environment) -> Self {
        let root = named_root(environment).or_else(|| nearest_root(&environment.cwd));
        Self::at(root.as_deref().unwrap_or(&environment.cwd), environment)
    }

    /// What guards the sessions of agents here, and where their journal is: the outermost ancestor with a policy folder,
    /// as for the agents themselves.
    pub fn of_sessions(environment: &Environment) -> Self {
        let root = named_root(environment).or_else(|| outermost_root(&environment.cwd));
        Self::at(root.as_deref().unwrap_or(&environment.cwd), environment)
    }

    pub fn at(root: &Path, environment: &Environment) -> Self {
        let project = PolicyFolder::of_project(root);
        let user = PolicyFolder::of_user(&environment.config);
        let tiers = Tiers { project: project.has_policy().then_some(project), user: user.has_policy().then_some(user) };
        Self { root: root.to_owned(), tiers }
    }

    /// A folder below the root that has a policy of its own: the user's own tier speaks once, at the root.
    pub(crate) fn nested(root: &Path) -> Self {
        let tiers = Tiers { project: Some(PolicyFolder::of_project(root)), user: None };
        Self { root: root.to_owned(), tiers }
    }

    /// The policies of folders between the root and one in it, from the outside in. They add to the root's.
    pub fn nested_above(&self, folder: &Path) -> Vec<Self> {
        let between = folder.ancestors().take_while(|above| *above != self.root && above.starts_with(&self.root));
        let mut nested: Vec<Self> =
            between.filter(|above| PolicyFolder::of_project(above).has_policy()).map(Self::nested).collect();
        nested.reverse();
        nested
    }

    /// Whether there is anything to judge by.
    pub fn has_policy(&self) -> bool {
        self.tiers.project.is_some() || self.tiers.user.is_some()
    }

    /// Beside the policy, or, for a project without one, in the user's own folder.
    pub fn store(&self, environment: &Environment) -> PathBuf {
        match &self.tiers.project {
            Some(folder) if folder.has_policy() && has_room_for_journal(&folder.path) => folder.path.join("state.db"),
            _ => environment.project_state(&self.root).join("state.db"),
        }
    }

    /// The tasks, memories and runs of its loop, in the user's own folder: nothing of a repository is believed of them.
    pub fn work(&self, environment: &Environment) -> PathBuf {
        environment.project_state(&self.root).join("work.db")
    }

    /// What may be deleted at any time: the queue of file rules, and how trees were. In the user's own folder where the
    /// project's cannot be used: a repository does not switch off the user's file rules by what it has there.
    pub fn tmp(&self, environment: &Environment) -> PathBuf {
        let own = self.own_tmp().filter(|tmp| is_usable(tmp));
        own.unwrap_or_else(|| environment.project_state(&self.root).join("tmp"))
    }

    /// The project's own folder for these, where it cannot be used.
    pub fn unusable_tmp(&self) -> Option<PathBuf> {
        self.own_tmp().filter(|tmp| !is_usable(tmp))
    }

    fn own_tmp(&self) -> Option<PathBuf> {
        self.tiers.project.as_ref().map(|folder| folder.path.join("tmp"))
    }

    /// For when it turns out that it cannot be read: the next event then reads the files.
    pub fn forget_compiled(&self, environment: &Environment) {
        let _ = std::fs::remove_file(self.cache(environment));
    }

    pub fn cache(&self, environment: &Environment) -> PathBuf {
        environment.project_state(&self.root).join("policy")
    }

    /// The policy to judge by. The texts that were read for it wait for the journal; those that cannot are in it.
    pub fn compiled(&self, environment: &Environment) -> Compiled {
        let trust = Trust::of(&self.root, environment);
        let mut policy = policy::compiled(&self.tiers, &self.cache(environment), |weakening| trust.accepts(weakening));
        if self.new_versions(environment).put_down(&policy.read).is_ok() {
            policy.read.clear();
        }
        policy
    }

    /// Of its rules.
    pub(crate) fn new_versions(&self, environment: &Environment) -> NewVersions {
        NewVersions::of(&self.root, environment)
    }

    /// The workflow of a name, to judge by. `tier`: the one that has it; else the nearest. `is_kept`: the compiled form is written
    /// down for the next event.
    pub fn workflow(
        &self,
        name: &str,
        tier: Option<Tier>,
        policy: &Compiled,
        is_kept: bool,
        environment: &Environment,
    ) -> Option<CompiledWorkflow> {
        let cache = environment.project_state(&self.root).join("workflow");
        policy::compiled_workflow(name, tier, &self.tiers, policy, &cache, is_kept, || self.load(environment))
    }

    /// Whether there was a journal before; there is one now.
    pub fn had_journal(&self, environment: &Environment) -> bool {
        let memory = environment.project_state(&self.root).join("had-journal");
        let had_one = memory.exists();
        if !had_one {
            // Where it cannot be remembered, the next new journal is no news either.
            let _ = policy::write_private_file(&memory, "");
        }
        had_one
    }

    /// The policy, for those who only look.
    pub fn looked_at(&self, environment: &Environment) -> Compiled {
        let trust = Trust::of(&self.root, environment);
        policy::looked_at(&self.tiers, &self.cache(environment), |weakening| trust.accepts(weakening))
    }

    /// All that the policy's files say now, with the last good versions of those that are broken.
    pub fn load(&self, environment: &Environment) -> Loaded {
        let trust = Trust::of(&self.root, environment);
        policy::load(&self.tiers, &policy::before(&self.cache(environment)), |weakening| trust.accepts(weakening))
    }
}

/// How long to wait for other processes at the journal: a part of the deadline, so that there is time to answer.
const STORE_PATIENCE: f64 = 0.5;

/// How a judgement opens the journal. `run`: the run of a loop that it belongs to.
pub(crate) fn store_options(config: &Config, now: i64, run: Option<u64>) -> store::StoreOptions {
    store::StoreOptions { busy: config.deadline.mul_f64(STORE_PATIENCE), now, run }
}

/// Whether a journal can lie in a policy's folder. What a repository may have in its place (a folder, a pipe, a symlink) would
/// switch off the rules that need one, or have us write where somebody else says.
fn has_room_for_journal(folder: &Path) -> bool {
    ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"]
        .iter()
        .all(|name| is_file_or_missing(&folder.join(name)))
}

/// A symlink is neither.
fn is_file_or_missing(path: &Path) -> bool {
    path.symlink_metadata().map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |metadata| metadata.is_file())
}

/// Whether files can be put into a project's folder and those in it, as far as they are there. A symlink would have us write
/// where somebody else says.
fn is_usable(tmp: &Path) -> bool {
    let parts = ["rules", "rules/queue", "rules/demands", "rules/baselines", "rules/locks"].map(|part| tmp.join(part));
    let is_fine = |folder: &Path| match folder.symlink_metadata() {
        Ok(metadata) => metadata.is_dir() && is_writable(folder),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let has_name = is_file_or_missing(&tmp.join("rules/name"));
    has_name
        && is_fine(tmp)
        && parts.iter().all(|part| is_fine(part))
        && (tmp.exists() || tmp.parent().is_some_and(is_writable))
}

/// Whether files can be put into a folder, which is made where it is missing.
pub fn can_be_written(folder: &Path) -> bool {
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

/// By its real place, because what is kept for a project is found by that.
fn named_root(environment: &Environment) -> Option<PathBuf> {
    let named = environment.get("LINCHPIN_ROOT").map(PathBuf::from).filter(|root| root.is_absolute())?;
    Some(named.canonicalize().unwrap_or(named))
}

/// The outermost folder, from `start` upwards, that has a policy: one farther in adds to it and takes nothing away.
pub fn outermost_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().filter(|folder| PolicyFolder::of_project(folder).has_policy()).last().map(Path::to_owned)
}

/// The nearest folder, from `start` upwards, that has a policy folder.
pub fn nearest_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| PolicyFolder::of_project(folder).has_policy()).map(Path::to_owned)
}
