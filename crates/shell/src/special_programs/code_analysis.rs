//! Programs in languages other than shell, and their inputs when a command runs them: arguments, file, environment
//! variables.

use std::borrow::Cow;

use code::{Language, ProgramEffects, ProgramInputs};

use super::interpreter::script_file;
use super::language::language_of;
use crate::model::SimpleCommand;
use crate::programs::Role;

/// Returns the effects of code that an interpreter runs; `None` if Linchpin cannot read the interpreter's language.
/// `program`: the name of the interpreter; `text`: the code.
pub(crate) fn analyze(program: &str, text: &str, inputs: &ProgramInputs) -> Option<ProgramEffects> {
    let language = language_of(program)?;
    // `zx` predefines the name `$`.
    let import = if program == "zx" { "import {$} from 'zx';\n" } else { "" };
    Some(code::analyze(language, &format!("{import}{text}"), inputs))
}

/// Returns the inputs of the program that a command runs in a language other than shell.
pub(crate) fn program_inputs(command: &SimpleCommand) -> ProgramInputs {
    let file = command.provenance.script.as_ref().and_then(|_| script_file(command)).map(Cow::into_owned);
    let exported = command.exported().iter().map(|exported| (&*exported.name, exported.value.as_deref()));
    let assigned =
        command.assignments().iter().map(|assignment| (assignment.name.as_str(), assignment.value.value.as_deref()));
    let mut variables: Vec<(String, String)> = Vec::new();
    for (name, value) in exported.chain(assigned) {
        // The last value of a variable counts. A variable with an unknown value is left out.
        variables.retain(|(known, _)| known != name);
        variables.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    let is_inline = has_code(command);
    ProgramInputs { arguments: program_arguments(command, is_inline), is_inline, file, variables }
}

fn has_code(command: &SimpleCommand) -> bool {
    let list = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
    list.into_iter().any(|argument| argument.role == Role::Code)
}

fn program_arguments(command: &SimpleCommand, is_inline: bool) -> Option<Vec<Option<String>>> {
    let arguments = command.arguments()?;
    let language = command.program().and_then(language_of);
    let is_perl_or_ruby = matches!(language, Some(Language::Perl | Language::Ruby));
    // Other JavaScript runtimes differ in what precedes the arguments of an inline program.
    let is_unsupported = is_inline && language == Some(Language::JavaScript) && command.program() != Some("node");
    let words = arguments.with_roles.iter().find(|argument| argument.role == Role::Words && !is_unsupported);
    // In Perl and Ruby, the arguments of an inline program may be files that the program reads.
    let files = arguments.operands.first().filter(|_| is_inline && is_perl_or_ruby);
    let words = command.words().get(words.map(|words| words.word).or(files.copied())?..)?;
    let words = match words.split_first() {
        Some((first, rest)) if is_inline && language == Some(Language::JavaScript) && first.raw == "--" => rest,
        _ => words,
    };
    Some(words.iter().map(|word| word.value.clone().filter(|_| !word.glob)).collect())
}
