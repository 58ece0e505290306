//! The facts about a project's git repository that rules may ask for.
//!
//! `HEAD` and branches are read from git's own files, because a hook has no time to start a process. If they are in a
//! reftable, which only git can read, `git` is run instead. `dirty` also runs `git`, but only if a rule asks for it,
//! and only if the repository's own configuration cannot make git run other programs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::Git;

/// The maximum size of a configuration file; larger than any real one.
const MAX_CONFIG_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum size of `packed-refs`; enough for a million branches.
const MAX_PACKED_REFS_BYTES: u64 = 128 * 1024 * 1024;
/// The timeout of a call of git: half of the default deadline of a hook.
const GIT_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Repository {
    work_tree: PathBuf,
    git_dir: PathBuf,
    /// The directory that contains the branches. It differs from `git_dir` in a linked working tree.
    common_dir: PathBuf,
}

impl Repository {
    /// Finds the repository that contains a directory.
    pub fn of(directory: &Path) -> Option<Self> {
        // Like git, ignores a directory named `.git` that has no `HEAD`.
        let is_git_entry = |dot_git: &Path| dot_git.is_file() || dot_git.join("HEAD").exists();
        let work_tree = directory.ancestors().find(|ancestor| is_git_entry(&ancestor.join(".git")))?;
        let dot_git = work_tree.join(".git");
        let git_dir = if dot_git.is_dir() {
            dot_git
        } else {
            let text = read_small_file(&dot_git)?;
            work_tree.join(text.strip_prefix("gitdir:")?.trim())
        };
        let common_dir = read_small_file(&git_dir.join("commondir"))
            .map_or_else(|| git_dir.clone(), |common| git_dir.join(common.trim()));
        Some(Self { work_tree: work_tree.to_owned(), git_dir, common_dir })
    }

    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The branch that is checked out; `None` if `HEAD` is detached.
    pub fn branch(&self) -> Option<String> {
        if self.uses_reftable() {
            return self.git_line(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
        }
        let head = read_small_file(&self.git_dir.join("HEAD"))?;
        head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// The commit that is checked out; `None` before the first commit.
    pub fn head(&self) -> Option<String> {
        if self.uses_reftable() {
            return self.resolve("HEAD");
        }
        let head = read_small_file(&self.git_dir.join("HEAD"))?;
        let head = head.trim();
        head.strip_prefix("ref: ").map_or_else(|| parse_object_id(head), |name| self.resolve(name))
    }

    /// The default branch of the remote; otherwise `main` or `master` if one of them exists; otherwise the only branch.
    pub fn default_branch(&self) -> Option<String> {
        let remote = self.remote();
        let remote_default = remote.as_deref().and_then(|remote| self.remote_head_branch(remote));
        let remote_prefix = remote.map(|remote| format!("refs/remotes/{remote}/"));
        let mut prefixes = remote_prefix.into_iter().chain(["refs/heads/".to_owned()]);
        let conventional_names = ["main", "master"];
        let exists = |prefix: &str, name: &&str| self.resolve(&format!("{prefix}{name}")).is_some();
        let mut conventional =
            || prefixes.find_map(|prefix| conventional_names.into_iter().find(|name| exists(&prefix, name)));
        remote_default.or_else(|| conventional().map(str::to_owned)).or_else(|| self.only_branch())
    }

    /// The branch that `HEAD` of a remote points to.
    fn remote_head_branch(&self, remote: &str) -> Option<String> {
        let head = format!("refs/remotes/{remote}/HEAD");
        let name = if self.uses_reftable() {
            self.git_line(&["symbolic-ref", "--quiet", &head])?
        } else {
            read_small_file(&self.common_dir.join(&head))?.trim().strip_prefix("ref: ")?.to_owned()
        };
        name.strip_prefix(&format!("refs/remotes/{remote}/")).map(str::to_owned)
    }

    /// The remote `origin`, or the only remote.
    pub fn remote(&self) -> Option<String> {
        let config = read_up_to(&self.common_dir.join("config"), MAX_CONFIG_BYTES).unwrap_or_default();
        let sections = config.lines().filter_map(|line| line.trim().strip_prefix("[remote \"")?.split_once("\"]"));
        let mut names: BTreeSet<String> = sections.map(|(name, _)| name.to_owned()).collect();
        let fetched = fs::read_dir(self.common_dir.join("refs/remotes")).into_iter().flatten().flatten();
        names.extend(
            fetched.filter(|entry| entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok()),
        );
        names.take("origin").or_else(|| names.pop_first().filter(|_| names.is_empty()))
    }

    /// The only branch of a repository without remote branches.
    fn only_branch(&self) -> Option<String> {
        let mut names = BTreeSet::new();
        if self.uses_reftable() {
            let listed = ["for-each-ref", "--count=2", "--format=%(refname)", "refs/heads", "refs/remotes"];
            names.extend(self.git_line(&listed)?.lines().map(str::to_owned));
        } else {
            let packed = self.common_dir.join("packed-refs");
            // If the file is too large, it is unknown whether there is only one branch.
            let packed = if packed.exists() { read_up_to(&packed, MAX_PACKED_REFS_BYTES)? } else { String::new() };
            let packed = packed.lines().filter_map(|line| line.split_once(' ')).map(|(_, name)| name);
            let is_branch = |name: &&str| name.starts_with("refs/heads/") || name.starts_with("refs/remotes/");
            names.extend(packed.filter(is_branch).take(2).map(str::to_owned));
            for directory in ["refs/heads", "refs/remotes"] {
                self.add_loose_refs(directory, &mut names);
            }
        }
        let mut names = names.into_iter();
        let only = names.next().filter(|_| names.next().is_none())?;
        only.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// Adds the names of loose refs, which are files in this directory. Stops when `names` contains two names.
    fn add_loose_refs(&self, directory: &str, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(self.common_dir.join(directory)).into_iter().flatten().flatten() {
            if names.len() > 1 {
                return;
            }
            let name = format!("{directory}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.add_loose_refs(&name, names);
            } else {
                names.insert(name);
            }
        }
    }

    /// Returns the id of the commit that a full ref name (`refs/heads/main`, `HEAD`) points to.
    pub fn resolve(&self, ref_name: &str) -> Option<String> {
        if self.uses_reftable() {
            return self.git_line(&[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &format!("{ref_name}^{{commit}}"),
            ]);
        }
        if let Some(text) = read_small_file(&self.common_dir.join(ref_name)) {
            return parse_object_id(text.trim());
        }
        let packed = read_up_to(&self.common_dir.join("packed-refs"), MAX_PACKED_REFS_BYTES)?;
        packed
            .lines()
            .find_map(|line| line.split_once(' ').filter(|(_, name)| *name == ref_name))
            .and_then(|(text, _)| parse_object_id(text))
    }

    /// True if the ref certainly does not exist. A ref whose file contains no id possibly exists, because the file can
    /// name another ref.
    pub fn is_certainly_missing(&self, ref_name: &str) -> bool {
        let packed = self.common_dir.join("packed-refs");
        // If the file is too large, nothing is certain, because only git can read it.
        let is_fully_read = !packed.exists() || read_up_to(&packed, MAX_PACKED_REFS_BYTES).is_some();
        is_fully_read && !self.common_dir.join(ref_name).exists() && self.resolve(ref_name).is_none()
    }

    /// True if refs are in a reftable, which only git can read.
    fn uses_reftable(&self) -> bool {
        self.common_dir.join("reftable").exists()
    }

    fn git_line(&self, arguments: &[&str]) -> Option<String> {
        Git::new(&self.work_tree, &self.git_dir, &self.work_tree, GIT_TIMEOUT).line(arguments).ok()?
    }

    /// True if the repository's own configuration could make `git status` run a program: it contains a filter or an
    /// include, or cannot be read.
    pub fn config_may_run_programs(&self) -> bool {
        let config_files = [
            self.common_dir.join("config"),
            self.common_dir.join("config.worktree"),
            self.git_dir.join("config.worktree"),
        ];
        config_files.iter().any(|file| match read_up_to(file, MAX_CONFIG_BYTES).map(|text| text.to_lowercase()) {
            Some(text) => text.contains("[filter") || text.contains("[include"),
            // Git may be able to read a file that this process cannot read. Only a missing file certainly runs nothing.
            None => !matches!(fs::symlink_metadata(file), Err(error) if error.kind() == io::ErrorKind::NotFound),
        })
    }

    /// The number of commits on `HEAD` since a time, in seconds since 1970; `None` if git fails or does not answer in
    /// time. `before` is a commit that existed at that time: the commit itself and its ancestors are not counted.
    pub fn count_commits_since(&self, time: i64, before: Option<&str>) -> Option<u32> {
        let git = Git::new(&self.work_tree, &self.git_dir, &self.work_tree, GIT_TIMEOUT);
        // Without any commit, `git rev-list` would fail.
        let Some(_) = self.head() else { return Some(0) };
        let since = format!("--since=@{time}");
        let count = |more: &[&str]| git.line(&[&["rev-list", "--count", &since, "HEAD"], more].concat()).ok().flatten();
        // If the commit `before` no longer exists, the commits are selected only by their time.
        let before = before.and_then(parse_object_id).map(|before| format!("^{before}"));
        let line = before.and_then(|before| count(&[&before])).or_else(|| count(&[]))?;
        line.trim().parse().ok()
    }

    /// True if anything differs from `HEAD`, including untracked files. `None` if the repository's configuration could
    /// make git run other programs, or if git fails or does not answer in time.
    pub fn is_dirty(&self) -> Option<bool> {
        if self.config_may_run_programs() {
            return None;
        }
        let git = Git::new(&self.work_tree, &self.git_dir, &self.work_tree, GIT_TIMEOUT);
        let arguments = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty"];
        git.output(&arguments).ok().map(|output| !output.is_empty())
    }
}

/// Returns the string if it is the full id of an object. Any other string must not be passed to git, because git could
/// interpret it as an option.
pub(crate) fn parse_object_id(text: &str) -> Option<String> {
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

/// Reads at most 4 KiB of one of git's own small files.
fn read_small_file(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular_file(path)?.take(4096).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// Reads a file in any encoding; `None` if it is larger than the limit.
fn read_up_to(path: &Path, limit: u64) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular_file(path)?.take(limit + 1).read_to_end(&mut bytes).ok()?;
    let is_complete = u64::try_from(bytes.len()).is_ok_and(|length| length <= limit);
    is_complete.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens a regular file. Opening a pipe could block forever, and a device has no end.
fn open_regular_file(path: &Path) -> Option<fs::File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    fs::File::open(path).ok()
}
