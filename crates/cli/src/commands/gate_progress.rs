//! Shows the progress of a gate's command on stderr: one line when it starts or, on a terminal, a line that is updated.

use std::io::{self, IsTerminal, Write};

use guard::workflow::{GateProgress, RunningCommand};

/// Moves the cursor to the start of the line and deletes the line.
const CLEAR: &str = "\r\u{1b}[2K";
/// The maximum length of an updated line. A line that wraps could not be overwritten.
const WIDTH: usize = 78;
/// The maximum length of the displayed command, which leaves room for its last output.
const COMMAND: usize = 24;

pub fn show(progress: GateProgress<'_>) {
    let mut stderr = io::stderr();
    // A progress line that cannot be written must not fail the command.
    let _ = match progress {
        GateProgress::Started { command } if !stderr.is_terminal() => writeln!(stderr, "running `{command}`"),
        GateProgress::Started { command } => write!(stderr, "{CLEAR}running `{}`", cut(command, WIDTH)),
        GateProgress::Running(running) if stderr.is_terminal() => {
            let short = RunningCommand {
                command: store::mask(&cut(&running.command, COMMAND)).into_static(),
                ..running.clone()
            };
            write!(stderr, "{CLEAR}{}", cut(&line(&short, crate::commands::now()), WIDTH))
        }
        GateProgress::Ended if stderr.is_terminal() => write!(stderr, "{CLEAR}"),
        GateProgress::Running(_) | GateProgress::Ended => Ok(()),
    };
    let _ = stderr.flush();
}

/// The command, how long it has been running, and its last line of output.
pub fn line(running: &RunningCommand, now: i64) -> String {
    let seconds = u64::try_from(now.saturating_sub(running.started) / 1000).unwrap_or(0);
    let duration = engine::pace::format_duration(seconds);
    let said = if running.last_line.is_empty() { String::new() } else { format!(": {}", running.last_line) };
    format!("running `{}` for {duration}{said}", running.command)
}

/// The first `length` characters.
fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
