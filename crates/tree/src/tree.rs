//! The working tree of a project, and its changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use engine::file_rules::{Changes, Status};

use crate::git::{Git, GitError};
use crate::raw_diff::{self, DiffLine};
use crate::repository::Repository;
use crate::{rename_detection, status};

/// The maximum number of new files that are checked for renames by identical content.
const MAX_RENAME_CANDIDATES: usize = 1000;
/// The maximum number of old files, and of new files, that are checked for renames with edits. The number is low
/// because every old file is compared with every new file.
const MAX_EDITED_RENAME_CANDIDATES: usize = 200;
/// The maximum number of paths for one call of git.
const MAX_PATHS_PER_CALL: usize = 200;

/// The maximum number of commits that [`Tree::history`] returns.
const MAX_HISTORY_COMMITS: usize = 2000;

/// The arguments of every raw diff.
const RAW_DIFF_ARGUMENTS: &[&str] = &[
    "--raw",
    "-z",
    "--no-renames",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "--relative",
    "--end-of-options",
];

/// The part of a git working tree that belongs to a project.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    git: Git,
    repository: Repository,
}

/// The commit, or the empty tree, that the working tree is compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaselineCommit {
    /// A full object id.
    pub id: String,
    /// A remark for people about how the commit was chosen.
    pub note: Option<String>,
    /// Set if `HEAD` was chosen because the default branch is unknown.
    pub unknown_default: Option<UnknownDefaultBranch>,
}

/// The error for an unknown default branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDefaultBranch {
    pub why: String,
    /// Instructions to solve the problem.
    pub help: String,
}

impl UnknownDefaultBranch {
    /// `default_branch`: the default branch according to the configuration, if that sets one.
    fn new(default_branch: Option<&str>, remote: Option<&str>) -> Self {
        let why = match (default_branch, remote) {
            (Some(name), _) => format!("`default_branch` names the branch `{name}`, which does not exist"),
            (None, Some(remote)) => format!(
                "the default branch is not known: `{remote}/HEAD` is not set, and there is no `main` or `master`"
            ),
            (None, None) => {
                "the default branch is not known: there are several branches, and none is `main` or `master`".to_owned()
            }
        };
        let change_config = match default_branch {
            Some(_) => "name another one in `.linchpin/config.yml`",
            None => "set `default_branch: NAME` in `.linchpin/config.yml`",
        };
        // In a single-branch clone, `git fetch` must be told in which ref to store the branch.
        let fetch = |remote: &str, name: &str| format!("`git fetch {remote} {name}:refs/remotes/{remote}/{name}`");
        let help = match (default_branch, remote) {
            (Some(name), Some(remote)) => format!("{change_config}, or run {}", fetch(remote, name)),
            (None, Some(remote)) => format!("{change_config}, and run {} if it was not fetched", fetch(remote, "NAME")),
            (_, None) => change_config.to_owned(),
        };
        Self { why, help }
    }
}

impl BaselineCommit {
    fn at(id: String) -> Self {
        Self { id, ..Self::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitWithParents {
    pub id: String,
    pub parents: Vec<String>,
}

impl Tree {
    /// Returns `None` if the directory is not in a git repository. `timeout` is for each call of git.
    pub fn of(root: &Path, timeout: Duration) -> Option<Self> {
        let repository = Repository::of(root)?;
        let git = Git::new(root, repository.git_dir(), repository.work_tree(), timeout);
        let git = if repository.config_may_run_programs() {
            match configured_filters(&git) {
                Ok(filters) => git.without_filters(filters),
                // The filters are not known, so git must not run.
                Err(error) => git.always_failing(error),
            }
        } else {
            git
        };
        Some(Self { root: root.to_owned(), git, repository })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of the project in its repository: empty, or ending with a slash.
    pub fn prefix(&self) -> String {
        let inside = self.root.strip_prefix(self.repository.work_tree()).unwrap_or(Path::new(""));
        let inside = inside.to_string_lossy();
        if inside.is_empty() { String::new() } else { format!("{inside}/") }
    }

    /// The filters that are disabled because the repository's own configuration defines programs for them.
    pub fn disabled_filters(&self) -> Vec<String> {
        self.git.disabled_filters().iter().map(|filter| filter.to_string_lossy().into_owned()).collect()
    }

    /// The commit that is checked out; `None` before the first commit.
    pub fn head(&self) -> Option<String> {
        // If this process cannot resolve `HEAD`, git possibly can.
        self.repository.head().or_else(|| self.resolve_commit("HEAD").ok().flatten())
    }

    /// Returns the merge base of `HEAD` and the default branch. If `default_branch` is `None`, the default branch is
    /// detected.
    pub fn merge_base_with_default(&self, default_branch: Option<&str>) -> Result<BaselineCommit, GitError> {
        let Some(head) = self.head() else { return self.empty_tree() };
        let Some(tip) = self.default_branch_tip(default_branch)? else {
            return Ok(self.head_as_baseline(head, default_branch));
        };
        self.merge_base(&head, &tip)
    }

    /// Returns the tip of the default branch, or `HEAD` if the default branch is unknown.
    pub fn default_tip(&self, default_branch: Option<&str>) -> Result<BaselineCommit, GitError> {
        match (self.default_branch_tip(default_branch)?, self.head()) {
            (Some(tip), _) => Ok(BaselineCommit::at(tip)),
            (None, Some(head)) => Ok(self.head_as_baseline(head, default_branch)),
            (None, None) => self.empty_tree(),
        }
    }

    /// Returns `HEAD`, which is the baseline if the default branch is unknown.
    fn head_as_baseline(&self, head: String, default_branch: Option<&str>) -> BaselineCommit {
        let unknown_default = UnknownDefaultBranch::new(default_branch, self.repository.remote().as_deref());
        BaselineCommit { unknown_default: Some(unknown_default), ..BaselineCommit::at(head) }
    }

    /// Returns the merge base of two commits; the second commit if they have no merge base.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<BaselineCommit, GitError> {
        if one == other {
            return Ok(BaselineCommit::at(one.to_owned()));
        }
        Ok(match self.git.line(&["merge-base", "--end-of-options", one, other])? {
            Some(id) => BaselineCommit::at(id),
            None => BaselineCommit {
                note: Some(
                    "no common commit is known (a shallow clone?), so changes are counted from the tip".to_owned(),
                ),
                ..BaselineCommit::at(other.to_owned())
            },
        })
    }

    /// Returns the ancestors of `tip` that are not ancestors of `before`, children first; at most the newest
    /// [`MAX_HISTORY_COMMITS`].
    pub fn history(&self, tip: &str, before: Option<&str>) -> Result<Vec<CommitWithParents>, GitError> {
        let limit = format!("--max-count={MAX_HISTORY_COMMITS}");
        let mut arguments = vec!["rev-list", "--topo-order", "--parents", &limit, "--end-of-options", tip];
        let before = before.map(|before| format!("^{before}"));
        arguments.extend(before.as_deref());
        let output = self.git.output(&arguments)?;
        let parse = |line: &str| {
            let mut ids = line.split(' ').map(str::to_owned);
            Some(CommitWithParents { id: ids.next()?, parents: ids.collect() })
        };
        Ok(String::from_utf8_lossy(&output).lines().filter_map(parse).collect())
    }

    /// Returns the ids of the commits that were made in this repository: those that the reflog of `HEAD` records after
    /// its first `length` bytes, and those that the reflogs of branches and of all working trees record since `time`.
    /// `None` if `length` is `None`, or if the reflog of `HEAD` cannot be read from there.
    pub fn commits_made_since(&self, length: Option<u64>, time: Option<i64>) -> Option<BTreeSet<String>> {
        let mut commits = self.repository.commits_made_since(length)?;
        commits.extend(time.map(|time| self.repository.commits_made_elsewhere_since(time)).unwrap_or_default());
        Some(commits)
    }

    /// Returns the full id of the commit that a name refers to.
    pub fn resolve_commit(&self, name: &str) -> Result<Option<String>, GitError> {
        // After `--end-of-options`, git does not interpret a name that begins with a dash as an option.
        self.git.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
    }

    fn default_branch_tip(&self, default_branch: Option<&str>) -> Result<Option<String>, GitError> {
        let Some(branch) = default_branch.map(str::to_owned).or_else(|| self.repository.default_branch()) else {
            return Ok(None);
        };
        let remote_prefix = self.repository.remote().map(|remote| format!("refs/remotes/{remote}"));
        for prefix in remote_prefix.iter().map(String::as_str).chain(["refs/heads"]) {
            let name = format!("{prefix}/{branch}");
            let resolved = self.repository.resolve(&name);
            let id = match resolved {
                None if !self.repository.is_certainly_missing(&name) => self.resolve_commit(&name)?,
                resolved => resolved,
            };
            if id.is_some() {
                return Ok(id);
            }
        }
        Ok(None)
    }

    /// Returns the empty tree, which is the baseline if the repository has no commit.
    pub fn empty_tree(&self) -> Result<BaselineCommit, GitError> {
        let id = self.git.line(&["hash-object", "-t", "tree", "/dev/null"])?;
        let id = id.ok_or_else(|| GitError::Failed("it printed no id of the empty tree".to_owned()))?;
        Ok(BaselineCommit::at(id))
    }

    /// Returns the net changes between a commit and the working tree: committed, staged, unstaged and untracked.
    pub fn changes_since(&self, commit: &str) -> Result<Changes, GitError> {
        let lines = self.diff_with_working_tree(commit)?;
        let ids = self.missing_blob_ids(&lines);
        Ok(self.net_changes(lines, &ids))
    }

    /// Like `changes_since`, but returns the diff line of each file.
    pub(crate) fn diff_with_working_tree(&self, commit: &str) -> Result<BTreeMap<String, DiffLine>, GitError> {
        let (tracked, untracked) = thread::scope(|scope| {
            let untracked = scope.spawn(|| self.untracked_files());
            let tracked = self.tracked_diff(commit);
            (tracked, untracked.join())
        });
        let untracked =
            untracked.unwrap_or_else(|_| Err(GitError::Failed("its output could not be read".to_owned())))?;
        let mut lines = tracked?;
        for path in untracked {
            match lines.get_mut(&path) {
                // The file is in the commit and was removed from the index, but is still in the working tree.
                Some(line) => {
                    line.status = Status::Modified;
                    line.new_mode.clone_from(&line.old_mode);
                    line.new_id.clear();
                }
                None => {
                    lines.insert(path, untracked_file_line());
                }
            }
        }
        Ok(lines)
    }

    /// Returns the net diff of tracked files.
    fn tracked_diff(&self, commit: &str) -> Result<BTreeMap<String, DiffLine>, GitError> {
        let status = status::parse(&self.git.output(status::ARGUMENTS)?, &self.prefix());
        let head = match status.head {
            Some(head) => head,
            None => self.empty_tree()?.id,
        };
        let mut lines = if head == commit { BTreeMap::new() } else { self.raw_diff(&[commit, &head, "--"])? };
        // A file that was changed by a commit after `commit`, and then edited, can have its old content again.
        let mut uncertain = status.uncertain;
        uncertain.extend(status.lines.keys().filter(|path| lines.contains_key(*path)).cloned());
        lines.extend(status.lines);
        lines.retain(|path, _| !uncertain.contains(path));
        lines.extend(self.content_diff(commit, &uncertain)?);
        Ok(lines)
    }

    /// Returns the diff of these files. Git compares their contents with those in `commit`.
    fn content_diff(&self, commit: &str, paths: &BTreeSet<String>) -> Result<BTreeMap<String, DiffLine>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut arguments = vec![commit.to_owned(), "--".to_owned()];
        // A name that is not UTF-8 cannot be passed back to git.
        let can_be_passed = paths.len() <= MAX_PATHS_PER_CALL && !paths.iter().any(|path| path.contains('\u{fffd}'));
        if can_be_passed {
            arguments.extend(paths.iter().map(|path| format!(":(literal){path}")));
        }
        let mut lines = self.raw_diff(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        lines.retain(|path, _| paths.contains(path));
        Ok(lines)
    }

    /// Returns the changes between a commit and the index. `index`: the index that git is about to commit, if it is not
    /// the default one.
    pub fn staged_changes_since(&self, commit: &str, index: Option<&OsStr>) -> Result<Changes, GitError> {
        let git = self.git.clone().with_index(index);
        let mut arguments = vec!["diff", "--cached"];
        arguments.extend(RAW_DIFF_ARGUMENTS);
        arguments.extend([commit, "--"]);
        let lines = raw_diff::parse_lines(&git.output(&arguments)?);
        Ok(self.net_changes(lines, &BTreeMap::new()))
    }

    /// Returns the net changes between two commits.
    pub fn changes_between(&self, from: &str, to: &str) -> Result<Changes, GitError> {
        let lines = self.raw_diff(&[from, to, "--"])?;
        Ok(self.net_changes(lines, &BTreeMap::new()))
    }

    fn net_changes(&self, lines: BTreeMap<String, DiffLine>, blob_ids: &BTreeMap<String, String>) -> Changes {
        let renamed = self.renamed_with_edits(&lines, blob_ids);
        raw_diff::net_changes(lines, blob_ids, &renamed).filtered(|path| !self.is_written_by_linchpin(path))
    }

    /// Returns the new paths of files that were renamed and edited.
    fn renamed_with_edits(
        &self,
        lines: &BTreeMap<String, DiffLine>,
        blob_ids: &BTreeMap<String, String>,
    ) -> BTreeSet<String> {
        let id = |path: &str, line: &DiffLine| blob_ids.get(path).unwrap_or(&line.new_id).clone();
        let deleted_ids = raw_diff::deleted_ids(lines);
        let new = lines.iter().filter(|(_, line)| line.status == Status::Added && line.is_regular_file());
        let new: Vec<(&String, String)> = new.map(|(path, line)| (path, id(path, line))).collect();
        // A deleted file whose content exists under a new name is already known to be renamed.
        let renamed_ids: BTreeSet<&String> =
            new.iter().map(|(_, id)| id).filter(|id| deleted_ids.contains(*id)).collect();
        let old = lines.iter().filter(|(_, line)| line.status == Status::Deleted && line.was_regular_file());
        let old = old.filter(|(_, line)| deleted_ids.contains(&line.old_id) && !renamed_ids.contains(&line.old_id));
        let old: Vec<(&String, &String)> = old.map(|(path, line)| (path, &line.old_id)).collect();
        let new: Vec<(&String, &String)> =
            new.iter().filter(|(_, id)| !deleted_ids.contains(id)).map(|(path, id)| (*path, id)).collect();
        if old.is_empty() || new.is_empty() || old.len().max(new.len()) > MAX_EDITED_RENAME_CANDIDATES {
            return BTreeSet::new();
        }
        let sizes = self.blob_sizes(old.iter().chain(&new).map(|(_, id)| id.as_str()));
        let old_sizes = old.iter().filter_map(|(path, id)| Some(((*path).clone(), *sizes.get(*id)?))).collect();
        let new_sizes = new.iter().filter_map(|(path, id)| {
            let size = sizes.get(*id).copied().or_else(|| regular_file_size(&self.root.join(path)))?;
            Some(((*path).clone(), size))
        });
        let (selected_old, selected_new) = rename_detection::select_for_reading(&old_sizes, &new_sizes.collect());
        let old: Vec<_> = old.into_iter().filter(|(path, _)| selected_old.contains(*path)).collect();
        let new: Vec<_> = new.into_iter().filter(|(path, _)| selected_new.contains(*path)).collect();
        let ids = old.iter().chain(&new).map(|(_, id)| id.as_str());
        let blobs = self.blob_contents(ids.filter(|id| sizes.contains_key(*id)));
        let old = old.into_iter().filter_map(|(path, id)| Some((path.clone(), blobs.get(id)?.clone()))).collect();
        let new = new.into_iter().filter_map(|(path, id)| {
            let content = blobs.get(id).cloned().or_else(|| fs::read(self.root.join(path)).ok())?;
            Some((path.clone(), content))
        });
        rename_detection::renamed_files(&old, &new.collect())
    }

    /// Returns the size of each object that git knows.
    fn blob_sizes<'i>(&self, ids: impl Iterator<Item = &'i str>) -> BTreeMap<String, u64> {
        let is_known = |id: &&str| id.len() >= 40 && !id.bytes().all(|byte| byte == b'0');
        let stdin = distinct_lines(ids.filter(is_known));
        // If git fails, a file that was renamed and edited counts as a new file.
        let output = self.git.output_with_stdin(&["cat-file", "--batch-check=%(objectname) %(objectsize)"], stdin);
        let output = String::from_utf8(output.unwrap_or_default()).unwrap_or_default();
        let sizes = output.lines().filter_map(|line| line.split_once(' '));
        sizes.filter_map(|(id, size)| Some((id.to_owned(), size.parse().ok()?))).collect()
    }

    /// Returns the content of each object.
    fn blob_contents<'i>(&self, ids: impl Iterator<Item = &'i str>) -> BTreeMap<String, Vec<u8>> {
        let stdin = distinct_lines(ids);
        let output = self.git.output_with_stdin(&["cat-file", "--batch=%(objectname) %(objectsize)"], stdin);
        raw_diff::parse_blobs(&output.unwrap_or_default())
    }

    /// True for the journal and for temporary files of Linchpin, whether or not git ignores them: in `.linchpin` at the
    /// root, and in directories with a policy of their own.
    pub(crate) fn is_written_by_linchpin(&self, path: &str) -> bool {
        let (directory, rest) = match path.strip_prefix(".linchpin/") {
            Some(rest) => ("", rest),
            None => match path.split_once("/.linchpin/") {
                Some(parts) => parts,
                None => return false,
            },
        };
        let has_written_name = rest.starts_with("tmp/") || rest.starts_with("state.db");
        let policy = || self.root.join(directory).join(".linchpin");
        let has_policy =
            || directory.is_empty() || policy().join("config.yml").exists() || policy().join("rules").is_dir();
        has_written_name && has_policy()
    }

    /// Returns the files that are neither in the index nor ignored.
    pub fn untracked_files(&self) -> Result<Vec<String>, GitError> {
        let output = self.git.output(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        Ok(raw_diff::parse_paths(&output).collect())
    }

    /// Returns the files whose staged state differs from the checked-out commit.
    pub fn staged_files(&self) -> Result<Vec<String>, GitError> {
        let arguments = ["diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative"];
        Ok(raw_diff::parse_paths(&self.git.output(&arguments)?).collect())
    }

    /// Returns the messages of the commits that are ancestors of `to`, or `to` itself, and not ancestors of `from`.
    pub fn commit_messages(&self, from: &str, to: &str) -> Result<String, GitError> {
        let range = format!("{from}..{to}");
        let output =
            self.git.output(&["log", "--no-show-signature", "--format=%B%x00", "--end-of-options", &range, "--"])?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    fn raw_diff(&self, commits_and_paths: &[&str]) -> Result<BTreeMap<String, DiffLine>, GitError> {
        let mut arguments = vec!["diff"];
        arguments.extend(RAW_DIFF_ARGUMENTS);
        arguments.extend(commits_and_paths);
        Ok(raw_diff::parse_lines(&self.git.output(&arguments)?))
    }

    /// Computes the blob ids of the files that git has not hashed, where the result depends on them.
    fn missing_blob_ids(&self, lines: &BTreeMap<String, DiffLine>) -> BTreeMap<String, String> {
        let may_be_renamed = lines.values().any(|line| line.status == Status::Deleted)
            && lines.values().filter(|line| line.status == Status::Added).count() <= MAX_RENAME_CANDIDATES;
        let matters = |line: &DiffLine| match line.status {
            Status::Added => may_be_renamed,
            Status::Modified => line.new_id.is_empty() || line.may_differ_only_in_mode(),
            Status::Deleted => false,
        };
        let is_regular_file =
            |path: &str| fs::symlink_metadata(self.root.join(path)).is_ok_and(|metadata| metadata.is_file());
        let selected =
            lines.iter().filter(|(path, line)| matters(line) && line.is_regular_file() && is_regular_file(path));
        let selected: Vec<&str> = selected.map(|(path, _)| path.as_str()).collect();
        self.blob_ids(&selected)
    }

    /// Computes the blob ids of regular files.
    pub(crate) fn blob_ids(&self, paths: &[&str]) -> BTreeMap<String, String> {
        let mut ids = BTreeMap::new();
        for chunk in paths.chunks(MAX_PATHS_PER_CALL) {
            let mut arguments = vec!["hash-object", "--"];
            arguments.extend(chunk);
            // If one of the files was just deleted, git fails for all files of the chunk, and all of them count as
            // changed.
            let Ok(output) = self.git.output(&arguments) else { continue };
            let output = String::from_utf8_lossy(&output).into_owned();
            ids.extend(chunk.iter().zip(output.lines()).map(|(path, id)| ((*path).to_owned(), id.to_owned())));
        }
        ids
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }
}

/// Returns each distinct id on a line of its own.
fn distinct_lines<'i>(ids: impl Iterator<Item = &'i str>) -> String {
    ids.collect::<BTreeSet<_>>().into_iter().flat_map(|id| [id, "\n"]).collect()
}

/// Returns the size of a regular file; `None` for anything else.
fn regular_file_size(path: &Path) -> Option<u64> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Returns the diff line of an untracked file.
fn untracked_file_line() -> DiffLine {
    DiffLine {
        old_mode: "000000".to_owned(),
        new_mode: "100644".to_owned(),
        old_id: String::new(),
        new_id: "0".to_owned(),
        status: Status::Added,
    }
}

/// Returns the names of the filters in the repository's own configuration, which must not run programs without trust.
fn configured_filters(git: &Git) -> Result<Vec<OsString>, GitError> {
    let arguments = ["config", "--includes", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\."];
    let output = git.query_output(&arguments)?;
    let parts: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let repository_keys = parts.chunks_exact(2).filter_map(|pair| match pair {
        [scope, key] if *scope != b"system" && *scope != b"global" && *scope != b"command" => Some(*key),
        _ => None,
    });
    let name = |key: &[u8]| {
        let rest = key.strip_prefix(b"filter.")?;
        let end = rest.iter().rposition(|byte| *byte == b'.')?;
        Some(os_string(rest.get(..end)?))
    };
    let mut filters: Vec<OsString> = repository_keys.filter_map(name).collect();
    filters.sort();
    filters.dedup();
    Ok(filters)
}

/// Converts a filter's name, as git prints it, to an `OsString`. The name need not be UTF-8.
#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_os_string()
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
