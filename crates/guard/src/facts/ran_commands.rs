//! The commands that a session has run, for `command_ran()`.

use engine::facts::RanCommand;

/// The maximum number of earlier shell calls whose commands `command_ran()` considers.
pub const MAX_SHELL_CALLS: usize = 2_000;

/// The simple commands in a recorded shell call. A command with wrappers such as `sudo` is returned without its
/// wrappers, and also with them.
pub fn simple_commands(call: &store::RecordedCommand) -> Vec<RanCommand> {
    let script = shell::parse(&call.text);
    let succeeded = call.succeeded == Some(true) && shell::every_command_must_succeed(&call.text, &script);
    let texts = script.texts().chain(script.texts_with_wrappers());
    texts.map(|text| RanCommand { time: call.time, text, succeeded }).collect()
}

#[cfg(test)]
mod tests {
    use super::simple_commands;
    use store::{EntryId, RecordedCommand};

    #[test]
    fn a_command_has_run_with_and_without_its_wrappers() {
        let text = "sudo uv run pytest -q && $SUDO make".to_owned();
        let call = RecordedCommand { event: EntryId(1), time: 1, text, has_ended: true, succeeded: Some(true) };
        let texts: Vec<String> = simple_commands(&call).into_iter().map(|command| command.text).collect();
        assert_eq!(texts, ["pytest -q", "$SUDO make", "uv run pytest -q", "sudo uv run pytest -q"]);
        assert!(simple_commands(&call).iter().all(|command| command.succeeded));
    }
}
