//! Command substitutions and process substitutions.

use brush_parser::ast::{ProcessSubstitutionKind, SubshellCommand};

use super::Walker;
use super::words::process_word;
use crate::interpret::possible_output::{MAX_ALTERNATIVES, PossibleOutput};
use crate::interpret::state::Value;
use crate::model::Word;

/// The output of a substitution, as far as it is known.
struct SubstitutionOutput {
    text: PossibleOutput,
    /// A placeholder for the text, if only its kind is known.
    placeholder: Option<String>,
    /// The paths that the substitution prints, if it prints nothing else.
    paths: Vec<Word>,
}

impl Walker<'_> {
    /// Walks a substitution in a child shell. The streams of the command that contains the substitution stay as they
    /// were.
    fn walk_substitution(&mut self, visit: impl FnOnce(&mut Self)) -> SubstitutionOutput {
        let outer_input = (self.streams.input.take(), std::mem::take(&mut self.streams.input_paths));
        let outer_text = std::mem::take(&mut self.streams.output);
        let outer_placeholder = self.streams.output_placeholder.take();
        let outer_paths = std::mem::take(&mut self.streams.printed_paths);
        self.streams.output_readers += 1;
        self.in_child_shell(|walker| walker.one_level_deeper(visit));
        self.streams.output_readers -= 1;
        (self.streams.input, self.streams.input_paths) = outer_input;
        SubstitutionOutput {
            text: std::mem::replace(&mut self.streams.output, outer_text),
            placeholder: std::mem::replace(&mut self.streams.output_placeholder, outer_placeholder),
            paths: std::mem::replace(&mut self.streams.printed_paths, outer_paths),
        }
    }

    /// Returns the word for a process substitution, with the substitution's output if the output is known.
    pub(super) fn walk_process_substitution(
        &mut self,
        subshell: &SubshellCommand,
        kind: &ProcessSubstitutionKind,
    ) -> Word {
        let SubstitutionOutput { text, paths, .. } = self.walk_substitution(|walker| walker.walk_list(&subshell.list));
        let possible: Vec<&str> = text.possible().collect();
        let assumed =
            self.state.variables.assumed_index.and_then(|index| possible.get(index).or(possible.last()).copied());
        self.alternatives.possible_count = self.alternatives.possible_count.max(possible.len());
        let contents = text.known().or(assumed).map(str::to_owned);
        Word { contents, possible_paths: paths, ..process_word(kind) }
    }

    /// Walks the script of a command substitution, and returns its output if the output is known.
    pub(super) fn walk_command_substitution(&mut self, script: &str) -> Option<Value> {
        // `$(< file)` prints the file.
        let file = script.trim().strip_prefix('<').map(str::trim);
        let cat = file.filter(|file| !file.contains(|c: char| c.is_whitespace() || "<>&;|(".contains(c)));
        let cat = cat.map(|file| format!("cat {file}"));
        let script = cat.as_deref().unwrap_or(script);
        let SubstitutionOutput { text: printed, placeholder, paths } =
            self.walk_substitution(|walker| walker.walk_script(script));
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
        // If the substitution prints a single path, its value is one of the paths that this path matches as a glob.
        placeholder.map(Value::placeholder).or_else(|| matches().next().filter(|_| paths.len() == 1))
    }
}
