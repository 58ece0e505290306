//! Runs an observer that is an external program: it gets one request on stdin and prints one answer to stdout.
//!
//! This module handles bytes and timeouts, and knows nothing about rules or variables. The program may fail to start,
//! ignore its stdin, hang, or print garbage: in all these cases, the caller gets an answer or an error within about the
//! time limit.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use engine::observers::BehaviorAnswer;

use crate::Environment;

/// The maximum size of an answer in bytes. A larger answer is an error.
const MAX_ANSWER_SIZE: usize = 64 * 1024;
/// How often the program is polled. This interval is shorter than the time that most programs take to start.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Runs the program and returns its answer. The program gets the environment variables that commands of rules get, and
/// those in `extra_variables`. If the program prints nothing, the answer is empty; any other output must be a JSON
/// answer.
pub fn run(
    exec: &[String],
    request: String,
    root: &Path,
    environment: &Environment,
    extra_variables: &[String],
    timeout: Duration,
) -> Result<BehaviorAnswer, String> {
    let [program, arguments @ ..] = exec else { return Err("it contains no program".to_owned()) };
    if timeout.is_zero() {
        return Err(format!("no time was left to run `{program}`"));
    }
    let deadline = Instant::now() + timeout;
    let mut child = start(program, arguments, root, environment, extra_variables)
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let timeout_error = || format!("`{program}` did not answer within {} ms and was killed", timeout.as_millis());
    if let Some(mut input) = child.stdin.take() {
        // A separate thread writes the request, because the program may never read its stdin.
        thread::spawn(move || drop(input.write_all(request.as_bytes())));
    }
    let Some(bytes) = child.stdout.take().and_then(|output| read_output(output, deadline)) else {
        kill_group(&mut child);
        return Err(timeout_error());
    };
    if bytes.len() > MAX_ANSWER_SIZE {
        kill_group(&mut child);
        return Err(format!("the answer of `{program}` has more than {MAX_ANSWER_SIZE} bytes"));
    }
    let Some(status) = wait(&mut child, deadline) else {
        kill_group(&mut child);
        return Err(timeout_error());
    };
    if !status.success() {
        return Err(format!("`{program}` failed ({status})"));
    }
    parse_answer(&bytes).map_err(|why| format!("the answer of `{program}` {why}"))
}

fn start(
    program: &str,
    arguments: &[String],
    root: &Path,
    environment: &Environment,
    extra_variables: &[String],
) -> std::io::Result<Child> {
    let mut command = Command::new(program_path(program, root, environment));
    command.args(arguments).current_dir(root).env_clear();
    for name in runner::INHERITED_VARIABLES.iter().copied().chain(extra_variables.iter().map(String::as_str)) {
        if let Some(value) = environment.get(name) {
            command.env(name, value);
        }
    }
    // The program gets its own process group, so that its child processes can be killed too.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// The path of the program. `program` may be absolute, begin with `~/`, or be relative to the root. A name without a
/// slash is returned as it is; it is looked up in `PATH` when the program is started.
fn program_path(program: &str, root: &Path, environment: &Environment) -> PathBuf {
    match (program.strip_prefix("~/"), &environment.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if program.contains('/') => root.join(program),
        _ => PathBuf::from(program),
    }
}

/// The program's output, up to one byte more than [`MAX_ANSWER_SIZE`]; `None` if the output has not ended by the
/// deadline.
fn read_output(output: impl Read + Send + 'static, deadline: Instant) -> Option<Vec<u8>> {
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let limit = u64::try_from(MAX_ANSWER_SIZE + 1).unwrap_or(u64::MAX);
        // If reading fails, the output up to that point is used.
        let _ = output.take(limit).read_to_end(&mut bytes);
        bytes
    });
    while !reader.is_finished() {
        if Instant::now() > deadline {
            return None;
        }
        thread::sleep(POLL_INTERVAL);
    }
    reader.join().ok()
}

fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() <= deadline => thread::sleep(POLL_INTERVAL),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn kill_group(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn parse_answer(bytes: &[u8]) -> Result<BehaviorAnswer, String> {
    if bytes.trim_ascii().is_empty() {
        return Ok(BehaviorAnswer::default());
    }
    serde_json::from_slice(bytes)
        .map_err(|error| format!("is not `{{\"set\": {{…}}, \"conditions\": {{…}}}}`: {error}"))
}
