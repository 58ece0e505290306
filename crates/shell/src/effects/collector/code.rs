//! Effects of one-liners and scripts in languages other than shell.

use path::Access;

use super::Collector;
use crate::model::Word;
use crate::programs::{Argument, Arguments, Role};
use crate::special_programs::awk;
use crate::special_programs::code_analysis::{self, program_inputs};
use crate::special_programs::interpreter::{is_awk, takes_script_from_stdin};
use crate::special_programs::language::is_readable;

impl Collector<'_> {
    /// Adds the effects of code that the program runs. `word`: the word that contains the code.
    pub(super) fn collect_from_code(&mut self, word: &Word, text: Option<&str>) {
        let program = self.command.program();
        if program.is_some_and(is_awk) {
            let accesses = text.map(awk::read).unwrap_or_default().accesses;
            for (access, path) in accesses.iter().filter(|(_, path)| path.is_some()) {
                self.add_access(path.as_deref(), word, Some(*access));
            }
            // If the awk program computes a path, every path that the program's text mentions may be accessed.
            if accesses.iter().any(|(_, path)| path.is_none()) {
                self.add_mentioned_paths(word);
            }
            return;
        }
        let inputs = program_inputs(self.command);
        let read = program.zip(text).and_then(|(program, text)| code_analysis::analyze(program, text, &inputs));
        let Some(read) = read else {
            // Code that Linchpin cannot parse may access every path that the code mentions.
            return match text {
                Some(text) => self.add_mentioned_paths(&Word::known(text)),
                None => self.add_mentioned_paths(word),
            };
        };
        for (access, path) in read.accesses {
            let glob = path.contains('*');
            // Every deletion counts as recursive: functions that delete one file and functions that delete a directory
            // are not distinguished.
            let is_recursive = access == Access::Delete;
            let word = Word { glob, tilde: word.tilde, ..Word::default() };
            self.add_effect(Some(&path), &word, Some(access), is_recursive);
            self.add_disk_loss(Some(&path), &word, Some(access));
        }
        let unknown = Word { raw: format!("a file that {} names", program.unwrap_or_default()), ..Word::default() };
        for access in read.unknown_accesses {
            self.add_access(None, &unknown, Some(access));
        }
    }

    /// Adds the paths in the arguments of a one-liner that uses its arguments. How the code uses each argument is not
    /// known.
    pub(super) fn collect_from_code_arguments(&mut self, program: &str, arguments: &Arguments) {
        let command = self.command;
        let is_code = |argument: &&Argument| argument.role == Role::Code;
        let code = arguments.with_roles.iter().find(is_code).and_then(|code| command.text_from(code.word, code.from));
        let stdin = command.stdin_text().filter(|_| takes_script_from_stdin(program, arguments, command.words()));
        let names_arguments = |text: &str| text.to_ascii_lowercase().contains("argv") || text.contains("fileinput");
        let uses_arguments = code.or(stdin).is_some_and(names_arguments);
        let first_argument = arguments.with_roles.iter().find(|argument| argument.role == Role::Words);
        if is_readable(program) && uses_arguments {
            first_argument
                .and_then(|first| command.words().get(first.word..))
                .into_iter()
                .flatten()
                .for_each(|word| self.add_mentioned_paths(word));
        }
    }
}
