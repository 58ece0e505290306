//! The hat of the current iteration of a run, with its rules and gates. They are stored in the user's state directory,
//! so that an edit of the loop's file has no effect on the current iteration.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use engine::hats::{Completion, Hat, Loop};
use engine::workflow::{Gate, Requirement, Workflow};
use serde::{Deserialize, Serialize};
use work::RunId;

use crate::Environment;
use crate::project::Project;

/// An iteration of a run, under one hat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HatPhase {
    pub run: u64,
    pub iteration: u32,
    /// The current hat, as a workflow with one node.
    pub workflow: Workflow,
    pub completion: Completion,
    /// Gates that must pass before a task is closed.
    pub close_requires: Vec<Requirement>,
    /// The id of the published topic that the iteration handles. If the iteration is repeated, the next one handles the
    /// same topic, which is not a new activation of the hat.
    #[serde(default, rename = "published")]
    pub topic_id: i64,
    /// The time of the tree snapshot, in milliseconds since 1970. The snapshot is taken before the hat's first agent
    /// for the topic starts. `None` if no gate compares with it, or if it could not be taken.
    #[serde(rename = "baseline")]
    pub snapshot_time: Option<i64>,
    /// A secret that only processes of this iteration know. Other processes cannot act for the iteration.
    #[serde(rename = "ticket")]
    pub secret: String,
    /// The driver's `PATH`. Gates use it instead of the agent's.
    pub path: Option<String>,
    /// The files that gates name, with their digests when the run began (`None` for a missing file). Agents must not
    /// write these files.
    #[serde(default)]
    pub gate_files: BTreeMap<String, Option<String>>,
    /// The path of the database of tasks and runs.
    #[serde(skip)]
    pub(crate) work_path: PathBuf,
}

impl HatPhase {
    /// Environment variable with the run's id, set for the agent's processes.
    pub const RUN: &str = agents::environment::IN_RUN;
    /// Environment variable with the iteration's number.
    pub const ITERATION: &str = "LINCHPIN_ITERATION";
    /// Environment variable with [`Self::secret`].
    pub const SECRET: &str = "LINCHPIN_TICKET";
    /// Environment variable with the project's root, because another project may have a run with the same id.
    pub const ROOT: &str = "LINCHPIN_RUN_ROOT";
    /// Environment variable with the hat's id.
    pub const HAT: &str = "LINCHPIN_HAT";
    /// Environment variable with the path of the `linchpin` binary.
    pub const BINARY: &str = "LINCHPIN_BIN";

    pub fn new(
        the_loop: &Loop,
        hat: &Hat,
        (run, iteration): (RunId, u32),
        topic_id: i64,
        project: &Project,
        environment: &Environment,
    ) -> Self {
        Self {
            run: run.0,
            iteration,
            workflow: the_loop.workflow_for(hat),
            completion: the_loop.completion.clone(),
            close_requires: the_loop.close_requires.clone(),
            topic_id,
            snapshot_time: None,
            secret: format!("{:016x}", RandomState::new().build_hasher().finish()),
            path: environment.get("PATH"),
            gate_files: BTreeMap::new(),
            work_path: project.work_database_path(environment),
        }
    }

    /// True if a gate compares with the tree from before the hat was activated.
    pub fn compares_trees(&self) -> bool {
        let requirements =
            self.workflow.nodes.iter().flat_map(|node| &node.transitions).flat_map(|transition| &transition.requires);
        requirements.chain(&self.close_requires).any(|required| matches!(required.gate, Gate::FileRules(_)))
    }

    /// The name and time of the tree snapshot.
    pub fn tree_snapshot(&self) -> Option<(String, i64)> {
        self.snapshot_time.map(|time| (self.snapshot_name(), time))
    }

    /// The name of the tree snapshots of this run.
    pub(crate) fn snapshot_name(&self) -> String {
        format!("run-{}", self.run)
    }

    /// The hat phase of this process; `None` outside of runs, and in a run of another project.
    pub fn of_process(project: &Project, environment: &Environment) -> Option<Self> {
        let run = Self::run_id_of_process(project, environment)?;
        let mut file = File::open(hat_phase_file(run, &project.root, environment)).ok()?;
        // Only processes of the run get here, so this shows the driver that the run is active.
        touch(&file);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Self::parse(&bytes, project, environment)
    }

    /// The run of this project that this process belongs to, even if its hat phase cannot be read.
    pub(crate) fn run_id_of_process(project: &Project, environment: &Environment) -> Option<RunId> {
        let run = environment.get(Self::RUN)?.parse().ok()?;
        let is_of_other_project = environment.get(Self::ROOT).is_some_and(|root| Path::new(&root) != project.root);
        (!is_of_other_project).then_some(run)
    }

    /// The value of [`runner::STARTED_BY`] for processes of a run. It contains the project's root, because another
    /// project may have a run with the same id.
    pub fn started_by(run: RunId, root: &Path) -> String {
        format!("{run} {}", root.display())
    }

    /// Environment variables for commands of gates. They override those of the caller.
    pub(crate) fn gate_variables(&self, root: &Path) -> Vec<(&'static str, String)> {
        let path = self.path.clone().map(|path| ("PATH", path));
        path.into_iter().chain([(runner::STARTED_BY, Self::started_by(self.run_id(), root))]).collect()
    }

    /// The latest hat phase of a run.
    pub fn of_run(run: RunId, project: &Project, environment: &Environment) -> Option<Self> {
        let bytes = fs::read(hat_phase_file(run, &project.root, environment)).ok()?;
        Self::parse(&bytes, project, environment)
    }

    fn parse(bytes: &[u8], project: &Project, environment: &Environment) -> Option<Self> {
        let hat_phase: Self = serde_json::from_slice(bytes).ok()?;
        Some(Self { work_path: project.work_database_path(environment), ..hat_phase })
    }

    /// Writes this hat phase to its file.
    pub fn save(&self, project: &Project, environment: &Environment) -> io::Result<()> {
        policy::write_private_file(
            &hat_phase_file(self.run_id(), &project.root, environment),
            serde_json::to_vec(self)?,
        )
    }

    pub fn run_id(&self) -> RunId {
        RunId(self.run)
    }

    /// The current hat's id.
    pub fn hat(&self) -> &str {
        &self.workflow.start
    }

    /// The name under which this iteration is recorded as the one that started a task.
    pub fn starter(&self) -> String {
        work::starter_id(&self.run_id().to_string(), self.iteration.into())
    }

    /// The topics that the hat publishes.
    pub fn publishes(&self) -> impl Iterator<Item = &str> {
        self.workflow.nodes.iter().flat_map(|node| &node.transitions).map(|transition| transition.to.as_str())
    }
}

/// Sets the modification time to now. This works for the file's owner even if the file was opened read-only.
pub(super) fn touch(file: &File) {
    let _ = file.set_modified(SystemTime::now());
}

/// The file with the hat phase of a run.
pub(super) fn hat_phase_file(run: RunId, root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("runs").join(format!("{run}.json"))
}
