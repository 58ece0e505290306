//! Finds the sources of the scripts that a command runs: files, and commands that print the scripts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Walker;
use crate::model::{FileContents, Redirect, SimpleCommand, Word};
use crate::programs::Role;
use crate::special_programs::downloads::downloads_files;
use crate::special_programs::interpreter::{
    is_downloaded_script, runs_stdin, script_file, script_files, script_from_stream,
};
use crate::special_programs::shell_init_programs::prints_shell_init;
use crate::written_files::implicit_files;

/// The maximum number of directories of a `PATH` that are searched.
const MAX_PATH_ENTRIES: usize = 16;

impl Walker<'_> {
    /// Notes in the command the programs whose output the command runs. Returns true if the command runs the output of
    /// a single substitution, and these programs only print shell setup, or files that the session did not write.
    pub(super) fn note_sources(&self, command: &mut SimpleCommand, reads_input: bool) -> bool {
        // With a `<(…)`, the script does not come from the pipe.
        let reads_pipe = reads_input && !command.words().iter().any(Word::is_process_substitution);
        let sources = self.sources_of(command, reads_pipe);
        let sources = || sources.iter().filter_map(|index| self.script.commands.get(*index));
        let programs: BTreeSet<&str> = sources().filter_map(SimpleCommand::program).collect();
        command.provenance.runs_output_of = programs.into_iter().map(str::to_owned).collect();
        // The program itself downloads the script: `deno run https://…`.
        if script_file(command).is_some_and(|script| is_downloaded_script(&script)) {
            command.provenance.runs_output_of.push("fetch".to_owned());
        }
        let is_harmless = |source: &SimpleCommand| prints_shell_init(source) || self.prints_preexisting_file(source);
        runs_one_output(command) && sources().next().is_some() && sources().all(is_harmless)
    }

    /// Notes the contents of the scripts that the command runs, if the session wrote the scripts.
    pub(super) fn note_script_contents(&self, command: &mut SimpleCommand) {
        let named = script_files(command);
        let script = named.iter().find_map(|path| self.files.contents_of(command, path));
        let script = script.or_else(|| named.iter().find_map(|path| self.files.unpacked_contents(command, path)));
        command.provenance.script = script.or_else(|| script_from_stream(command)).or_else(|| self.piped_file(command));
        command.provenance.implicit_scripts = implicit_files::implicit_scripts(command, &self.files);
        command
            .provenance
            .implicit_scripts
            .extend(self.written_program_on_path(command).map(|path| Some(format!("'{path}'"))));
    }

    /// Returns the indices of the commands whose output a command uses: the commands in its substitutions, and the
    /// commands that are piped into it, if `reads_input` is true or words of the command come from stdin.
    fn sources_of(&self, command: &SimpleCommand, reads_input: bool) -> Vec<usize> {
        let mut indices: Vec<usize> = command.provenance.substituted.clone().collect();
        let mut is_listed = vec![false; self.script.commands.len()];
        let mut next = indices.len();
        indices.extend(command.piped_from().filter(|_| reads_input || self.enclosing.filled.has_words_from_input));
        for index in &indices {
            if let Some(is_listed) = is_listed.get_mut(*index) {
                *is_listed = true;
            }
        }
        // In a pipeline, the output of earlier commands reaches the command through the later commands.
        while let Some(source) = indices.get(next).and_then(|index| self.script.commands.get(*index)) {
            for index in source.piped_from() {
                if let Some(is_listed @ false) = is_listed.get_mut(index) {
                    *is_listed = true;
                    indices.push(index);
                }
            }
            next += 1;
        }
        indices
    }

    /// Notes the directory that a command unpacks a downloaded archive into. The contents of the files in that
    /// directory are unknown.
    pub(super) fn note_unpacked(&mut self, command: &SimpleCommand) {
        let Some(arguments) = command.arguments() else { return };
        let unpacks = match command.program() {
            Some("tar" | "bsdtar" | "gtar") => arguments.has_flag(&["-x", "--extract", "--get"]),
            Some("unzip") => !arguments.has_flag(&["-l", "-t", "-Z", "-v", "-p", "-c"]),
            _ => false,
        };
        if !unpacks {
            return;
        }
        let archives = arguments.with_roles.iter().filter(|argument| argument.role == Role::Read);
        let archives = archives.filter_map(|argument| command.value_or_placeholder_from(argument.word, argument.from));
        let is_unknown = |path: &str| self.files.written_by_script(command, path) == Some(FileContents::Unknown);
        let sources = self.sources_of(command, true);
        let sources = sources.iter().filter_map(|index| self.script.commands.get(*index)?.program());
        let is_download = archives.into_iter().any(is_unknown) || sources.into_iter().any(downloads_files);
        let directories =
            arguments.flags.iter().filter(|flag| flag.is("-C") || flag.is("-d")).filter_map(|flag| flag.value);
        let directory = directories
            .filter_map(|value| command.value_or_placeholder_from(value.word, value.from))
            .next_back()
            .unwrap_or(".");
        if is_download {
            self.files.note_unpacked(command, directory);
        }
    }

    /// Returns the path of the command's program, if the script wrote the program into a directory that the script put
    /// on `PATH`: `PATH=bin:$PATH x`.
    fn written_program_on_path(&self, command: &SimpleCommand) -> Option<String> {
        let name = command.words().first()?.value.as_deref().filter(|name| !name.contains('/'))?;
        // `git x` runs the program `git-x`.
        let form = command.arguments().and_then(|arguments| arguments.subcommands.first());
        let form = form.filter(|_| name == "git").map(|form| format!("git-{form}"));
        let name = form.as_deref().unwrap_or(name);
        let set = command.assignments().iter().rfind(|set| set.name == "PATH").map(|set| &set.value);
        let set = set.map(|value| value.value.as_deref().unwrap_or(&value.shown).to_owned());
        let directories = set.or_else(|| self.state.variables.path.clone())?;
        let directories = directories.replace("${PWD}", ".").replace("$PWD", ".").replace("$(pwd)", ".");
        let directories = directories.split(':').filter(|directory| !directory.is_empty() && !directory.contains('$'));
        let mut paths = directories.take(MAX_PATH_ENTRIES).map(|directory| format!("{directory}/{name}"));
        paths.find(|path| !path.contains('\'') && self.files.written_by_script(command, path).is_some())
    }

    /// True for `cat FILE`, if the session did not write the file. Running the output of `cat` is the same as running
    /// the file, and a file that the session did not write is trusted.
    fn prints_preexisting_file(&self, command: &SimpleCommand) -> bool {
        file_of_cat(command).is_some_and(|file| self.files.contents_of(command, file).is_none())
    }

    /// Returns the contents of the file that a command runs from a pipe: `cat FILE | bash`. A file that the session did
    /// not write is trusted, and counts as empty.
    fn piped_file(&self, command: &SimpleCommand) -> Option<FileContents> {
        let [source] = self.script.commands.get(command.piped_from())? else { return None };
        let path = file_of_cat(source).filter(|_| runs_stdin(command))?;
        Some(self.files.contents_of(source, path).unwrap_or(FileContents::Text(Arc::default())))
    }
}

/// Returns the file that a `cat` command prints, if the command prints exactly one file.
fn file_of_cat(command: &SimpleCommand) -> Option<&str> {
    // On another machine, the same path names another file.
    let prints_one = command.program() == Some("cat") && !command.is_remote();
    let arguments = command.arguments().filter(|_| prints_one)?;
    let [file] = arguments.with_roles.as_slice() else { return None };
    let is_input = command.words().get(file.word).is_some_and(Word::stands_for_stdin);
    command
        .value_or_placeholder_from(file.word, file.from)
        .filter(|_| !is_input && !command.redirects().iter().any(Redirect::replaces_stdin))
}

/// True if the command runs the output of substitutions and nothing else: `eval "$(a)"`, but not `eval "x; $(a)"`.
fn runs_one_output(command: &SimpleCommand) -> bool {
    let mut unknown = command.words().iter().filter(|word| word.value.is_none());
    let is_whole_output = |word: &Word| word.is_process_substitution() || word.is_command_substitution();
    let joins_words = command.program() == Some("eval") && command.words().len() > 2;
    unknown.next().is_none_or(is_whole_output) && unknown.next().is_none() && !joins_words
}
