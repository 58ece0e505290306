//! What is in the files that commands read, where the session wrote those files and somebody asks.

use std::sync::Arc;

use crate::interpret::walk::Walker;
use crate::interpret::walk::redirects::Fed;
use crate::model::{Redirect, RedirectKind, SimpleCommand, Written};
use crate::programs::{Argument, Role};
use crate::special_programs::known_output::asks_for_texts;

impl Walker<'_> {
    /// To ask for a file may mean to look through all that was done before, so that only who needs it asks.
    fn needs_texts(&self, command: &SimpleCommand) -> bool {
        match command.program() {
            // What they read becomes words, or names of what they read.
            Some("xargs" | "gxargs" | "read" | "mapfile" | "readarray" | "tar" | "gtar" | "bsdtar" | "rsync") => true,
            Some(program) if asks_for_texts(program) => {
                self.streams.listeners > 0 || command.redirects().iter().any(Redirect::takes_output)
            }
            _ => false,
        }
    }

    pub(super) fn give_texts(&self, command: &mut SimpleCommand) {
        // On another machine, it is another file.
        if command.is_remote() || !self.needs_texts(command) {
            return;
        }
        let arguments = command.arguments().into_iter().flat_map(|arguments| &arguments.list);
        let is_read = |argument: &&Argument| matches!(argument.role, Role::Read | Role::Names);
        let named = arguments.filter(is_read).filter_map(|argument| {
            let file = command.file_from(argument.word, argument.from)?;
            Some((argument.word, self.text_in(file)?))
        });
        for (place, text) in named.collect::<Vec<_>>() {
            if let Some(word) = command.invocation.words.get_mut(place).filter(|word| !word.is_process()) {
                word.given = Some(text);
            }
        }
        for redirect in command.invocation.redirects.iter_mut().filter(|redirect| redirect.is_input()) {
            self.give_text(redirect);
        }
    }

    /// What a redirection of a loop, a group or a call gives it to read; none where there is no such redirection.
    pub(super) fn fed_by(&self, redirects: &[Redirect]) -> Option<Fed> {
        let mut redirect = redirects.iter().rfind(|redirect| redirect.is_input())?.clone();
        self.give_text(&mut redirect);
        Some(Fed { paths: redirect.paths().into(), text: redirect.text().map(Arc::from) })
    }

    fn give_text(&self, redirect: &mut Redirect) {
        let is_file = matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite);
        if is_file && redirect.target.given.is_none() && !redirect.target.is_device() {
            redirect.target.given = redirect.target.file().and_then(|file| self.text_in(file));
        }
    }

    fn text_in(&self, file: &str) -> Option<String> {
        match self.files.at(&self.state.directory.folders, file)? {
            Written::Text(text) => Some(text.to_string()),
            Written::Unknown => None,
        }
    }
}
