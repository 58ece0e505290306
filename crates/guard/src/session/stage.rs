//! What is in force in the iteration that lasts now: kept in the user's own folder, so that a loop's file can be edited
//! meanwhile without changing what its agents are held to.

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

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stage {
    pub run: u64,
    pub iteration: u32,
    /// The hat that is on, as a workflow with one node.
    pub workflow: Workflow,
    pub completion: Completion,
    /// What has to hold before a task is closed.
    pub close_requires: Vec<Requirement>,
    /// The number of the published topic that the iteration handles: a restart handles the same one, and is no new activation.
    #[serde(default)]
    pub published: i64,
    /// When the tree was kept as it was before the hat's first agent for that topic started, in milliseconds since 1970; none where nobody compares
    /// with it.
    pub baseline: Option<i64>,
    /// What only the processes of this iteration are told: others do not speak for it.
    pub ticket: String,
    /// Where whoever drives the run finds programs: gates find theirs there, whatever an agent says.
    pub path: Option<String>,
    /// Files that gates name, each with its digest when the run began, if it was there: agents do not write them.
    #[serde(default)]
    pub gate_files: BTreeMap<String, Option<String>>,
    /// Where the work is kept.
    #[serde(skip)]
    pub(crate) work: PathBuf,
}

impl Stage {
    /// Tells an agent's commands and hooks the run that they belong to.
    pub const RUN: &str = agents::environment::IN_RUN;
    /// And the iteration.
    pub const ITERATION: &str = "LINCHPIN_ITERATION";
    /// And what shows that it is this iteration that speaks.
    pub const TICKET: &str = "LINCHPIN_TICKET";
    /// And the project: another one may have a run of the same number.
    pub const ROOT: &str = "LINCHPIN_RUN_ROOT";
    /// And the hat's id.
    pub const HAT: &str = "LINCHPIN_HAT";
    /// And the binary.
    pub const BINARY: &str = "LINCHPIN_BIN";

    pub fn new(
        the_loop: &Loop,
        hat: &Hat,
        (run, iteration): (RunId, u32),
        published: i64,
        project: &Project,
        environment: &Environment,
    ) -> Self {
        Self {
            run: run.0,
            iteration,
            workflow: the_loop.workflow_for(hat),
            completion: the_loop.completion.clone(),
            close_requires: the_loop.close_requires.clone(),
            published,
            baseline: None,
            ticket: format!("{:016x}", RandomState::new().build_hasher().finish()),
            path: environment.get("PATH"),
            gate_files: BTreeMap::new(),
            work: project.work(environment),
        }
    }

    /// Whether some gate asks what changed since the hat was put on.
    pub fn compares(&self) -> bool {
        let ways = self.workflow.nodes.iter().flat_map(|node| &node.transitions).flat_map(|way| &way.requires);
        ways.chain(&self.close_requires).any(|required| matches!(required.gate, Gate::FileRules(_)))
    }

    /// Under which name and when the tree was kept.
    pub fn kept_tree(&self) -> Option<(String, i64)> {
        self.baseline.map(|time| (self.baseline_name(), time))
    }

    pub(crate) fn baseline_name(&self) -> String {
        format!("run-{}", self.run)
    }

    /// The one that this process belongs to; none outside of runs, and where the run is another project's.
    pub fn of_process(project: &Project, environment: &Environment) -> Option<Self> {
        let run = Self::run_of_process(project, environment)?;
        let mut opened = File::open(file(run, &project.root, environment)).ok()?;
        // Only a process of the run gets here: it is at work.
        touch(&opened);
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).ok()?;
        Self::read(&bytes, project, environment)
    }

    /// The run of this project that this process belongs to, whether or not its stage can be read.
    pub(crate) fn run_of_process(project: &Project, environment: &Environment) -> Option<RunId> {
        let run = environment.get(Self::RUN)?.parse().ok()?;
        let is_elsewhere = environment.get(Self::ROOT).is_some_and(|root| Path::new(&root) != project.root);
        (!is_elsewhere).then_some(run)
    }

    /// What [`runner::STARTED_BY`] is for the processes of a run. Another project may have a run of the same number.
    pub fn started_by(run: RunId, root: &Path) -> String {
        format!("{run} {}", root.display())
    }

    /// Variables for the commands of gates, whatever the environment of whoever asks says.
    pub(crate) fn gate_variables(&self, root: &Path) -> Vec<(&'static str, String)> {
        let path = self.path.clone().map(|path| ("PATH", path));
        path.into_iter().chain([(runner::STARTED_BY, Self::started_by(self.id(), root))]).collect()
    }

    /// The last one of a run.
    pub fn of_run(run: RunId, project: &Project, environment: &Environment) -> Option<Self> {
        let bytes = fs::read(file(run, &project.root, environment)).ok()?;
        Self::read(&bytes, project, environment)
    }

    fn read(bytes: &[u8], project: &Project, environment: &Environment) -> Option<Self> {
        let stage: Self = serde_json::from_slice(bytes).ok()?;
        Some(Self { work: project.work(environment), ..stage })
    }

    pub fn set(&self, project: &Project, environment: &Environment) -> io::Result<()> {
        policy::write_private_file(&file(self.id(), &project.root, environment), serde_json::to_vec(self)?)
    }

    pub fn id(&self) -> RunId {
        RunId(self.run)
    }

    /// The hat that is on.
    pub fn hat(&self) -> &str {
        &self.workflow.start
    }

    /// Who starts a task in this iteration.
    pub fn starter(&self) -> String {
        work::starter_id(&self.id().to_string(), self.iteration.into())
    }

    /// The topics that it may publish.
    pub fn publishes(&self) -> impl Iterator<Item = &str> {
        self.workflow.nodes.iter().flat_map(|node| &node.transitions).map(|way| way.to.as_str())
    }
}

/// Whoever owns a file may do that, however they opened it.
pub(super) fn touch(file: &File) {
    let _ = file.set_modified(SystemTime::now());
}

pub(super) fn file(run: RunId, root: &Path, environment: &Environment) -> PathBuf {
    environment.project_state(root).join("runs").join(format!("{run}.json"))
}
