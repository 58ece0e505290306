//! Runs the commands of file rules. A command that changes files is run a second time. If it changes files again, it
//! counts as failed, because it would change files at every stop.

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

/// The maximum total length of the file names in one call, well below the limits of operating systems.
const MAX_NAMES_LENGTH: usize = 64 * 1024;
/// The maximum number of concurrent calls.
const MAX_WORKERS: usize = 4;
/// The maximum number of files in one call. A call locks all of its files.
const MAX_FILES_PER_CALL: usize = 200;
/// The minimum time to wait for locks of files. It is long, because many sessions may stop at the same time.
const MIN_LOCK_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum number of failed calls that are reported together, and the maximum number of bytes of stdout and of
/// stderr that are reported for each call but the first.
const MAX_REPORTED_FAILURES: usize = 8;
const MAX_REPORTED_BYTES: usize = 512;
/// A displayed command is shortened to this number of characters.
const MAX_COMMAND_CHARS: usize = 200;
/// The maximum number of paths in the message about a command that is not idempotent.
const MAX_REPORTED_PATHS: usize = 5;

/// Runs the commands of a policy's file rules.
pub struct CommandRunner<'a> {
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
    /// Notices for the person.
    pub notices: Vec<String>,
}

/// One call of a rule's command.
struct Call {
    /// The program and its arguments.
    words: Vec<OsString>,
    /// The files of this call; empty if the call is for the whole tree.
    files: Vec<String>,
}

impl Call {
    /// The command line, for messages: of a `shell` action, the script as it is in the rule.
    fn text(&self) -> String {
        match self.words.as_slice() {
            [shell, flag, script, _, ..] if shell == "sh" && flag == "-c" => script.to_string_lossy().into_owned(),
            words => words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "),
        }
    }

    /// Names the files of a call whose command line does not contain them.
    fn files_text(&self) -> String {
        let is_named = self.files.first().is_none_or(|file| self.text().contains(file));
        if is_named { String::new() } else { format!(", for {}", shorten(&self.files.join(", "))) }
    }
}

/// A call that failed.
#[derive(Debug, Clone)]
struct FailedCall {
    command: String,
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
    /// How the call failed: `it failed with exit code 3`.
    why: String,
}

impl FailedCall {
    /// Merges several failures into one, which has the exit code of the first and, up to a limit, the output of each.
    fn merge(failures: Vec<Self>) -> Option<Self> {
        let others = failures.len().saturating_sub(1);
        let mut failures = failures.into_iter();
        let mut first = failures.next()?;
        if others == 0 {
            return Some(first);
        }
        first.why = format!("{} (first of {} failed calls)", first.why, others + 1);
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

/// The end of a call's output.
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

impl CommandRunner<'_> {
    /// Runs the command for all matching files that still exist, or for the whole tree if the command names no file.
    pub fn run(&self, rule: &str, action: &CommandAction, file_match: &FileMatch) -> CommandResult {
        let calls = calls(action, file_match, self.root);
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
            message: Some(failed.as_ref().map_or_else(
                || match calls.iter().map(|call| call.files.len()).sum() {
                    0 => "ran; running it again changes nothing".to_owned(),
                    files => format!("ran for {}; running it again changes nothing", file_count_text(files)),
                },
                |failed| text(&failed.why),
            )),
            stdout: failed.as_ref().map(|failed| text(&failed.stdout)),
            stderr: failed.as_ref().map(|failed| text(&failed.stderr)),
            uncommitted_digest: None,
        };
        CommandResult { is_passed, result, notices }
    }

    /// The maximum duration of [`Self::run`]. Each call may run twice, and each time it may wait for its locks and then
    /// run until its timeout. Git runs before, between and after the calls.
    pub fn max_duration(&self, action: &CommandAction, file_match: &FileMatch) -> Duration {
        let calls = calls(action, file_match, self.root).len();
        let rounds = u32::try_from(calls.div_ceil(workers(action, calls))).unwrap_or(u32::MAX);
        let call = action.timeout.saturating_add(lock_timeout(action));
        call.saturating_mul(2).saturating_mul(rounds).saturating_add(super::GIT_TIMEOUT * 3)
    }

    /// Like [`Self::run_until_stable`], but also fails if the calls changed the policy's own files.
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
        let fingerprints = || Snapshot::current_fingerprints(&tree).map_err(|error| failure(error.to_string()));
        let policy_before = self.policy_fingerprints();
        let outcome = self.run_until_stable(action, calls, notices, &failure, &fingerprints);
        // A change of the policy is reported even if the command failed.
        let policy_now = self.policy_fingerprints();
        if policy_now != policy_before {
            let paths = differing_paths(&policy_before, &policy_now).join(", ");
            return Err(FailedCall {
                exit_code: Some(0),
                ..failure(format!(
                    "the command changed policy files, which a rule's command must not do: {paths}; ask a person to undo the change"
                ))
            });
        }
        outcome
    }

    /// Runs the calls. If they changed files, runs them a second time, and fails if the second time also changed files.
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
        let why = format!(
            "the command changed {} again when it ran a second time; it must leave files unchanged once they are right",
            paths.join(", ")
        );
        let failed = FailedCall { exit_code: Some(0), ..failure(why) };
        let is_changed = |file: &String| again.get(file) != after.get(file);
        let changing_call = calls.iter().find(|call| call.files.iter().any(is_changed));
        Err(changing_call.map_or_else(|| failed.clone(), |call| FailedCall { command: call.text(), ..failed.clone() }))
    }

    /// Runs all calls. Calls for a single file run concurrently. Other calls run one after another, because they may
    /// change the same files.
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

    /// Locks the files of a call and runs it.
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
        let directory = TmpLayout::of(self.tmp).locks();
        let locks = match files.as_slice() {
            [] => PathLocks::acquire_all(&directory, lock_timeout(action)),
            files => PathLocks::acquire(&directory, files, lock_timeout(action)),
        };
        let _locks = locks.map_err(|error| failure(format!("its files cannot be locked: {error}")))?;
        let root = self.root.to_owned();
        let process = BoundedProcess {
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
        let outcome = process.run().map_err(|error| failure(error.to_string()))?;
        if outcome.is_success() {
            return Ok(outcome.notes);
        }
        let why = match outcome.exit_code {
            _ if outcome.timed_out => format!("it was killed after {:?}", action.timeout),
            Some(code) => format!("it failed with exit code {code}"),
            None => "it was killed by a signal".to_owned(),
        };
        let why = why + &call.files_text();
        let runner::ProcessOutcome { exit_code, stdout, stderr, notes, .. } = outcome;
        let why = notes.iter().fold(why, |why, note| format!("{why}; {note}"));
        Err(FailedCall { command, exit_code, stdout, stderr, why })
    }

    /// The fingerprints of the policy's own files, by path.
    fn policy_fingerprints(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let top = self.root.join(".linchpin");
        let mut directories = vec![top.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let is_state = name == "tmp" || name.to_string_lossy().starts_with("state.db");
                if is_state && directory == top {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    directories.push(path);
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

/// The calls for all matching files that still exist. A command that names no file runs for the whole tree, even if the
/// matching files were deleted.
fn calls(action: &CommandAction, file_match: &FileMatch, root: &Path) -> Vec<Call> {
    let still_exists = |trigger: &&TriggeringFile| {
        trigger.status != Status::Deleted && root.join(&trigger.path).symlink_metadata().is_ok()
    };
    let triggers: Vec<&TriggeringFile> = file_match.triggers.iter().filter(still_exists).collect();
    if !names_files(action, file_match) && (action.run_for == RunFor::AllMatches || triggers.is_empty()) {
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
fn names_files(action: &CommandAction, file_match: &FileMatch) -> bool {
    let captured = file_match.triggers.iter().flat_map(|trigger| trigger.captures.iter().map(|(name, _)| name));
    ["file", "files"].into_iter().chain(captured).any(|name| action.has_placeholder(name))
}

/// Divides the files into groups, one for each call.
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

/// The program and arguments of a call. A value in place of a placeholder is not split into words, and placeholders in
/// it are not replaced.
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

/// The file name in a form that programs do not read as a flag.
fn argument_that_is_no_flag(file: &str) -> String {
    if file.starts_with('-') { format!("./{file}") } else { file.to_owned() }
}

/// The first paths whose fingerprints differ, for messages.
fn differing_paths(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
    keys.filter(|key| one.get(*key) != other.get(*key)).take(MAX_REPORTED_PATHS).map(|key| format!("`{key}`")).collect()
}

fn file_count_text(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// The text for the agent about a rule whose command failed: the command, how it ended, the end of its output, and the
/// rule's reason.
pub fn failed_command_text(rule: &Rule, file_match: &FileMatch, result: &ActionResult) -> String {
    let (title, body) = (rule.display_title(), Placeholders(file_match).fill(&rule.reason));
    let command = shorten(result.command.as_deref().unwrap_or_default());
    let why = result.message.as_deref().unwrap_or_default();
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
        let command_runner = CommandRunner {
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
            missing_files: Vec::new(),
            safety: Vec::new(),
        };
        let file_match = FileMatch { triggers: vec![trigger], ..FileMatch::default() };
        // Two rounds, each with a minute for the lock and a minute for the run.
        assert_eq!(
            command_runner.max_duration(&action, &file_match),
            Duration::from_mins(4) + super::super::GIT_TIMEOUT * 3
        );
    }
}
