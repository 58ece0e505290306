//! `explain command`: shows what a shell command would run and do, as far as that is known before it runs.

use path::Access;
use serde_json::{Value, json};
use shell::{self, Effect, Rewrite, RewrittenBranch, Script, SimpleCommand};

use super::Context;
use crate::exit_code::ExitCode;
use crate::problem::CommandOutcome;

#[expect(clippy::unnecessary_wraps, reason = "every command has this shape")]
pub fn run(command: &str, context: &Context) -> CommandOutcome {
    let script = shell::parse(command);
    let parsed = ParsedCommand { effects: script.effects(), rewrites: script.rewrites(), script };
    if context.output.json {
        context.output.value(&parsed.to_json());
    } else {
        parsed.show(context);
    }
    Ok(ExitCode::Done)
}

struct ParsedCommand {
    script: Script,
    effects: Vec<Effect>,
    rewrites: Vec<Rewrite>,
}

impl ParsedCommand {
    fn to_json(&self) -> Value {
        let unknown = self.script.commands.iter().filter(|command| !command.is_known());
        let unknown = unknown.map(|command| format!("`{}` has words that are known only at run time", command.text()));
        let mut gaps: Vec<String> = self.script.gaps.iter().map(ToString::to_string).chain(unknown).collect();
        gaps.dedup();
        let commands = self.script.commands.iter().enumerate();
        let commands: Vec<Value> = commands.map(|(place, command)| self.command_json(place, command)).collect();
        json!({ "commands": commands, "complete": gaps.is_empty(), "gaps": gaps })
    }

    fn command_json(&self, place: usize, command: &SimpleCommand) -> Value {
        let argv: Vec<&str> = command.words().iter().map(|word| word.value.as_deref().unwrap_or(&word.raw)).collect();
        let paths = |access| self.paths(place, access);
        json!({
            "argv": argv, "text": command.text(), "via": command.via(), "elsewhere": command.is_remote(),
            "cwd": command.directories().list(), "reads": paths(Some(Access::Read)), "writes": paths(Some(Access::Write)),
            "deletes": paths(Some(Access::Delete)), "names": paths(None), "rewrites": self.branches(place),
            "runs_output_of": command.provenance.runs_output_of, "interactive": command.provenance.is_interactive,
        })
    }

    fn show(&self, context: &Context) {
        for (place, command) in self.script.commands.iter().enumerate() {
            let lines = self.lines(place, command);
            if command.words().is_empty() && lines.is_empty() {
                continue;
            }
            let unknown = if command.is_known() { "" } else { "   (with words that are known only at run time)" };
            let text = if command.words().is_empty() { "(no program)".to_owned() } else { command.text() };
            context.output.line(format!("{text}{unknown}"));
            for line in lines {
                context.output.line(format!("    {line}"));
            }
        }
        for gap in &self.script.gaps {
            context.output.line(format!("incomplete: {gap}"));
        }
    }

    fn lines(&self, place: usize, command: &SimpleCommand) -> Vec<String> {
        let mut lines = Vec::new();
        if !command.via().is_empty() {
            lines.push(format!("through {}", command.via().join(", ")));
        }
        if command.provenance.is_assumed {
            lines.push("only if that word is empty or names a program that runs others".to_owned());
        }
        match command.directories().list() {
            _ if command.is_remote() => lines.push("somewhere else".to_owned()),
            Some([start]) if start.is_empty() => {}
            Some(directories) => {
                lines.push(format!("in {}", directories_text(directories, command.directories().is_either())));
            }
            None => lines.push("in a folder that is known only at run time".to_owned()),
        }
        let verbs = [
            ("reads", Some(Access::Read)),
            ("writes", Some(Access::Write)),
            ("deletes", Some(Access::Delete)),
            ("names", None),
        ];
        let mut add_line = |verb: &str, objects: &[String]| {
            if !objects.is_empty() {
                lines.push(format!("{verb} {}", objects.join(", ")));
            }
        };
        for (verb, access) in verbs {
            add_line(verb, &self.paths(place, access));
        }
        add_line("rewrites on a remote", &self.branches(place));
        add_line("runs the output of", &command.provenance.runs_output_of);
        if command.provenance.is_interactive {
            lines.push("runs the text that is typed into it".to_owned());
        }
        lines
    }

    /// Returns the paths that the simple command at index `command` accesses, without consecutive duplicates.
    fn paths(&self, command: usize, access: Option<Access>) -> Vec<String> {
        let of_command =
            self.effects.iter().filter(|effect| effect.command_index == Some(command) && effect.access == access);
        let mut paths: Vec<String> =
            of_command.map(|effect| effect.path.clone().unwrap_or_else(|| effect.raw.clone())).collect();
        paths.dedup();
        paths
    }

    fn branches(&self, command: usize) -> Vec<String> {
        let of_command = self.rewrites.iter().filter(|rewrite| rewrite.command_index == command);
        let name = |rewrite: &Rewrite| {
            let name = match &rewrite.branch {
                RewrittenBranch::Named(name) | RewrittenBranch::Matching(name) => name.as_str(),
                RewrittenBranch::Current(_) => "the branch that is checked out",
                RewrittenBranch::All => "all branches",
                RewrittenBranch::Unknown => "a branch that is known only at run time",
            };
            if rewrite.is_certain { name.to_owned() } else { format!("perhaps {name}") }
        };
        of_command.map(name).collect()
    }
}

fn directories_text(directories: &[String], is_either: bool) -> String {
    let text = |directory: &String| if directory.is_empty() { ".".to_owned() } else { directory.clone() };
    let separator = if is_either { ", or in " } else { ", or if that fails in " };
    directories.iter().map(text).collect::<Vec<_>>().join(separator)
}
