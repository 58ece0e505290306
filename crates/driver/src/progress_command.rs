//! The `progress_command`: a program that receives agents' progress messages. A person configures it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use guard::Environment;
use runner::{StreamedProcess, WatchAction, shim};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Starts the program with the message on stdin, in the background.
pub fn start(command: &str, text: &str, root: PathBuf, environment: Environment) {
    let Ok(words) = shell_words::split(command) else { return };
    let argv: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let stdin = Some(text.as_bytes().to_vec());
    let run = move || {
        let get_variable = |name: &str| environment.get(name).map(OsString::from);
        let process = StreamedProcess {
            argv,
            working_directory: root,
            variables: Vec::new(),
            stdin,
            get_variable: &get_variable,
            idle_timeout: None,
            is_busy: &|| false,
            timeout: Some(TIMEOUT),
            shim: shim::shim_command(),
            on_start: &|_| (),
        };
        // Errors are ignored: the run does not depend on this program.
        drop(process.run(|_, _| (), || WatchAction::Continue));
    };
    drop(thread::Builder::new().spawn(run));
}
