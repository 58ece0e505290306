//! The shim: this binary runs again as a separate process, restricts itself, has the kernel end it when its parent
//! ends, and then replaces itself by the program that is to be started.
//!
//! A process can only restrict itself, and no safe code can run between `fork` and `exec`. So the binary's `main` calls
//! [`run`] before anything else if its first argument is [`SHIM_ARGUMENT`].

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{self, Command};

use crate::landlock;
use crate::not_started::start_error;

/// The first argument of a binary that is called as the shim.
pub const SHIM_ARGUMENT: &str = "__confined";

/// Replaces the list of paths if writes are not limited. It cannot be mistaken for a path, because all paths are
/// absolute.
const ANYWHERE: &str = "anywhere";
/// Separates the paths from the program.
const END_OF_PATHS: &str = "--";
/// The exit code of a shim that could not start the program. The reason follows [`FAILURE_PREFIX`] on its stderr.
const FAILURE_EXIT_CODE: i32 = 125;
const FAILURE_PREFIX: &str = "not started: ";

/// Returns the command that calls this binary as the shim. The binary's `main` must handle [`SHIM_ARGUMENT`]. The
/// command refers to the file that is running now, even if a newer version has replaced the file.
pub fn shim_command() -> Vec<OsString> {
    vec!["/proc/self/exe".into(), SHIM_ARGUMENT.into()]
}

/// Replaces this process by the program. `arguments`: those after [`SHIM_ARGUMENT`].
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ! {
    let why = become_program(arguments.into_iter());
    // If this fails, the reason cannot be reported.
    let _ = writeln!(io::stderr(), "{FAILURE_PREFIX}{why}");
    process::exit(FAILURE_EXIT_CODE)
}

/// Returns the arguments for [`run`]. `writable_paths`: the paths that the program may write; `None` means no limit.
pub(crate) fn shim_arguments(
    writable_paths: Option<Vec<PathBuf>>,
    program: PathBuf,
    arguments: &[OsString],
) -> Vec<OsString> {
    let paths = writable_paths.unwrap_or_else(|| vec![ANYWHERE.into()]).into_iter().map(PathBuf::into_os_string);
    paths.chain([END_OF_PATHS.into(), program.into_os_string()]).chain(arguments.iter().cloned()).collect()
}

/// Returns the reason why the program was not started, if the shim reported one.
pub(crate) fn failure_reason(exit_code: Option<i32>, stderr: &str) -> Option<&str> {
    stderr.strip_prefix(FAILURE_PREFIX).filter(|_| exit_code == Some(FAILURE_EXIT_CODE)).map(str::trim_end)
}

/// Returns only if the program cannot be started, with the reason.
fn become_program(mut arguments: impl Iterator<Item = OsString>) -> String {
    let is_path = |argument: &OsString| argument != OsStr::new(END_OF_PATHS);
    let writable_paths: Vec<PathBuf> = arguments.by_ref().take_while(is_path).map(PathBuf::from).collect();
    let Some(program) = arguments.next() else { return "the command is empty".to_owned() };
    let is_limited = writable_paths != [PathBuf::from(ANYWHERE)];
    if let Err(why) = if is_limited { landlock::restrict_writes(&writable_paths) } else { Ok(()) } {
        return format!("its writes cannot be limited: {why}");
    }
    die_with_parent();
    let mut command = Command::new(&program);
    command.args(arguments);
    start_error(&program, &exec(command))
}

/// Has the kernel kill the program when its parent ends: a parent that is killed cannot end the program itself.
fn die_with_parent() {
    // If this fails, the program runs anyway.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

#[cfg(unix)]
fn exec(mut command: Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(&mut command)
}

#[cfg(not(unix))]
fn exec(_command: Command) -> io::Error {
    io::Error::other("this system cannot replace a process with another")
}
