//! Effects of line-editor scripts other than editing text: `ed`, `ex` and `vim -c`.

use path::Access;

use crate::model::SimpleCommand;
use crate::programs::{Argument, Arguments, Role};
use crate::special_programs::command_settings::code_of_setting;
use crate::syntax::quoting::quoted;

/// The files and commands in a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ExScript {
    pub(crate) accesses: Vec<(Access, String)>,
    /// Shell scripts that the script runs.
    pub(crate) shell_scripts: Vec<String>,
    /// True if the script opens a shell.
    pub(crate) opens_shell: bool,
    /// The file that is being edited, if the script names it.
    edited: Option<String>,
}

/// True if the program runs scripts of a line editor.
pub(crate) fn is_editor(program: &str) -> bool {
    matches!(program, "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "view")
}

/// Returns the scripts that an editor runs: its `-c` and `+COMMAND` arguments as one script, its stdin, and its script
/// file.
pub(crate) fn scripts(command: &SimpleCommand, arguments: &Arguments) -> Vec<String> {
    if !command.program().is_some_and(is_editor) {
        return Vec::new();
    }
    let text = |argument: &Argument| {
        let text = command.value_or_placeholder_from(argument.word, argument.from)?;
        let is_command = argument.role == Role::Setting || (argument.role == Role::Edit && text.starts_with('+'));
        is_command.then_some(text)
    };
    let from_arguments: Vec<&str> = arguments.with_roles.iter().filter_map(text).collect();
    let from_input = command.stdin_text().into_iter().chain(command.script_text()).map(str::to_owned);
    [from_arguments.join("\n")].into_iter().chain(from_input).filter(|script| !script.is_empty()).collect()
}

/// True if an editor runs a script that opens a shell.
pub(crate) fn opens_shell(command: &SimpleCommand) -> bool {
    let scripts = command.arguments().into_iter().flat_map(|arguments| scripts(command, arguments));
    scripts.into_iter().any(|script| read(&script).opens_shell)
}

/// Reads a script with one command per line. The lines between `a` and `.` are text.
pub(crate) fn read(script: &str) -> ExScript {
    let mut found = ExScript::default();
    let mut is_text = false;
    for line in script.lines() {
        if is_text {
            is_text = line != ".";
            continue;
        }
        let command = without_address(line);
        is_text = matches!(command, "a" | "i" | "c" | "append" | "insert" | "change");
        found.command(command);
    }
    found
}

impl ExScript {
    fn command(&mut self, command: &str) {
        let command = command.trim_start_matches("silent!").trim_start_matches("silent").trim_start_matches([' ', ':']);
        if let Some(text) = command.strip_prefix('!') {
            self.shell_scripts.push(text.to_owned());
            return;
        }
        if let Some((_, text)) = command.split_once("system(") {
            self.shell_scripts.push(text.trim_matches(['"', '\'', ')', ' ']).to_owned());
            return;
        }
        if let Some((_, text)) = command.split_once("delete(") {
            let path = text.trim_start_matches(['"', '\'']).split(['"', '\'']).next();
            self.accesses.extend(path.map(|path| (Access::Delete, path.to_owned())));
            return;
        }
        if let Some((language, code)) = code_of_setting("ex", command) {
            let flag = if language == "python3" { "-c" } else { "-e" };
            self.shell_scripts.push(format!("{language} {flag} {}", quoted(code)));
            return;
        }
        let length = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
        let (name, rest) = command.split_at(length);
        let file = rest.strip_prefix('!').unwrap_or(rest).trim();
        // After a space, `!` starts a shell command: `:w !cmd`, `:r !cmd`. For `r`, no space is needed, because `r!`
        // has no other meaning.
        let is_read = matches!(name, "r" | "read");
        let run = file.strip_prefix('!').filter(|_| rest.starts_with(' '));
        if let Some(text) = run.or_else(|| rest.strip_prefix('!').filter(|_| is_read)) {
            self.shell_scripts.push(text.to_owned());
            return;
        }
        if matches!(name, "exe" | "execute") {
            return self.command(rest.trim_matches([' ', '"', '\'']));
        }
        match name {
            "sh" | "shell" | "stop" | "suspend" => self.opens_shell = true,
            "ter" | "term" | "terminal" | "te" => {
                self.opens_shell |= file.is_empty();
                self.shell_scripts.extend(Some(file.to_owned()).filter(|text| !text.is_empty()));
            }
            "w" | "W" | "write" | "wq" | "x" | "xit" | "up" | "update" | "sav" | "saveas" | "wn" | "wa" => {
                let file = Some(file.trim_start_matches(">>").trim()).filter(|file| !file.is_empty());
                let target = file.map(str::to_owned).or_else(|| self.edited.clone());
                self.accesses.extend(target.map(|target| (Access::Write, target)));
            }
            "r" | "read" | "so" | "source" if !file.is_empty() => self.accesses.push((Access::Read, file.to_owned())),
            "e" | "E" | "edit" | "f" | "file" | "sp" | "split" | "vs" | "vsplit" | "tabe" | "tabedit" | "new"
                if !file.is_empty() =>
            {
                self.accesses.push((Access::Read, file.to_owned()));
                self.edited = Some(file.to_owned());
            }
            _ => {}
        }
    }
}

/// Removes an address: `1,$`, `%`, `/re/`, `g/re/`.
fn without_address(line: &str) -> &str {
    let mut rest = line.trim_start_matches([':', ' ', '+']);
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " ,;.$%+-".contains(c));
        let pattern = trimmed.strip_prefix("g/").or_else(|| trimmed.strip_prefix("v/")).or(trimmed.strip_prefix('/'));
        match pattern.and_then(|pattern| pattern.split_once('/')) {
            Some((_, after)) => rest = after,
            None => return trimmed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let ExScript { accesses, shell_scripts, .. } = read(script);
        let accesses = accesses.iter().map(|(access, path)| format!("{access:?} {path}"));
        accesses.chain(shell_scripts.iter().map(|run| format!("runs {run}"))).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn files_and_commands() {
        let cases = [
            ("%s/a/b/g\nwq", ""),
            (":w", ""),
            ("w! out.txt", "Write out.txt"),
            ("1,$w >> out.txt", "Write out.txt"),
            ("g/x/w out.txt", "Write out.txt"),
            (":e x.md\n:%d\n:wq", "Read x.md, Write x.md"),
            ("$r .env", "Read .env"),
            ("r !ls -l", "runs ls -l"),
            ("%!sort", "runs sort"),
            ("!ls", "runs ls"),
            ("silent! !ls", "runs ls"),
            ("call system('ls')", "runs ls"),
            ("a\nw out.txt\n!ls\n.\nq", ""),
        ];
        for (script, expected) in cases {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
