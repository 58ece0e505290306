//! How far the command of a gate is, on stderr: one line when it starts, and on a terminal a line that is kept up to date.

use std::io::{self, IsTerminal, Write};

use guard::workflow::{GateProgress, Running};

/// Moves to the start of the line and deletes the line.
const CLEAR: &str = "\r\u{1b}[2K";
/// The longest line that is drawn over. A line that wraps could not be.
const WIDTH: usize = 78;

pub fn show(progress: GateProgress<'_>) {
    let mut stderr = io::stderr();
    // Nobody is stopped by a progress line that cannot be written.
    let _ = match progress {
        GateProgress::Started { command } if !stderr.is_terminal() => writeln!(stderr, "running `{command}`"),
        GateProgress::Started { command } => write!(stderr, "{CLEAR}{}", cut(&format!("running `{command}`"))),
        GateProgress::Running(running) if stderr.is_terminal() => {
            write!(stderr, "{CLEAR}{}", cut(&line(running, super::super::now())))
        }
        GateProgress::Ended if stderr.is_terminal() => write!(stderr, "{CLEAR}"),
        GateProgress::Running(_) | GateProgress::Ended => Ok(()),
    };
    let _ = stderr.flush();
}

/// The command, how long it has been running, and its last line of output.
pub fn line(running: &Running, now: i64) -> String {
    let seconds = u64::try_from(now.saturating_sub(running.started) / 1000).unwrap_or(0);
    let duration = engine::pace::shown_duration(seconds);
    let said = if running.last_line.is_empty() { String::new() } else { format!(": {}", running.last_line) };
    format!("running `{}` for {duration}{said}", running.command)
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}
