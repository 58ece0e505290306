//! Command substitutions and process substitutions.

use brush_parser::ast::{ProcessSubstitutionKind, SubshellCommand};

use super::Walker;
use super::words::process_word;
use crate::interpret::possible_output::MAX_ALTERNATIVES;
use crate::interpret::state::Value;
use crate::model::Word;

impl Walker<'_> {
    /// Returns the word for a process substitution, with its output if that is known.
    pub(super) fn process_substitution(&mut self, subshell: &SubshellCommand, kind: &ProcessSubstitutionKind) -> Word {
        let (input, output) = (self.streams.input.take(), std::mem::take(&mut self.streams.output));
        let (paths, placeholder) = (std::mem::take(&mut self.streams.paths), self.streams.output_placeholder.take());
        self.streams.output_readers += 1;
        self.in_new_scope(|walker| walker.deeper(|walker| walker.list(&subshell.list)));
        self.streams.output_readers -= 1;
        (self.streams.input, self.streams.output_placeholder) = (input, placeholder);
        let possible_paths = std::mem::replace(&mut self.streams.paths, paths);
        let printed = std::mem::replace(&mut self.streams.output, output);
        let possible: Vec<&str> = printed.possible().collect();
        let assumed =
            self.state.variables.assumed_index.and_then(|index| possible.get(index).or(possible.last()).copied());
        self.alternatives.possible_count = self.alternatives.possible_count.max(possible.len());
        Word { contents: printed.known().or(assumed).map(str::to_owned), possible_paths, ..process_word(kind) }
    }

    /// Walks the script of a command substitution, and returns its output if that is known.
    pub(super) fn command_substitution(&mut self, script: &str) -> Option<Value> {
        let (input, output) = (self.streams.input.take(), std::mem::take(&mut self.streams.output));
        let (paths, placeholder) = (std::mem::take(&mut self.streams.paths), self.streams.output_placeholder.take());
        // `$(< file)` prints the file.
        let file = script.trim().strip_prefix('<').map(str::trim);
        let cat = file.filter(|file| !file.contains(|c: char| c.is_whitespace() || "<>&;|(".contains(c)));
        let cat = cat.map(|file| format!("cat {file}"));
        let script = cat.as_deref().unwrap_or(script);
        self.streams.output_readers += 1;
        self.in_new_scope(|walker| walker.deeper(|walker| walker.walk_script(script)));
        self.streams.output_readers -= 1;
        let placeholder = std::mem::replace(&mut self.streams.output_placeholder, placeholder);
        let printed = std::mem::replace(&mut self.streams.output, output);
        let paths = std::mem::replace(&mut self.streams.paths, paths);
        self.streams.input = input;
        // Shells drop NUL bytes.
        let value = |text: &str| Value::literal(text.replace('\0', "").trim_end_matches('\n'));
        self.alternatives.substitution_outputs = printed.alternatives().map(|texts| texts.map(value).collect());
        if let Some(text) = printed.known() {
            return Some(value(text));
        }
        let matches = || paths.iter().filter_map(Value::of).map(Value::any_match_of);
        let several = matches().take(MAX_ALTERNATIVES).filter(|_| paths.len() > 1);
        let possible: Vec<Value> = printed.possible().map(value).chain(several).collect();
        if let Some(index) = self.state.variables.assumed_index
            && let Some(value) = possible.get(index).or(possible.last())
        {
            return Some(value.clone());
        }
        self.alternatives.possible_count = self.alternatives.possible_count.max(possible.len());
        // One of the paths that it prints, or all of them.
        placeholder.map(Value::placeholder).or_else(|| matches().next().filter(|_| paths.len() == 1))
    }
}
