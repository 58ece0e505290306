//! Files that were written before they are run: by the script itself, or earlier in the session.
//!
//! `echo … > x.sh && bash x.sh` runs what `echo` prints. What earlier calls wrote is told by whoever asked for the script to
//! be read; a file that nobody speaks of is one that people wrote, and is nobody's business here.

use std::collections::BTreeMap;

use super::command::{Redirect, RedirectKind, SimpleCommand};
use super::fetched::fetched;
use crate::paths;
use crate::programs::Role;

/// What is known of a file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    Text(String),
    /// Nobody can say what is in it.
    Unknown,
}

/// Tells what is in a file, by its path from where the script starts; `None` where it was not written in the session.
pub type Earlier<'a> = &'a dyn Fn(&str) -> Option<Written>;

pub(super) struct Files<'a> {
    /// By the script so far.
    written: BTreeMap<String, Written>,
    earlier: Earlier<'a>,
}

impl<'a> Files<'a> {
    pub(super) fn new(earlier: Earlier<'a>) -> Self {
        Self { written: BTreeMap::new(), earlier }
    }

    /// What is in a file that a command names, if it was written in the session.
    pub(super) fn get(&self, command: &SimpleCommand, path: &str) -> Option<Written> {
        let paths = paths(command, path);
        paths.iter().find_map(|path| self.written.get(path).cloned().or_else(|| (self.earlier)(path)))
    }

    /// `printed`: what the command prints, where that is known.
    pub(super) fn note(&mut self, command: &SimpleCommand, printed: Option<&str>) {
        for redirect in command.redirects.iter().filter(|redirect| redirect.takes_output()) {
            let text = printed.map_or(Written::Unknown, |text| Written::Text(text.to_owned()));
            let Some(target) = redirect.target.meaning() else { continue };
            let text = if is_append(redirect) { self.appended(command, target, text) } else { text };
            self.put(command, target, &text);
        }
        let Some(arguments) = &command.arguments else { return };
        let named = |role: Role| {
            let of_role = arguments.list.iter().filter(move |argument| argument.role == role);
            of_role.filter_map(|argument| command.meaning_from(argument.word, argument.from))
        };
        match command.program() {
            Some("tee") => {
                let is_appended = arguments.has_flag(&["-a", "--append"]);
                let fed = command.redirects.iter().rev().find_map(Redirect::text).or(command.input.as_deref());
                let text = fed.filter(|_| !is_appended).map(str::to_owned).map_or(Written::Unknown, Written::Text);
                named(Role::Write).for_each(|path| self.put(command, path, &text));
            }
            Some("cp" | "mv" | "install") => {
                let first = arguments.list.first();
                let printed = first.and_then(|first| command.words.get(first.word)).filter(|word| word.is_process());
                let printed = printed.map(|word| word.given.clone().map_or(Written::Unknown, Written::Text));
                let source = first.and_then(|first| command.meaning_from(first.word, first.from));
                let text = printed.or_else(|| self.get(command, source?));
                if let (Some(text), Some(target)) = (text, named(Role::Write).next_back()) {
                    self.put(command, target, &text);
                }
            }
            Some("curl" | "wget") => {
                let given = named(Role::Write).map(str::to_owned);
                for path in given.chain(fetched(command)).collect::<Vec<_>>() {
                    self.put(command, &path, &Written::Unknown);
                }
            }
            // These fill a file with what nobody has seen.
            Some("mkfifo" | "mknod" | "dd" | "sponge" | "base64" | "xxd" | "openssl") => {
                named(Role::Write).for_each(|path| self.put(command, path, &Written::Unknown));
            }
            Some("sed" | "gsed" | "patch") => {
                let known: Vec<&str> = named(Role::Edit).filter(|path| self.get(command, path).is_some()).collect();
                for path in known {
                    self.put(command, path, &Written::Unknown);
                }
            }
            _ => {}
        }
    }

    fn appended(&self, command: &SimpleCommand, path: &str, text: Written) -> Written {
        match (self.get(command, path), text) {
            (Some(Written::Text(before)), Written::Text(text)) => Written::Text(before + &text),
            // What people wrote is theirs; what is added is not.
            (None, text) => text,
            _ => Written::Unknown,
        }
    }

    fn put(&mut self, command: &SimpleCommand, path: &str, text: &Written) {
        for path in paths(command, path) {
            self.written.insert(path, text.clone());
        }
    }
}

/// Where a path may lead, from where the script starts.
fn paths(command: &SimpleCommand, path: &str) -> Vec<String> {
    let folders = command.folders.then(path);
    // In a folder that is not known, it could be here.
    folders.list().map_or_else(|| vec![plain(path)], |paths| paths.iter().map(|path| plain(path)).collect())
}

/// One spelling for the many of a path.
pub(super) fn plain(path: &str) -> String {
    match path {
        _ if path.starts_with('/') => paths::tidy(path),
        _ if paths::is_free(path) || path.contains("..") => path.to_owned(),
        _ => paths::tidy(path).trim_start_matches('/').to_owned(),
    }
}

fn is_append(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Append | RedirectKind::AppendAll)
}

/// The program that a script asks for in its first line; a shell where it asks for none.
pub(super) fn interpreter(text: &str) -> &str {
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else { return "sh" };
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or("sh"),
        Some(name) => name,
        None => "sh",
    }
}
