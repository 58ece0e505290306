//! Shows the progress of a gate's command on stderr: one line when it starts or, on a terminal, a line that is updated.

use std::io::{self, IsTerminal, Write};

use guard::workflow::{GateProgress, RunningCommand};

/// Moves the cursor to the start of the line and deletes the line.
const CLEAR: &str = "\r\u{1b}[2K";
/// The maximum length of an updated line. A line that wraps could not be overwritten.
const MAX_LINE_CHARACTERS: usize = 78;
/// The maximum length of the displayed command, so that the last line of the command's output fits next to it.
const MAX_COMMAND_CHARACTERS: usize = 24;

pub fn show(progress: GateProgress<'_>) {
    let mut stderr = io::stderr();
    // A progress line that cannot be written must not fail the command.
    let _ = match progress {
        GateProgress::Started { command } if !stderr.is_terminal() => writeln!(stderr, "running `{command}`"),
        GateProgress::Started { command } => {
            write!(stderr, "{CLEAR}running `{}`", truncated(command, MAX_LINE_CHARACTERS))
        }
        GateProgress::Running(running) if stderr.is_terminal() => {
            let short = RunningCommand {
                command: store::mask(&truncated(&running.command, MAX_COMMAND_CHARACTERS)).into_static(),
                ..running.clone()
            };
            write!(stderr, "{CLEAR}{}", truncated(&line(&short, crate::commands::now()), MAX_LINE_CHARACTERS))
        }
        GateProgress::Ended if stderr.is_terminal() => write!(stderr, "{CLEAR}"),
        GateProgress::Running(_) | GateProgress::Ended => Ok(()),
    };
    let _ = stderr.flush();
}

/// Returns a line with the command, the time for which it has been running, and its last line of output.
pub fn line(running: &RunningCommand, now: i64) -> String {
    let seconds = u64::try_from(now.saturating_sub(running.started) / 1000).unwrap_or(0);
    let duration = engine::pace::format_duration(seconds);
    let output = if running.last_line.is_empty() { String::new() } else { format!(": {}", running.last_line) };
    format!("running `{}` for {duration}{output}", running.command)
}

/// Returns the first `length` characters of a text, with `…` if there are more.
fn truncated(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
