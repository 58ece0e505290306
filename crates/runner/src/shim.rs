//! The program between this process and another one: this binary, started again, which restricts itself, arranges to be
//! ended when its parent ends, and then replaces itself by the other program.
//!
//! A process can only restrict itself, and no safe code can run between `fork` and `exec`. So the binary's `main` calls
//! [`run`] if its first argument is [`WORD`], before anything else is read or done.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{self, Command};

use crate::restriction;

/// The first argument of a binary that is called as the shim.
pub const WORD: &str = "__confined";

/// Replaces the list of paths if writes are not limited. No path has this form, as all are absolute.
const ANYWHERE: &str = "anywhere";
/// Separates the paths from the program.
const END_OF_PATHS: &str = "--";
/// The exit code of a shim that could not start the program. The reason follows [`FAILURE_PREFIX`] on its stderr.
const FAILED: i32 = 125;
const FAILURE_PREFIX: &str = "not started: ";

/// Returns the command that calls this binary as the shim, if its `main` handles [`WORD`]. It is the file that is
/// running now, even if another version has replaced it.
pub fn own_call() -> Vec<OsString> {
    vec!["/proc/self/exe".into(), WORD.into()]
}

/// Replaces this process by the program. `words` are the arguments behind [`WORD`].
pub fn run(words: impl IntoIterator<Item = OsString>) -> ! {
    let why = become_program(words.into_iter());
    // If this fails, the reason cannot be reported.
    let _ = writeln!(io::stderr(), "{FAILURE_PREFIX}{why}");
    process::exit(FAILED)
}

/// Returns the arguments for [`run`]. `writable`: the paths that the program may write, if they are limited.
pub(crate) fn words(writable: Option<Vec<PathBuf>>, program: PathBuf, arguments: &[OsString]) -> Vec<OsString> {
    let paths = writable.unwrap_or_else(|| vec![ANYWHERE.into()]).into_iter().map(PathBuf::into_os_string);
    paths.chain([END_OF_PATHS.into(), program.into_os_string()]).chain(arguments.iter().cloned()).collect()
}

/// Returns the reason why the program was not started, if the shim reported one.
pub(crate) fn failure(exit_code: Option<i32>, stderr: &str) -> Option<&str> {
    stderr.strip_prefix(FAILURE_PREFIX).filter(|_| exit_code == Some(FAILED)).map(str::trim_end)
}

/// Returns only if it fails, with the reason.
fn become_program(mut words: impl Iterator<Item = OsString>) -> String {
    let is_path = |word: &OsString| word != OsStr::new(END_OF_PATHS);
    let writable: Vec<PathBuf> = words.by_ref().take_while(is_path).map(PathBuf::from).collect();
    let Some(program) = words.next() else { return "it names no program".to_owned() };
    let is_limited = writable != [PathBuf::from(ANYWHERE)];
    if let Err(why) = if is_limited { restriction::enter(&writable) } else { Ok(()) } {
        return format!("what it may write cannot be limited: {why}");
    }
    die_with_parent();
    let mut command = Command::new(program);
    command.args(words);
    replace(command)
}

/// The parent may be killed before the program ends. Then nothing would end the program in time.
fn die_with_parent() {
    // If this fails, the program runs anyway.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

#[cfg(unix)]
fn replace(mut command: Command) -> String {
    std::os::unix::process::CommandExt::exec(&mut command).to_string()
}

#[cfg(not(unix))]
fn replace(_command: Command) -> String {
    "a process cannot become another here".to_owned()
}
