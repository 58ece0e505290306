//! Determines which changes `check` judges, and what they are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::file_rules::{AttributionMode, Baseline, ChangeScope, Changes};
use engine::rules::Rule;
use guard::check::Compared;
use guard::file_rules::ChangedSince;
use guard::{Environment, Project};
use policy::Config;
use serde_json::{Value, json};
use tree::{BaselineCommit, Repository, Tree};

use super::ack_trailer::{self, Trailer};
use super::name_status;
use crate::arguments::CheckArguments;
use crate::problem::Problem;

/// Longer than in hooks: no agent waits for the answer, and some disks are slow.
const GIT_LIMIT: Duration = Duration::from_mins(2);

const FETCH_ALL: &str = "in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`";

pub struct Comparison {
    pub compared: Compared,
    pub acknowledged: Vec<Trailer>,
    /// The project's path within its repository.
    pub prefix: String,
    /// The full name of the commit or list that the changes are relative to.
    pub baseline: String,
    /// The same, as displayed to people.
    pub since: String,
    pub changed: usize,
    pub notes: Vec<String>,
}

impl Comparison {
    pub fn of(
        arguments: &CheckArguments,
        project: &Project,
        config: &Config,
        rules: &[Rule],
        environment: &Environment,
    ) -> Result<Self, Problem> {
        if let Some(list) = &arguments.changed_from {
            let changes = Arc::new(listed(list)?);
            return Ok(Self {
                compared: everywhere(&changes, list),
                acknowledged: Vec::new(),
                prefix: String::new(),
                baseline: list.clone(),
                since: format!("according to `{list}`"),
                changed: changes.len(),
                notes: Vec::new(),
            });
        }
        let tree = Tree::of(&project.root, GIT_LIMIT).ok_or_else(|| {
            Problem::new("NotARepository", format!("`{}` is not in a git repository", project.root.display()))
                .help("list the changes in a file for `--changed-from FILE`: on each line `M`, `A` or `D`, a tab and the path")
        })?;
        let index = environment.get("GIT_INDEX_FILE").map(|index| environment.cwd.join(index));
        let now = if arguments.staged { Now::Staged(index) } else { Now::WorkingTree };
        let pull_request = PullRequest::of(environment);
        let mut builder = ComparisonBuilder { tree: &tree, config, now, pull_request, notes: Vec::new() };
        let mut comparison = match (&arguments.range, &arguments.base) {
            (Some(range), _) => builder.between(range)?,
            (None, Some(base)) => builder.since(base)?,
            (None, None) => builder.since_baselines(rules)?,
        };
        comparison.compared.git = git_facts(&tree, project, config, rules);
        if !tree.disabled_filters().is_empty() {
            let filters = tree.disabled_filters().join(", ");
            comparison.notes.push(format!(
                "the repository's git configuration has filters, which Linchpin does not run: {filters}"
            ));
        }
        Ok(comparison)
    }
}

/// The state that is compared with the baseline.
enum Now {
    WorkingTree,
    /// The contents of the index, which would be committed. The path is set if it is not git's default index.
    Staged(Option<PathBuf>),
}

/// Information from GitHub Actions about the event that triggered the check.
struct PullRequest {
    is_on_github: bool,
    /// The target branch of the pull request.
    base: Option<String>,
}

impl PullRequest {
    fn of(environment: &Environment) -> Self {
        let is_on_github = environment.get("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        Self { is_on_github, base: environment.get("GITHUB_BASE_REF").filter(|_| is_on_github) }
    }
}

struct ComparisonBuilder<'a> {
    tree: &'a Tree,
    config: &'a Config,
    now: Now,
    pull_request: PullRequest,
    notes: Vec<String>,
}

impl ComparisonBuilder<'_> {
    /// `A..B`: the changes by commits that are in B and not in A.
    fn between(&mut self, range: &str) -> Result<Comparison, Problem> {
        let (from, to) = range.split_once("...").or_else(|| range.split_once("..")).ok_or_else(|| {
            Problem::new("InvalidValue", format!("invalid range of commits `{range}`"))
                .help("write `A..B`, or to compare the working tree with a commit, use `--base A`")
        })?;
        let [from, to] = [from, to].map(|name| if name.is_empty() { "HEAD" } else { name });
        let (from, to) = (self.commit(from)?, self.commit(to)?);
        let base = self.tree.merge_base(&to, &from)?;
        let changes = Arc::new(self.tree.changes_between(&base.id, &to)?);
        self.finish(everywhere(&changes, &base.id), &base, &to, changes.len())
    }

    fn since(&mut self, name: &str) -> Result<Comparison, Problem> {
        let named = self.commit(name)?;
        let head = self.tree.head().unwrap_or_else(|| named.clone());
        let base = self.tree.merge_base(&head, &named)?;
        let changes = Arc::new(self.changes_since(&base.id)?);
        self.finish(everywhere(&changes, &base.id), &base, &head, changes.len())
    }

    fn changes_since(&self, commit: &str) -> Result<Changes, Problem> {
        Ok(match &self.now {
            Now::Staged(index) => self.tree.staged_changes_since(commit, index.as_deref().map(Path::as_os_str))?,
            Now::WorkingTree => self.tree.changes_since(commit)?,
        })
    }

    /// Compares each rule with its own baseline. The last prompt is not available as a baseline here.
    fn since_baselines(&mut self, rules: &[Rule]) -> Result<Comparison, Problem> {
        let named = self.config.branches.default.as_deref();
        let wanted: BTreeSet<Baseline> =
            rules.iter().filter_map(Rule::as_file_rule).map(|file| file.scope.compare_to).collect();
        if wanted.contains(&Baseline::Prompt) {
            self.notes
                .push("`check` knows no prompts, so rules with `compare_to: prompt` compare with the base of the branch instead".to_owned());
        }
        let base = match self.pull_request.base.clone() {
            Some(branch) => self.base_of_pull_request(&branch)?,
            None => self.known(self.tree.base(named)?, !wanted.is_empty())?,
        };
        let changes = Arc::new(self.changes_since(&base.id)?);
        let count = changes.len();
        let mut compared = everywhere(&changes, &base.id);
        if wanted.contains(&Baseline::DefaultTip) {
            let tip = self.known(self.tree.default_tip(named)?, true)?;
            let changes = if tip.id == base.id { changes } else { Arc::new(self.changes_since(&tip.id)?) };
            for attribute in [AttributionMode::Session, AttributionMode::Tree] {
                let change_scope = ChangeScope { compare_to: Baseline::DefaultTip, attribute };
                let since = ChangedSince { changes: Arc::clone(&changes), baseline_name: tip.id.clone().into() };
                compared.changes.insert(change_scope, Some(since));
            }
        }
        let head = self.tree.head().unwrap_or_default();
        self.finish(compared, &base, &head, count)
    }

    /// Returns the commit at which the pull request's branch was forked from its target branch.
    fn base_of_pull_request(&self, branch: &str) -> Result<BaselineCommit, Problem> {
        let name = format!("refs/remotes/origin/{branch}");
        let Some(tip) = self.tree.resolve_commit(&name)? else {
            let message = format!("the base branch of this pull request, `origin/{branch}`, was not fetched");
            return Err(Problem::new("NotFound", message).help(FETCH_ALL));
        };
        let head = self.tree.head().unwrap_or_else(|| tip.clone());
        Ok(self.tree.merge_base(&head, &tip)?)
    }

    /// Fails if the requested baseline is unknown and `matters`: a rule depends on it.
    fn known(&self, baseline: BaselineCommit, matters: bool) -> Result<BaselineCommit, Problem> {
        match &baseline.unknown_default {
            Some(unknown) if matters => {
                let or_say =
                    format!("{}; or name the commit to compare with: `linchpin check --base REF`", unknown.help);
                let help = if self.pull_request.is_on_github { FETCH_ALL.to_owned() } else { or_say };
                Err(Problem::new("NotFound", unknown.why.clone()).help(help))
            }
            _ => Ok(baseline),
        }
    }

    fn finish(
        &mut self,
        compared: Compared,
        base: &BaselineCommit,
        head: &str,
        changed: usize,
    ) -> Result<Comparison, Problem> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(base.note.clone());
        let messages = if head.is_empty() || head == base.id {
            String::new()
        } else {
            self.tree.commit_messages(&base.id, head)?
        };
        let since = format!("since {}", base.id.get(..12).unwrap_or(&base.id));
        let acknowledged = ack_trailer::trailers(&messages);
        let prefix = self.tree.prefix();
        Ok(Comparison { compared, acknowledged, prefix, baseline: base.id.clone(), since, changed, notes })
    }

    fn commit(&self, name: &str) -> Result<String, Problem> {
        self.tree
            .resolve_commit(name)?
            .ok_or_else(|| Problem::new("NotFound", format!("git has no commit `{name}`")).help(FETCH_ALL))
    }
}

/// Uses the same changes for every rule, whatever its baseline and attribution.
fn everywhere(changes: &Arc<Changes>, baseline_name: &str) -> Compared {
    let mut by_scope = BTreeMap::new();
    for compare_to in Baseline::ALL {
        for attribute in [AttributionMode::Session, AttributionMode::Tree] {
            let since = ChangedSince { changes: Arc::clone(changes), baseline_name: baseline_name.to_owned().into() };
            by_scope.insert(ChangeScope { compare_to, attribute }, Some(since));
        }
    }
    Compared { changes: by_scope, ..Compared::default() }
}

fn git_facts(tree: &Tree, project: &Project, config: &Config, rules: &[Rule]) -> BTreeMap<&'static str, Value> {
    let Some(repository) = Repository::of(&project.root) else { return BTreeMap::new() };
    let default_branch = config.branches.default.clone().or_else(|| repository.default_branch());
    let mut facts = BTreeMap::from([
        ("branch", json!(repository.branch())),
        ("default_branch", json!(default_branch)),
        ("head", json!(tree.head())),
    ]);
    // Starts a process, and hardly any rule uses this fact.
    if rules.iter().any(|rule| rule.when.as_deref().is_some_and(|when| when.contains("dirty"))) {
        facts.insert("dirty", json!(repository.is_dirty()));
    }
    facts
}

/// Parses lines in the format of `git diff --name-status`.
fn listed(list: &str) -> Result<Changes, Problem> {
    let mut bytes = Vec::new();
    let read = if list == "-" {
        io::stdin().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(Path::new(list)).map(|read| bytes = read)
    };
    read.map_err(|error| Problem::new("NotFound", format!("`{list}` cannot be read: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut changes = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        changes.extend(name_status::parse(line).ok_or_else(|| {
            Problem::new("InvalidValue", format!("{list}:{}: invalid change `{line}`", number + 1))
                .help("write `M`, `A` or `D`, a tab and a path relative to the project's root")
                .at(list, Some((number + 1, 1)))
        })?);
    }
    Ok(changes.into_iter().collect())
}
