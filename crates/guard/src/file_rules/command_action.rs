//! Runs commands of file rules. If a command changed files, it is run a second time: if it changes files again, it is
//! not idempotent and would run at every stop.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use engine::file_rules::{CommandAction, FileMatch, Placeholders, RunFor, Status, TriggeringFile};
use engine::rules::Rule;
use policy::{Config, Sandbox};
use runner::{BoundedProcess, PathLocks, ProcessNote, SandboxMode, shim};
use tree::{Snapshot, Tree};

use super::queue::ActionResult;
use crate::Environment;
use crate::project::TmpLayout;

/// The maximum length of file names in one call, well below the limits of operating systems.
const MAX_NAMES_LENGTH: usize = 64 * 1024;
/// The maximum number of concurrent calls.
const MAX_WORKERS: usize = 4;
/// The maximum number of files per call. A call locks all its files.
const MAX_FILES_PER_CALL: usize = 200;
/// The minimum timeout for file locks that other processes hold. Many sessions may stop at the same time.
const MIN_LOCK_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum number of failed calls that are reported together, and the maximum number of bytes of output for each.
const MAX_REPORTED_FAILURES: usize = 8;
const MAX_REPORTED_BYTES: usize = 512;
/// The maximum number of characters of a command that are shown.
const MAX_COMMAND_CHARS: usize = 200;
/// The maximum number of paths in the message about a command that is not idempotent.
const MAX_REPORTED_PATHS: usize = 5;

/// The context in which the commands of a project's rules run.
pub struct Commands<'a> {
    pub environment: &'a Environment,
    pub config: &'a Config,
    pub root: &'a Path,
    /// The project's `tmp` directory.
    pub tmp: &'a Path,
}

/// The result of a rule's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    pub is_passed: bool,
    pub result: ActionResult,
    /// Further notices for the person.
    pub notices: Vec<String>,
}

/// One call of the command.
struct Call {
    words: Vec<OsString>,
    /// The files of this call; empty if the call is for the whole tree.
    files: Vec<String>,
}

impl Call {
    /// The command line, for messages.
    fn text(&self) -> String {
        self.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }
}

/// A call that failed.
#[derive(Debug, Clone)]
struct FailedCall {
    command: String,
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
    why: String,
}

impl FailedCall {
    /// Merges several failures: the exit code of the first, and the output of each.
    fn merge(failures: Vec<Self>) -> Option<Self> {
        let others = failures.len().saturating_sub(1);
        let mut failures = failures.into_iter();
        let mut first = failures.next()?;
        if others == 0 {
            return Some(first);
        }
        first.why = format!("{}, and {others} more failed", first.why);
        for Self { command, stdout, stderr, why, .. } in failures.take(MAX_REPORTED_FAILURES - 1) {
            let _ = write!(
                first.stderr,
                "\n`{}`: {why}\n{}{}",
                shorten(&command),
                last_bytes(&stdout),
                last_bytes(&stderr)
            );
        }
        Some(first)
    }
}

/// The end of one call's output.
fn last_bytes(text: &str) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(MAX_REPORTED_BYTES))..).unwrap_or_default()
}

/// A command shortened for display.
fn shorten(command: &str) -> String {
    match command.char_indices().nth(MAX_COMMAND_CHARS) {
        Some((end, _)) => format!("{}…", command.get(..end).unwrap_or_default()),
        None => command.to_owned(),
    }
}

/// The timeout for locking the files of a call.
fn lock_timeout(action: &CommandAction) -> Duration {
    action.timeout.max(MIN_LOCK_TIMEOUT)
}

impl Commands<'_> {
    /// Runs the command for all matching files that still exist.
    pub fn run(&self, rule: &str, action: &CommandAction, found: &FileMatch) -> CommandResult {
        let calls = calls(action, found, self.root);
        let mut notices = Vec::new();
        let outcome = self.run_checked(action, &calls, &mut notices);
        let (is_passed, failed) = match outcome {
            Ok(()) => (true, None),
            Err(failed) => (false, Some(failed)),
        };
        if let Some(failed) = failed.as_ref().filter(|failed| failed.exit_code == Some(0)) {
            notices.push(format!("rule `{rule}`: {}", failed.why));
        }
        let text = |text: &str| store::mask(text).into_owned();
        let result = ActionResult {
            kind: "command".to_owned(),
            command: Some(failed.as_ref().map_or_else(|| action.text.clone(), |failed| text(&failed.command))),
            exit_code: failed.as_ref().map_or(Some(0), |failed| failed.exit_code),
            output: Some(failed.as_ref().map_or_else(
                || match calls.iter().map(|call| call.files.len()).sum() {
                    0 => "ran, and a second run would change nothing".to_owned(),
                    files => format!("ran for {}, and a second run would change nothing", file_count_text(files)),
                },
                |failed| text(&failed.why),
            )),
            stdout: failed.as_ref().map(|failed| text(&failed.stdout)),
            stderr: failed.as_ref().map(|failed| text(&failed.stderr)),
            tree_digest: None,
        };
        CommandResult { is_passed, result, notices }
    }

    /// An upper limit for the duration: every call may wait for its locks and then use its whole timeout, every call
    /// may run twice, and git runs before, between and after.
    pub fn max_duration(&self, action: &CommandAction, found: &FileMatch) -> Duration {
        let calls = calls(action, found, self.root).len();
        let rounds = u32::try_from(calls.div_ceil(workers(action, calls))).unwrap_or(u32::MAX);
        let call = action.timeout.saturating_add(lock_timeout(action));
        call.saturating_mul(2).saturating_mul(rounds).saturating_add(super::GIT_TIMEOUT * 3)
    }

    fn run_checked(&self, action: &CommandAction, calls: &[Call], notices: &mut Vec<String>) -> Result<(), FailedCall> {
        let command = match calls {
            [only] => only.text(),
            _ => action.text.clone(),
        };
        let failure = |why: String| FailedCall {
            command: command.clone(),
            exit_code: None,
            stdout: String::new(),
            stderr: String::new(),
            why,
        };
        let tree = Tree::of(self.root, super::GIT_TIMEOUT)
            .ok_or_else(|| failure("this is not a git repository".to_owned()))?;
        let fingerprints = || Snapshot::fingerprints(&tree).map_err(|error| failure(error.to_string()));
        let policy_before = self.policy_fingerprints();
        let outcome = self.run_until_stable(action, calls, notices, &failure, &fingerprints);
        // The policy is checked even if the command failed.
        let policy_now = self.policy_fingerprints();
        if policy_now != policy_before {
            let paths = differing_paths(&policy_before, &policy_now).join(", ");
            return Err(FailedCall {
                exit_code: Some(0),
                ..failure(format!("it changed Linchpin's own policy: {paths}"))
            });
        }
        outcome
    }

    fn run_until_stable(
        &self,
        action: &CommandAction,
        calls: &[Call],
        notices: &mut Vec<String>,
        failure: &dyn Fn(String) -> FailedCall,
        fingerprints: &dyn Fn() -> Result<BTreeMap<String, String>, FailedCall>,
    ) -> Result<(), FailedCall> {
        let before = fingerprints()?;
        self.run_all(action, calls, notices)?;
        let after = fingerprints()?;
        if after == before {
            return Ok(());
        }
        self.run_all(action, calls, notices)?;
        let again = fingerprints()?;
        if again == after {
            return Ok(());
        }
        let paths = differing_paths(&after, &again);
        let why = format!("it keeps changing files: it changed {} again", paths.join(", "));
        let failed = FailedCall { exit_code: Some(0), ..failure(why) };
        let is_changed = |file: &String| again.get(file) != after.get(file);
        let culprit = calls.iter().find(|call| call.files.iter().any(is_changed));
        Err(culprit.map_or_else(|| failed.clone(), |call| FailedCall { command: call.text(), ..failed.clone() }))
    }

    /// Runs all calls. Calls for a single file run concurrently; other calls run one after another, because they may
    /// share files.
    fn run_all(&self, action: &CommandAction, calls: &[Call], notices: &mut Vec<String>) -> Result<(), FailedCall> {
        let next = AtomicUsize::new(0);
        let results: Mutex<BTreeMap<usize, Result<Vec<ProcessNote>, FailedCall>>> = Mutex::default();
        thread::scope(|scope| {
            for _ in 0..workers(action, calls.len()) {
                scope.spawn(|| {
                    while let Some((index, call)) = {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        calls.get(index).map(|call| (index, call))
                    } {
                        let outcome = self.run_one(action, call);
                        if let Ok(mut results) = results.lock() {
                            results.insert(index, outcome);
                        }
                    }
                });
            }
        });
        let mut failures = Vec::new();
        for outcome in results.into_inner().unwrap_or_default().into_values() {
            match outcome {
                Ok(notes) => {
                    let texts = notes.iter().map(ToString::to_string);
                    let new: Vec<String> = texts.filter(|text| !notices.contains(text)).collect();
                    notices.extend(new);
                }
                Err(failed) => failures.push(failed),
            }
        }
        match FailedCall::merge(failures) {
            Some(failed) => Err(failed),
            None => Ok(()),
        }
    }

    fn run_one(&self, action: &CommandAction, call: &Call) -> Result<Vec<ProcessNote>, FailedCall> {
        let command = call.text();
        let failure = |why: String| FailedCall {
            command: command.clone(),
            exit_code: None,
            stdout: String::new(),
            stderr: String::new(),
            why,
        };
        let files: Vec<&str> = call.files.iter().map(String::as_str).collect();
        let folder = TmpLayout::of(self.tmp).locks();
        let locks = match files.as_slice() {
            [] => PathLocks::acquire_all(&folder, lock_timeout(action)),
            files => PathLocks::acquire(&folder, files, lock_timeout(action)),
        };
        let _locks = locks.map_err(|error| failure(format!("its files cannot be locked: {error}")))?;
        let root = self.root.to_owned();
        let run = BoundedProcess {
            argv: call.words.clone(),
            working_directory: root.clone(),
            extra_variables: &self.config.commands.env,
            get_variable: &|name| self.environment.get(name).map(OsString::from),
            timeout: action.timeout,
            sandbox: match self.config.commands.sandbox {
                Sandbox::Off => SandboxMode::Off,
                Sandbox::Repo => SandboxMode::Repo { root },
                Sandbox::Require => SandboxMode::Require { root },
            },
            shim: shim::shim_command(),
        };
        let outcome = run.run().map_err(|error| failure(error.to_string()))?;
        if outcome.is_success() {
            return Ok(outcome.notes);
        }
        let why = match outcome.exit_code {
            _ if outcome.timed_out => format!("it was killed after {:?}", action.timeout),
            Some(code) => format!("it failed with exit code {code}"),
            None => "it was killed by a signal".to_owned(),
        };
        let runner::ProcessOutcome { exit_code, stdout, stderr, notes, .. } = outcome;
        let why = notes.iter().fold(why, |why, note| format!("{why}; {note}"));
        Err(FailedCall { command, exit_code, stdout, stderr, why })
    }

    /// Fingerprints of the policy's own files.
    fn policy_fingerprints(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let top = self.root.join(".linchpin");
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let is_state = name == "tmp" || name.to_string_lossy().starts_with("state.db");
                if is_state && folder == top {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else {
                    let relative = path.strip_prefix(self.root).unwrap_or(&path).to_string_lossy().into_owned();
                    files.insert(relative, tree::fingerprint(&path));
                }
            }
        }
        files
    }
}

/// The number of concurrent calls.
fn workers(action: &CommandAction, calls: usize) -> usize {
    match action.run_for {
        RunFor::EachMatch => thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS).min(calls).max(1),
        RunFor::AllMatches => 1,
    }
}

/// The calls for all matching files that still exist. A command that names no file is for the whole tree, so it also
/// runs if files were only deleted.
fn calls(action: &CommandAction, found: &FileMatch, root: &Path) -> Vec<Call> {
    let still_exists = |trigger: &&TriggeringFile| {
        trigger.status != Status::Deleted && root.join(&trigger.path).symlink_metadata().is_ok()
    };
    let triggers: Vec<&TriggeringFile> = found.triggers.iter().filter(still_exists).collect();
    if !names_files(action, found) && (action.run_for == RunFor::AllMatches || triggers.is_empty()) {
        return vec![Call { words: substituted_arguments(action, &[], None, root), files: Vec::new() }];
    }
    match action.run_for {
        RunFor::EachMatch => triggers
            .into_iter()
            .map(|trigger| {
                let files = vec![trigger.path.clone()];
                Call { words: substituted_arguments(action, &files, Some(trigger), root), files }
            })
            .collect(),
        RunFor::AllMatches => batches(&triggers)
            .into_iter()
            .map(|files| Call { words: substituted_arguments(action, &files, None, root), files })
            .collect(),
    }
}

/// True if the command's arguments depend on the files.
fn names_files(action: &CommandAction, found: &FileMatch) -> bool {
    let captured = found.triggers.iter().flat_map(|trigger| trigger.captures.iter().map(|(name, _)| name));
    ["file", "files"].into_iter().chain(captured).any(|name| action.names(name))
}

fn batches(triggers: &[&TriggeringFile]) -> Vec<Vec<String>> {
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut size = 0;
    for trigger in triggers {
        size += trigger.path.len() + 1;
        if let Some(batch) =
            batches.last_mut().filter(|batch| size <= MAX_NAMES_LENGTH && batch.len() < MAX_FILES_PER_CALL)
        {
            batch.push(trigger.path.clone());
        } else {
            batches.push(vec![trigger.path.clone()]);
            size = trigger.path.len() + 1;
        }
    }
    batches
}

/// The arguments of a call. Substituted values are neither split nor searched for placeholders.
fn substituted_arguments(
    action: &CommandAction,
    files: &[String],
    trigger: Option<&TriggeringFile>,
    root: &Path,
) -> Vec<OsString> {
    let mut words = Vec::new();
    for word in &action.words {
        if word == "{files}" {
            words.extend(files.iter().map(|file| OsString::from(argument_that_is_no_flag(file))));
            continue;
        }
        let value = |name: &str| match name {
            "file" => files.first().map(|file| argument_that_is_no_flag(file)),
            "repo_root" => Some(root.to_string_lossy().into_owned()),
            _ => trigger.and_then(|trigger| trigger.captures.get(name)).map(str::to_owned),
        };
        words.push(OsString::from(engine::file_rules::fill_placeholders(word, value)));
    }
    words
}

/// The file name in a form that no program takes for a flag.
fn argument_that_is_no_flag(file: &str) -> String {
    if file.starts_with('-') { format!("./{file}") } else { file.to_owned() }
}

fn differing_paths(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
    keys.filter(|key| one.get(*key) != other.get(*key)).take(MAX_REPORTED_PATHS).map(|key| format!("`{key}`")).collect()
}

fn file_count_text(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// The text for the agent about a command that failed: the command, how it ended, and the end of its output.
pub fn failed_command_text(rule: &Rule, found: &FileMatch, result: &ActionResult) -> String {
    let (title, body) = (rule.display_title(), Placeholders(found).fill(&rule.reason));
    let command = shorten(result.command.as_deref().unwrap_or_default());
    let why = result.output.as_deref().unwrap_or_default();
    let mut text = format!("## {title}\n`{command}`: {why}");
    for stream in [&result.stdout, &result.stderr].into_iter().flatten().map(|stream| stream.trim()) {
        if !stream.is_empty() {
            text.push('\n');
            text.push_str(stream);
        }
    }
    format!("{text}\n\n{}", body.trim()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use path::pattern::Captures;

    use super::*;

    #[test]
    fn the_time_limit_includes_waiting_for_file_locks() {
        let environment = Environment::new(|_| None, "/nowhere".into(), "/nowhere".into());
        let commands = Commands {
            environment: &environment,
            config: &Config::default(),
            root: Path::new("/nowhere"),
            tmp: Path::new("/nowhere"),
        };
        let action = CommandAction {
            text: String::new(),
            words: vec!["make".to_owned()],
            run_for: RunFor::AllMatches,
            timeout: Duration::from_mins(1),
        };
        let trigger = TriggeringFile {
            path: "a".to_owned(),
            status: Status::Added,
            captures: Captures::default(),
            missing: Vec::new(),
            safety: Vec::new(),
        };
        let found = FileMatch { triggers: vec![trigger], ..FileMatch::default() };
        // Two rounds, each with a minute for the lock and a minute for the run.
        assert_eq!(commands.max_duration(&action, &found), Duration::from_mins(4) + super::super::GIT_TIMEOUT * 3);
    }
}
