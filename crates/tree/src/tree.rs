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
use crate::{similarity, status};

/// The maximum number of new files that are checked for moves by identical content.
const MOVED_LIMIT: usize = 1000;
/// The maximum number of files on each side that are checked for moves with edits. It is low, because every file is
/// compared with every other.
const EDITED_LIMIT: usize = 200;
/// The maximum number of paths for one call of git.
const NAMES_AT_ONCE: usize = 200;

/// The maximum number of commits that are listed of a history.
const HISTORY_LIMIT: usize = 2000;

/// The arguments of every diff.
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

/// A commit that the working tree is compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// The full id of the commit, or the id of the empty tree.
    pub id: String,
    /// A remark for people on how it was chosen.
    pub note: Option<String>,
    /// The reason if `HEAD` was chosen because the default branch is not known.
    pub unknown: Option<UnknownDefault>,
}

/// The error for an unknown default branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDefault {
    pub why: String,
    /// Instructions to solve the problem.
    pub help: String,
}

impl UnknownDefault {
    /// `named` is the branch from the configuration.
    fn new(named: Option<&str>, remote: Option<&str>) -> Self {
        let why = match (named, remote) {
            (Some(name), _) => format!("there is no branch `{name}`, which `default_branch` names"),
            (None, Some(remote)) => format!(
                "the default branch is not known: `{remote}/HEAD` is not set, and there is no `main` or `master`"
            ),
            (None, None) => {
                "the default branch is not known: there are several branches, and none is `main` or `master`".to_owned()
            }
        };
        let set = match named {
            Some(_) => "name another one in `.linchpin/config.yml`",
            None => "set `default_branch: NAME` in `.linchpin/config.yml`",
        };
        // In a single-branch clone, `git fetch` needs the destination.
        let fetch = |remote: &str, name: &str| format!("`git fetch {remote} {name}:refs/remotes/{remote}/{name}`");
        let help = match (named, remote) {
            (Some(name), Some(remote)) => format!("{set}, or run {}", fetch(remote, name)),
            (None, Some(remote)) => format!("{set}, and run {} if it was not fetched", fetch(remote, "NAME")),
            (_, None) => set.to_owned(),
        };
        Self { why, help }
    }
}

impl Commit {
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
    /// Returns `None` if the directory is not in a git repository. `limit` is the timeout of each call of git.
    pub fn of(root: &Path, limit: Duration) -> Option<Self> {
        let repository = Repository::of(root)?;
        let git = Git::new(root, repository.git_dir(), repository.work_tree(), limit);
        let git = if repository.config_may_run_programs() {
            match filters(&git) {
                Ok(filters) => git.without_filters(filters),
                // The filters are not known, so git must not run.
                Err(fault) => git.failing(fault),
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

    /// The filters in the repository's own configuration, which are disabled.
    pub fn filters(&self) -> Vec<String> {
        self.git.filters().iter().map(|filter| filter.to_string_lossy().into_owned()).collect()
    }

    /// The commit that is checked out; `None` before the first commit.
    pub fn head(&self) -> Option<String> {
        // If `HEAD` contains no id, git may still be able to resolve it.
        self.repository.head().or_else(|| self.commit("HEAD").ok().flatten())
    }

    /// Returns the commit at which the branch left the default branch. `named` is the default branch; if it is `None`,
    /// the default branch is detected.
    pub fn base(&self, named: Option<&str>) -> Result<Commit, GitError> {
        let Some(head) = self.head() else { return self.empty_tree() };
        let Some(tip) = self.tip_of_default(named)? else { return Ok(self.without_default(head, named)) };
        self.fork_point(&head, &tip)
    }

    /// Returns the tip of the default branch.
    pub fn default_tip(&self, named: Option<&str>) -> Result<Commit, GitError> {
        match (self.tip_of_default(named)?, self.head()) {
            (Some(tip), _) => Ok(Commit::at(tip)),
            (None, Some(head)) => Ok(self.without_default(head, named)),
            (None, None) => self.empty_tree(),
        }
    }

    /// Returns `HEAD`, to be used because the default branch is unknown.
    fn without_default(&self, head: String, named: Option<&str>) -> Commit {
        let unknown = UnknownDefault::new(named, self.repository.remote().as_deref());
        Commit { unknown: Some(unknown), ..Commit::at(head) }
    }

    /// Returns the merge base of two commits.
    pub fn fork_point(&self, one: &str, other: &str) -> Result<Commit, GitError> {
        if one == other {
            return Ok(Commit::at(one.to_owned()));
        }
        Ok(match self.git.line(&["merge-base", "--end-of-options", one, other])? {
            Some(id) => Commit::at(id),
            None => Commit {
                note: Some(
                    "no common commit is known (a shallow clone?), so changes are counted from the tip".to_owned(),
                ),
                ..Commit::at(other.to_owned())
            },
        })
    }

    /// Returns the ancestors of `tip` that are not ancestors of `before`, children first; at most the newest
    /// [`HISTORY_LIMIT`].
    pub fn history(&self, tip: &str, before: Option<&str>) -> Result<Vec<CommitWithParents>, GitError> {
        let limit = format!("--max-count={HISTORY_LIMIT}");
        let mut arguments = vec!["rev-list", "--topo-order", "--parents", &limit, "--end-of-options", tip];
        let before = before.map(|before| format!("^{before}"));
        arguments.extend(before.as_deref());
        let printed = self.git.output(&arguments)?;
        let made = |line: &str| {
            let mut ids = line.split(' ').map(str::to_owned);
            Some(CommitWithParents { id: ids.next()?, parents: ids.collect() })
        };
        Ok(String::from_utf8_lossy(&printed).lines().filter_map(made).collect())
    }

    /// Returns the ids of the commits that were made in this repository since the reflog of `HEAD` had this length, or
    /// on other branches since this time; `None` if the reflog of `HEAD` does not reach back so far.
    pub fn commits_made_since(&self, length: Option<u64>, time: Option<i64>) -> Option<BTreeSet<String>> {
        let mut made = self.repository.commits_made_since(length)?;
        made.extend(time.map(|time| self.repository.commits_made_elsewhere_since(time)).unwrap_or_default());
        Some(made)
    }

    /// Returns the full id of a commit that a person names.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GitError> {
        // After `--end-of-options`, a name that begins with a dash is no option.
        self.git.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
    }

    fn tip_of_default(&self, named: Option<&str>) -> Result<Option<String>, GitError> {
        let Some(branch) = named.map(str::to_owned).or_else(|| self.repository.default_branch()) else {
            return Ok(None);
        };
        let remotes = self.repository.remote().map(|remote| format!("refs/remotes/{remote}"));
        for folder in remotes.iter().map(String::as_str).chain(["refs/heads"]) {
            let name = format!("{folder}/{branch}");
            let known = self.repository.resolve(&name);
            let id = match known {
                None if !self.repository.is_certainly_missing(&name) => self.commit(&name)?,
                known => known,
            };
            if id.is_some() {
                return Ok(id);
            }
        }
        Ok(None)
    }

    /// Returns the empty tree, which is the base if the repository has no commit.
    pub fn empty_tree(&self) -> Result<Commit, GitError> {
        let id = self.git.line(&["hash-object", "-t", "tree", "/dev/null"])?;
        let id = id.ok_or_else(|| GitError::Failed("it does not know the empty tree".to_owned()))?;
        Ok(Commit::at(id))
    }

    /// Returns the net changes between a commit and the working tree: committed, staged, unstaged and untracked.
    pub fn changes_since(&self, commit: &str) -> Result<Changes, GitError> {
        let lines = self.diff_with_working_tree(commit)?;
        let ids = self.ids(&lines);
        Ok(self.changes(lines, &ids))
    }

    /// Like `changes_since`, but returns the diff line of each file.
    pub(crate) fn diff_with_working_tree(&self, commit: &str) -> Result<BTreeMap<String, DiffLine>, GitError> {
        let (tracked, untracked) = thread::scope(|scope| {
            let untracked = scope.spawn(|| self.untracked());
            let tracked = self.tracked_diff(commit);
            (tracked, untracked.join())
        });
        let untracked = untracked.unwrap_or_else(|_| Err(GitError::Failed("reading its answer failed".to_owned())))?;
        let mut lines = tracked?;
        for path in untracked {
            match lines.get_mut(&path) {
                // The file was removed from the index, but is still in the working tree.
                Some(line) => {
                    line.status = Status::Modified;
                    line.new_mode.clone_from(&line.old_mode);
                    line.new_id.clear();
                }
                None => {
                    lines.insert(path, new_file());
                }
            }
        }
        Ok(lines)
    }

    /// Returns the net diff of tracked files.
    fn tracked_diff(&self, commit: &str) -> Result<BTreeMap<String, DiffLine>, GitError> {
        let status = status::read(&self.git.output(status::ARGUMENTS)?, &self.prefix());
        let head = match status.head {
            Some(head) => head,
            None => self.empty_tree()?.id,
        };
        let mut lines = if head == commit { BTreeMap::new() } else { self.raw_diff(&[commit, &head, "--"])? };
        // A file that was committed since `commit` and then edited may be unchanged in total.
        let mut uncertain = status.uncertain;
        uncertain.extend(status.lines.keys().filter(|path| lines.contains_key(*path)).cloned());
        lines.extend(status.lines);
        lines.retain(|path, _| !uncertain.contains(path));
        lines.extend(self.content_diff(commit, &uncertain)?);
        Ok(lines)
    }

    /// Returns the diff of these files, based on their contents.
    fn content_diff(&self, commit: &str, paths: &BTreeSet<String>) -> Result<BTreeMap<String, DiffLine>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut between = vec![commit.to_owned(), "--".to_owned()];
        // A name that is not UTF-8 cannot be passed back to git.
        let can_be_named = paths.len() <= NAMES_AT_ONCE && !paths.iter().any(|path| path.contains('\u{fffd}'));
        if can_be_named {
            between.extend(paths.iter().map(|path| format!(":(literal){path}")));
        }
        let mut lines = self.raw_diff(&between.iter().map(String::as_str).collect::<Vec<_>>())?;
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
        let lines = raw_diff::lines(&git.output(&arguments)?);
        Ok(self.changes(lines, &BTreeMap::new()))
    }

    /// Returns the net changes between two commits.
    pub fn changes_between(&self, from: &str, to: &str) -> Result<Changes, GitError> {
        let lines = self.raw_diff(&[from, to, "--"])?;
        Ok(self.changes(lines, &BTreeMap::new()))
    }

    fn changes(&self, lines: BTreeMap<String, DiffLine>, ids: &BTreeMap<String, String>) -> Changes {
        let moved = self.moved(&lines, ids);
        raw_diff::changes(lines, ids, &moved).filtered(|path| self.is_not_written_by_linchpin(path))
    }

    /// Returns the new files that are old ones with another name and other content.
    fn moved(&self, lines: &BTreeMap<String, DiffLine>, ids: &BTreeMap<String, String>) -> BTreeSet<String> {
        let id = |path: &str, line: &DiffLine| ids.get(path).unwrap_or(&line.new_id).clone();
        let gone = raw_diff::deleted_ids(lines);
        let new = lines.iter().filter(|(_, line)| line.status == Status::Added && line.is_file());
        let new: Vec<(&String, String)> = new.map(|(path, line)| (path, id(path, line))).collect();
        // If the content of an old file exists under a new name, the move is already known.
        let found: BTreeSet<&String> = new.iter().map(|(_, id)| id).filter(|id| gone.contains(*id)).collect();
        let old = lines.iter().filter(|(_, line)| line.status == Status::Deleted && line.was_file());
        let old = old.filter(|(_, line)| gone.contains(&line.old_id) && !found.contains(&line.old_id));
        let old: Vec<(&String, &String)> = old.map(|(path, line)| (path, &line.old_id)).collect();
        let new: Vec<(&String, &String)> =
            new.iter().filter(|(_, id)| !gone.contains(id)).map(|(path, id)| (*path, id)).collect();
        if old.is_empty() || new.is_empty() || old.len().max(new.len()) > EDITED_LIMIT {
            return BTreeSet::new();
        }
        let sizes = self.sizes(old.iter().chain(&new).map(|(_, id)| id.as_str()));
        let old_sizes = old.iter().filter_map(|(path, id)| Some(((*path).clone(), *sizes.get(*id)?))).collect();
        let new_sizes = new.iter().filter_map(|(path, id)| {
            let size = sizes.get(*id).copied().or_else(|| regular_file_size(&self.root.join(path)))?;
            Some(((*path).clone(), size))
        });
        let (worth_old, worth_new) = similarity::select_for_reading(&old_sizes, &new_sizes.collect());
        let old: Vec<_> = old.into_iter().filter(|(path, _)| worth_old.contains(*path)).collect();
        let new: Vec<_> = new.into_iter().filter(|(path, _)| worth_new.contains(*path)).collect();
        let ids = old.iter().chain(&new).map(|(_, id)| id.as_str());
        let blobs = self.blobs(ids.filter(|id| sizes.contains_key(*id)));
        let old = old.into_iter().filter_map(|(path, id)| Some((path.clone(), blobs.get(id)?.clone()))).collect();
        let new = new.into_iter().filter_map(|(path, id)| {
            let content = blobs.get(id).cloned().or_else(|| fs::read(self.root.join(path)).ok())?;
            Some((path.clone(), content))
        });
        similarity::moved(&old, &new.collect())
    }

    /// Returns the size of each object that git knows.
    fn sizes<'i>(&self, ids: impl Iterator<Item = &'i str>) -> BTreeMap<String, u64> {
        let is_told = |id: &&str| id.len() >= 40 && !id.bytes().all(|byte| byte == b'0');
        let asked = distinct_lines(ids.filter(is_told));
        // If git fails, an edited file that was moved counts as a new file.
        let printed = self.git.output_of(&["cat-file", "--batch-check=%(objectname) %(objectsize)"], asked);
        let printed = String::from_utf8(printed.unwrap_or_default()).unwrap_or_default();
        let sizes = printed.lines().filter_map(|line| line.split_once(' '));
        sizes.filter_map(|(id, size)| Some((id.to_owned(), size.parse().ok()?))).collect()
    }

    /// Returns the contents of each object.
    fn blobs<'i>(&self, ids: impl Iterator<Item = &'i str>) -> BTreeMap<String, Vec<u8>> {
        let asked = distinct_lines(ids);
        let printed = self.git.output_of(&["cat-file", "--batch=%(objectname) %(objectsize)"], asked);
        raw_diff::blobs(&printed.unwrap_or_default())
    }

    /// False for files that Linchpin itself writes, ignored or not: at the root, and in directories with a policy of
    /// their own.
    pub(crate) fn is_not_written_by_linchpin(&self, path: &str) -> bool {
        let (folder, rest) = match path.strip_prefix(".linchpin/") {
            Some(rest) => ("", rest),
            None => match path.split_once("/.linchpin/") {
                Some(parts) => parts,
                None => return true,
            },
        };
        let is_written = rest.starts_with("tmp/") || rest.starts_with("state.db");
        let policy = || self.root.join(folder).join(".linchpin");
        let has_policy =
            || folder.is_empty() || policy().join("config.yml").exists() || policy().join("rules").is_dir();
        !(is_written && has_policy())
    }

    /// Returns the files that are in no commit and not ignored.
    pub fn untracked(&self) -> Result<Vec<String>, GitError> {
        let output = self.git.output(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        Ok(raw_diff::paths(&output).collect())
    }

    /// Returns the files whose staged state differs from the checked-out commit.
    pub fn staged(&self) -> Result<Vec<String>, GitError> {
        let arguments = ["diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative"];
        Ok(raw_diff::paths(&self.git.output(&arguments)?).collect())
    }

    /// Returns the messages of the commits between two commits.
    pub fn messages(&self, from: &str, to: &str) -> Result<String, GitError> {
        let range = format!("{from}..{to}");
        let output =
            self.git.output(&["log", "--no-show-signature", "--format=%B%x00", "--end-of-options", &range, "--"])?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    fn raw_diff(&self, between: &[&str]) -> Result<BTreeMap<String, DiffLine>, GitError> {
        let mut arguments = vec!["diff"];
        arguments.extend(RAW_DIFF_ARGUMENTS);
        arguments.extend(between);
        Ok(raw_diff::lines(&self.git.output(&arguments)?))
    }

    /// Returns the ids of files that git has not read, if they are needed.
    fn ids(&self, lines: &BTreeMap<String, DiffLine>) -> BTreeMap<String, String> {
        let may_be_moved = lines.values().any(|line| line.status == Status::Deleted)
            && lines.values().filter(|line| line.status == Status::Added).count() <= MOVED_LIMIT;
        let matters = |line: &DiffLine| match line.status {
            Status::Added => may_be_moved,
            Status::Modified => line.new_id.is_empty() || line.may_differ_only_in_mode(),
            Status::Deleted => false,
        };
        let is_plain = |path: &str| fs::symlink_metadata(self.root.join(path)).is_ok_and(|metadata| metadata.is_file());
        let wanted = lines.iter().filter(|(path, line)| matters(line) && line.is_file() && is_plain(path));
        let wanted: Vec<&str> = wanted.map(|(path, _)| path.as_str()).collect();
        self.blob_ids(&wanted)
    }

    /// Returns the blob ids of regular files.
    pub(crate) fn blob_ids(&self, wanted: &[&str]) -> BTreeMap<String, String> {
        let mut ids = BTreeMap::new();
        for paths in wanted.chunks(NAMES_AT_ONCE) {
            let mut arguments = vec!["hash-object", "--"];
            arguments.extend(paths);
            // If one file has just vanished, git fails for all of them; then they count as changed.
            let Ok(output) = self.git.output(&arguments) else { continue };
            let output = String::from_utf8_lossy(&output).into_owned();
            ids.extend(paths.iter().zip(output.lines()).map(|(path, id)| ((*path).to_owned(), id.to_owned())));
        }
        ids
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }
}

/// Returns each id once, one per line.
fn distinct_lines<'i>(ids: impl Iterator<Item = &'i str>) -> String {
    ids.collect::<BTreeSet<_>>().into_iter().flat_map(|id| [id, "\n"]).collect()
}

/// Returns the size of a regular file; `None` for anything else.
fn regular_file_size(path: &Path) -> Option<u64> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Returns the line for an untracked file.
fn new_file() -> DiffLine {
    DiffLine {
        old_mode: "000000".to_owned(),
        new_mode: "100644".to_owned(),
        old_id: String::new(),
        new_id: "0".to_owned(),
        status: Status::Added,
    }
}

/// Returns the names of filters in the repository's own configuration files, which must not run without trust.
fn filters(git: &Git) -> Result<Vec<OsString>, GitError> {
    let arguments = ["config", "--includes", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\."];
    let output = git.query_output(&arguments)?;
    let parts: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let own = parts.chunks_exact(2).filter_map(|pair| match pair {
        [scope, key] if *scope != b"system" && *scope != b"global" && *scope != b"command" => Some(*key),
        _ => None,
    });
    let name = |key: &[u8]| {
        let rest = key.strip_prefix(b"filter.")?;
        let end = rest.iter().rposition(|byte| *byte == b'.')?;
        Some(os_string(rest.get(..end)?))
    };
    let mut filters: Vec<OsString> = own.filter_map(name).collect();
    filters.sort();
    filters.dedup();
    Ok(filters)
}

/// Names in git's output need not be UTF-8.
#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_os_string()
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
