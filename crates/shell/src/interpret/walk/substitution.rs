//! Command substitutions and process substitutions.

use brush_parser::ast::{ProcessSubstitutionKind, SubshellCommand};

use super::Walker;
use super::words::process_word;
use crate::interpret::printed::MAX_WAYS;
use crate::interpret::state::Value;
use crate::model::Word;

impl Walker<'_> {
    /// The word that stands for it, with what it prints, where that is known.
    pub(super) fn process(&mut self, subshell: &SubshellCommand, kind: &ProcessSubstitutionKind) -> Word {
        let (input, output) = (self.streams.input.take(), std::mem::take(&mut self.streams.output));
        let (found, meaning) = (std::mem::take(&mut self.streams.found), self.streams.meaning.take());
        self.streams.listeners += 1;
        self.in_new_scope(|walker| walker.deeper(|walker| walker.list(&subshell.list)));
        self.streams.listeners -= 1;
        (self.streams.input, self.streams.meaning) = (input, meaning);
        let given_paths = std::mem::replace(&mut self.streams.found, found);
        let printed = std::mem::replace(&mut self.streams.output, output);
        let possible: Vec<&str> = printed.possible().collect();
        let assumed = self.state.variables.assumes.and_then(|number| possible.get(number).or(possible.last()).copied());
        self.alternatives.possible_texts = self.alternatives.possible_texts.max(possible.len());
        Word { given: printed.sure().or(assumed).map(str::to_owned), given_paths, ..process_word(kind) }
    }

    /// Walks the text of a command substitution, and returns what it prints, where that is known.
    pub(super) fn substitution(&mut self, script: &str) -> Option<Value> {
        let (input, output) = (self.streams.input.take(), std::mem::take(&mut self.streams.output));
        let (found, meaning) = (std::mem::take(&mut self.streams.found), self.streams.meaning.take());
        // `$(< file)` prints it.
        let file = script.trim().strip_prefix('<').map(str::trim);
        let shown =
            file.filter(|file| !file.contains(|letter: char| letter.is_whitespace() || "<>&;|(".contains(letter)));
        let shown = shown.map(|file| format!("cat {file}"));
        let script = shown.as_deref().unwrap_or(script);
        self.streams.listeners += 1;
        self.in_new_scope(|walker| walker.deeper(|walker| walker.text(script)));
        self.streams.listeners -= 1;
        let meaning = std::mem::replace(&mut self.streams.meaning, meaning);
        let printed = std::mem::replace(&mut self.streams.output, output);
        let found = std::mem::replace(&mut self.streams.found, found);
        self.streams.input = input;
        // Shells leave NULs out.
        let value = |text: &str| Value::plain(text.replace('\0', "").trim_end_matches('\n'));
        self.alternatives.decided_texts = printed.one_of().map(|texts| texts.map(value).collect());
        if let Some(text) = printed.sure() {
            return Some(value(text));
        }
        let paths = || found.iter().filter_map(Value::of).map(Value::one_of);
        let several = paths().take(MAX_WAYS).filter(|_| found.len() > 1);
        let possible: Vec<Value> = printed.possible().map(value).chain(several).collect();
        if let Some(number) = self.state.variables.assumes
            && let Some(value) = possible.get(number).or(possible.last())
        {
            return Some(value.clone());
        }
        self.alternatives.possible_texts = self.alternatives.possible_texts.max(possible.len());
        // One of the paths that it prints, or all.
        meaning.map(Value::in_kind).or_else(|| paths().next().filter(|_| found.len() == 1))
    }
}
