//! The program between us and another one: this binary once more, which limits itself, sees to it that it ends when we do,
//! and then becomes the other.
//!
//! A process can only limit itself, and between `fork` and `exec` there is no place for safe code. So the binary's `main`
//! calls [`run`] where its first argument is [`WORD`], before anything else is read or done.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{self, Command};

use crate::restriction;

/// The first argument of a binary that is to be the shim.
pub const WORD: &str = "__confined";

/// In the place of paths: it may write anywhere. No path is called so, for all are absolute.
const ANYWHERE: &str = "anywhere";
/// Behind the paths, before the program.
const END_OF_PATHS: &str = "--";
/// How a shim ends that could not become the program, with why behind [`MARK`] on its standard error.
const FAILED: i32 = 125;
const MARK: &str = "not started: ";

/// How this binary is called as the shim, if its `main` knows [`WORD`]. It is the very file that runs now, even where another
/// version has been put in its place.
pub fn own_call() -> Vec<OsString> {
    vec!["/proc/self/exe".into(), WORD.into()]
}

/// Becomes the program. `words` are the arguments behind [`WORD`].
pub fn run(words: impl IntoIterator<Item = OsString>) -> ! {
    let why = become_program(words.into_iter());
    // Nobody is left to be told that this failed.
    let _ = writeln!(io::stderr(), "{MARK}{why}");
    process::exit(FAILED)
}

/// What [`run`] is to be told. `writable`: what the program may write, where that is limited.
pub(crate) fn words(writable: Option<Vec<PathBuf>>, program: PathBuf, arguments: &[OsString]) -> Vec<OsString> {
    let paths = writable.unwrap_or_else(|| vec![ANYWHERE.into()]).into_iter().map(PathBuf::into_os_string);
    paths.chain([END_OF_PATHS.into(), program.into_os_string()]).chain(arguments.iter().cloned()).collect()
}

/// Why the program was not started, where the shim says so.
pub(crate) fn failure(exit_code: Option<i32>, stderr: &str) -> Option<&str> {
    stderr.strip_prefix(MARK).filter(|_| exit_code == Some(FAILED)).map(str::trim_end)
}

/// Only returns with why it did not.
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

/// Whoever started this may be ended before the program is, and nobody would be left to end it in time.
fn die_with_parent() {
    // Where that cannot be said, the program runs all the same.
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
