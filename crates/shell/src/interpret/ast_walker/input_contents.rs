//! Finds the contents of the files and redirections that commands read, if the session wrote the files.

use std::sync::Arc;

use crate::interpret::ast_walker::Walker;
use crate::interpret::ast_walker::redirects::RedirectedInput;
use crate::model::{FileContents, Redirect, RedirectKind, SimpleCommand};
use crate::programs::{Argument, Role};
use crate::special_programs::known_output::depends_on_file_contents;

impl Walker<'_> {
    /// True if the effects of a command, or its output if another command or a file receives the output, depend on the
    /// contents of the files that the command reads. Otherwise the contents are not looked up, because the lookup may
    /// search all earlier tool calls of the session.
    fn needs_file_contents(&self, command: &SimpleCommand) -> bool {
        match command.program() {
            // These programs use the contents of their input as words or as file names.
            Some("xargs" | "gxargs" | "read" | "mapfile" | "readarray" | "tar" | "gtar" | "bsdtar" | "rsync") => true,
            Some(program) if depends_on_file_contents(program) => {
                self.streams.output_readers > 0 || command.redirects().iter().any(Redirect::redirects_stdout)
            }
            _ => false,
        }
    }

    /// Adds the contents of files to the words and redirections that name the files.
    pub(super) fn attach_file_contents(&self, command: &mut SimpleCommand) {
        // On another machine, the same path names another file.
        if command.is_remote() || !self.needs_file_contents(command) {
            return;
        }
        let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.with_roles);
        let is_read = |argument: &&Argument| matches!(argument.role, Role::Read | Role::Names);
        let named = arguments.filter(is_read).filter_map(|argument| {
            let file = command.file_from(argument.word, argument.from)?;
            Some((argument.word, self.contents_of(file)?))
        });
        for (index, text) in named.collect::<Vec<_>>() {
            if let Some(word) = command.invocation.words.get_mut(index).filter(|word| !word.is_process_substitution()) {
                word.contents = Some(text);
            }
        }
        for redirect in command.invocation.redirects.iter_mut().filter(|redirect| redirect.replaces_stdin()) {
            self.attach_redirect_contents(redirect);
        }
    }

    /// Returns the stdin that a redirection of a loop, group or function call supplies; `None` without such a
    /// redirection.
    pub(super) fn redirected_input(&self, redirects: &[Redirect]) -> Option<RedirectedInput> {
        let mut redirect = redirects.iter().rfind(|redirect| redirect.replaces_stdin())?.clone();
        self.attach_redirect_contents(&mut redirect);
        Some(RedirectedInput { paths: redirect.paths().into(), text: redirect.text().map(Arc::from) })
    }

    fn attach_redirect_contents(&self, redirect: &mut Redirect) {
        let is_file = matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite);
        if is_file && redirect.target.contents.is_none() && !redirect.target.is_device() {
            redirect.target.contents = redirect.target.file().and_then(|file| self.contents_of(file));
        }
    }

    fn contents_of(&self, file: &str) -> Option<String> {
        match self.files.contents_in(&self.state.directory.possible, file)? {
            FileContents::Text(text) => Some(text.to_string()),
            FileContents::Unknown => None,
        }
    }
}
