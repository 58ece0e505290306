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

/// The time limit for git. It is longer than in hooks, because no agent waits for the answer, and some disks are slow.
const GIT_LIMIT: Duration = Duration::from_mins(2);

const FETCH_ALL: &str = "in CI, fetch enough history: `with: {fetch-depth: 0}` for `actions/checkout`";

pub struct Comparison {
    pub compared: Compared,
    pub acknowledged: Vec<Trailer>,
    /// The project's path within its repository.
    pub prefix: String,
    /// The full name of the commit with which the files were compared, or the name of the list of changes.
    pub baseline: String,
    /// The baseline in words for people, such as `since 1a2b3c`.
    pub since: String,
    /// The number of changed files.
    pub changed_files: usize,
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
            let changes = Arc::new(read_change_list(list)?);
            return Ok(Self {
                compared: same_for_all_rules(&changes, list),
                acknowledged: Vec::new(),
                prefix: String::new(),
                baseline: list.clone(),
                since: if list == "-" { "according to stdin".to_owned() } else { format!("according to `{list}`") },
                changed_files: changes.len(),
                notes: Vec::new(),
            });
        }
        let tree = Tree::of(&project.root, GIT_LIMIT).ok_or_else(|| {
            Problem::new("NotARepository", format!("`{}` is not in a git repository", project.root.display()))
                .help("list the changes in a file for `--changed-from FILE`: on each line `M`, `A` or `D`, a tab and the path")
        })?;
        let index = environment.get("GIT_INDEX_FILE").map(|index| environment.cwd.join(index));
        let state = if arguments.staged { ComparedState::Staged(index) } else { ComparedState::WorkingTree };
        let github_event = GithubEvent::of(environment);
        let mut builder = ComparisonBuilder { tree: &tree, config, state, github_event, notes: Vec::new() };
        let mut comparison = match (&arguments.range, &arguments.base) {
            (Some(range), _) => builder.compare_range(range)?,
            (None, Some(base)) => builder.compare_with(base)?,
            (None, None) => builder.compare_with_baselines(rules)?,
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
enum ComparedState {
    WorkingTree,
    /// The contents of the index, which would be committed. The path is set if it is not git's default index.
    Staged(Option<PathBuf>),
}

/// The event by which GitHub Actions started the check, if it did.
struct GithubEvent {
    is_on_github: bool,
    /// The target branch, if the event is a pull request.
    base: Option<String>,
    /// The commit to which the branch pointed before the event, if the event is a push.
    before: Option<String>,
}

impl GithubEvent {
    fn of(environment: &Environment) -> Self {
        let is_on_github = environment.get("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let variable = |name| environment.get(name).filter(|_| is_on_github);
        let is_push = variable("GITHUB_EVENT_NAME").is_some_and(|name| name == "push");
        let before = variable("GITHUB_EVENT_PATH").filter(|_| is_push).and_then(|path| commit_before_push(&path));
        Self { is_on_github, base: variable("GITHUB_BASE_REF"), before }
    }
}

/// Reads the commit before a push from the event's payload. `None` for a new branch, which GitHub writes as zeros.
fn commit_before_push(payload: &str) -> Option<String> {
    let payload: Value = serde_json::from_slice(&fs::read(payload).ok()?).ok()?;
    let before = payload.get("before")?.as_str()?;
    before.bytes().any(|byte| byte != b'0').then(|| before.to_owned())
}

struct ComparisonBuilder<'a> {
    tree: &'a Tree,
    config: &'a Config,
    state: ComparedState,
    github_event: GithubEvent,
    notes: Vec<String>,
}

impl ComparisonBuilder<'_> {
    /// Judges all rules by the changes that the commits in a range `A..B` made: from the merge base of A and B to B.
    fn compare_range(&mut self, range: &str) -> Result<Comparison, Problem> {
        let (from, to) = range.split_once("...").or_else(|| range.split_once("..")).ok_or_else(|| {
            Problem::new("InvalidValue", format!("invalid range of commits `{range}`"))
                .help("write `A..B`, or to compare the working tree with a commit, use `--base A`")
        })?;
        let [from, to] = [from, to].map(|name| if name.is_empty() { "HEAD" } else { name });
        let (from, to) = (self.commit(from)?, self.commit(to)?);
        let base = self.tree.merge_base(&to, &from)?;
        let changes = Arc::new(self.tree.changes_between(&base.id, &to)?);
        self.finish(same_for_all_rules(&changes, &base.id), &base, &to, changes.len())
    }

    /// Judges all rules by the changes since the merge base of `HEAD` and a commit or branch.
    fn compare_with(&mut self, name: &str) -> Result<Comparison, Problem> {
        let named = self.commit(name)?;
        let head = self.tree.head().unwrap_or_else(|| named.clone());
        let base = self.tree.merge_base(&head, &named)?;
        let changes = Arc::new(self.changes_since(&base.id)?);
        self.finish(same_for_all_rules(&changes, &base.id), &base, &head, changes.len())
    }

    fn changes_since(&self, commit: &str) -> Result<Changes, Problem> {
        Ok(match &self.state {
            ComparedState::Staged(index) => {
                self.tree.staged_changes_since(commit, index.as_deref().map(Path::as_os_str))?
            }
            ComparedState::WorkingTree => self.tree.changes_since(commit)?,
        })
    }

    /// Judges each rule by the changes since its own baseline. The last prompt is not known here and cannot be a
    /// baseline.
    fn compare_with_baselines(&mut self, rules: &[Rule]) -> Result<Comparison, Problem> {
        let named = self.config.branches.default.as_deref();
        let wanted: BTreeSet<Baseline> =
            rules.iter().filter_map(Rule::as_file_rule).map(|file| file.scope.compare_to).collect();
        if wanted.contains(&Baseline::Prompt) {
            self.notes
                .push("`check` knows no prompts, so rules with `compare_to: prompt` compare with the base of the branch instead".to_owned());
        }
        let base = if let Some(branch) = self.github_event.base.clone() {
            self.base_of_pull_request(&branch)?
        } else {
            let base = self.require_known(self.tree.merge_base_with_default(named)?, !wanted.is_empty())?;
            self.base_of_push(base)?
        };
        let changes = Arc::new(self.changes_since(&base.id)?);
        let count = changes.len();
        let mut compared = same_for_all_rules(&changes, &base.id);
        if wanted.contains(&Baseline::DefaultTip) {
            let tip = self.require_known(self.tree.default_tip(named)?, true)?;
            let changes = if tip.id == base.id { changes } else { Arc::new(self.changes_since(&tip.id)?) };
            for attribute in [AttributionMode::Session, AttributionMode::Tree] {
                let change_scope = ChangeScope { compare_to: Baseline::DefaultTip, attribute };
                let since = ChangedSince { changes: Arc::clone(&changes), baseline_id: tip.id.clone().into() };
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

    /// Returns the commit before the push that started this check. Returns `base` if there was no push, or if `base` is
    /// not `HEAD`, because then the push was to another branch than the default branch.
    fn base_of_push(&self, base: BaselineCommit) -> Result<BaselineCommit, Problem> {
        let Some(before) = self.github_event.before.as_deref() else { return Ok(base) };
        if self.tree.head().is_some_and(|head| head != base.id) {
            return Ok(base);
        }
        let Some(before) = self.tree.resolve_commit(before)? else {
            let message = format!("`{before}`, the commit before this push, was not fetched");
            return Err(Problem::new("NotFound", message).help(FETCH_ALL));
        };
        Ok(self.tree.merge_base(&base.id, &before)?)
    }

    /// Fails if the default branch is unknown, but needed. `is_needed`: a rule's files are compared with the default
    /// branch.
    fn require_known(&self, baseline: BaselineCommit, is_needed: bool) -> Result<BaselineCommit, Problem> {
        match &baseline.unknown_default {
            Some(unknown) if is_needed => {
                let name_a_commit =
                    format!("{}; or name the commit to compare with: `linchpin check --base REF`", unknown.help);
                let help = if self.github_event.is_on_github { FETCH_ALL.to_owned() } else { name_a_commit };
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
        changed_files: usize,
    ) -> Result<Comparison, Problem> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(base.note.clone());
        let messages = if head.is_empty() || head == base.id {
            String::new()
        } else {
            self.tree.commit_messages(&base.id, head)?
        };
        // Without a commit, the files are compared with the empty tree.
        let since = match head {
            "" => "in all".to_owned(),
            _ => format!("since {}", base.id.get(..12).unwrap_or(&base.id)),
        };
        let acknowledged = ack_trailer::trailers(&messages);
        let prefix = self.tree.prefix();
        Ok(Comparison { compared, acknowledged, prefix, baseline: base.id.clone(), since, changed_files, notes })
    }

    fn commit(&self, name: &str) -> Result<String, Problem> {
        self.tree.resolve_commit(name)?.ok_or_else(|| {
            let fetch = name
                .strip_prefix("origin/")
                .map_or("check the name".to_owned(), |branch| format!("fetch it: `git fetch origin {branch}`"));
            Problem::new("NotFound", format!("git has no commit `{name}`")).help(format!("{fetch}; {FETCH_ALL}"))
        })
    }
}

/// Uses the same changes for every rule, whatever the rule's baseline and attribution are.
fn same_for_all_rules(changes: &Arc<Changes>, baseline: &str) -> Compared {
    let mut by_scope = BTreeMap::new();
    for compare_to in Baseline::ALL {
        for attribute in [AttributionMode::Session, AttributionMode::Tree] {
            let since = ChangedSince { changes: Arc::clone(changes), baseline_id: baseline.to_owned().into() };
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
    // Reading this fact starts a process, so it is read only if a rule uses it, which is rare.
    if rules.iter().any(|rule| rule.when.as_deref().is_some_and(|when| when.contains("dirty"))) {
        facts.insert("dirty", json!(repository.is_dirty()));
    }
    facts
}

/// Reads changes from a file or from stdin (`-`), in the format of `git diff --name-status`.
fn read_change_list(list: &str) -> Result<Changes, Problem> {
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
