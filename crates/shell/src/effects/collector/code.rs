//! What program texts in other languages do to files.

use path::Access;

use super::Collector;
use crate::model::Word;
use crate::programs::{Argument, Arguments, Role};
use crate::special_programs::awk;
use crate::special_programs::interpreter::{is_awk, runs_its_input};
use crate::special_programs::language::is_readable;
use crate::special_programs::one_liner::{self, given};

impl Collector<'_> {
    pub(super) fn in_code(&mut self, word: &Word, text: Option<&str>) {
        let program = self.command.program();
        if program.is_some_and(is_awk) {
            let touches = text.map(awk::read).unwrap_or_default().touches;
            for (access, path) in touches.iter().filter(|(_, path)| path.is_some()) {
                self.add(path.as_deref(), word, Some(*access));
            }
            // It is some name among those in the text, or made of them.
            if touches.iter().any(|(_, path)| path.is_none()) {
                self.mentioned(word);
            }
            return;
        }
        let given = given(self.command);
        let read = program.zip(text).and_then(|(program, text)| one_liner::read(program, text, &given));
        let Some(read) = read else {
            // In a language that is not read, every path that stands in the text may be touched.
            return match text {
                Some(text) => self.mentioned(&Word::known(text)),
                None => self.mentioned(word),
            };
        };
        for (access, path) in read.touches {
            let glob = path.contains('*');
            // Nobody asks what kind of thing a function deletes.
            let takes_all = access == Access::Delete;
            let word = Word { glob, tilde: word.tilde, ..Word::default() };
            self.add_deed(Some(&path), &word, Some(access), takes_all);
            self.add_loss(Some(&path), &word, Some(access));
        }
        let unknown = Word { raw: format!("a file that {} names", program.unwrap_or_default()), ..Word::default() };
        for access in read.unknown {
            self.add(None, &unknown, Some(access));
        }
    }

    /// A program text that stands in the command names its arguments without saying which files they are.
    pub(super) fn in_words_of_code(&mut self, program: &str, arguments: &Arguments) {
        let command = self.command;
        let is_code = |argument: &&Argument| argument.role == Role::Code;
        let code = arguments.list.iter().find(is_code).and_then(|code| command.text_from(code.word, code.from));
        let fed = command.given_text().filter(|_| runs_its_input(program, arguments, command.words()));
        let names_words = |text: &str| text.to_ascii_lowercase().contains("argv") || text.contains("fileinput");
        let takes_words = code.or(fed).is_some_and(names_words);
        let own = arguments.list.iter().find(|argument| argument.role == Role::Words);
        if is_readable(program) && takes_words {
            own.and_then(|own| command.words().get(own.word..))
                .into_iter()
                .flatten()
                .for_each(|word| self.mentioned(word));
        }
    }
}
