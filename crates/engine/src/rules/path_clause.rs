//! `paths`, `reads`, `writes` and `deletes`: patterns for the files that a call accesses.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::subject::{BestSubject, Subject};
use super::{Clause, PathKey, Truth};
use crate::facts::EventPart;
use crate::situation::{Situation, TouchedPath, UnknownPath};
use path::Access;
use path::pattern::Pattern;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathClause {
    #[serde(rename = "about")]
    pub key: PathKey,
    pub patterns: Vec<PathPattern>,
    /// Exceptions from the patterns.
    pub except: Vec<PathPattern>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathPattern {
    /// `outside_project`: outside of the project root and of temporary folders.
    OutsideProject,
    Glob {
        source: String,
        /// A literal that every matching path contains; empty if none is known.
        literal: String,
    },
}

impl PathPattern {
    pub const OUTSIDE_PROJECT: &str = "outside_project";

    fn matches(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        match self {
            Self::OutsideProject => touch.in_project.is_none() && !in_temp(touch, situation),
            Self::Glob { source, literal } => {
                let text = if source.starts_with('/') {
                    Some(touch.absolute.as_str())
                } else if source.starts_with("~/") {
                    touch.in_home.as_deref()
                } else {
                    touch.in_project.as_deref()
                };
                text.is_some_and(|text| {
                    text.contains(literal.as_str())
                        && Pattern::parse_relative_or_absolute(source).is_ok_and(|pattern| pattern.matches(text))
                })
            }
        }
    }

    /// True if a matching file could be inside a recursively accessed folder. Patterns without a location, such as
    /// `**/x`, are assumed not to be: they would match every folder.
    fn may_match_below(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        let Self::Glob { source, .. } = self else { return false };
        let folders = &situation.folders;
        let (base, folder) = if source.starts_with('/') {
            (Some("/"), Some(&touch.absolute))
        } else if source.starts_with("~/") {
            (folders.home.as_deref(), touch.in_home.as_ref())
        } else {
            (Some(folders.root.as_str()), touch.in_project.as_ref())
        };
        // The access includes the base folder of the pattern, so it includes all matches.
        if base.is_some_and(|base| path::below(base, &touch.absolute).is_some()) {
            return true;
        }
        let may_match = |folder: &String| {
            Pattern::parse_relative_or_absolute(source).is_ok_and(|pattern| pattern.may_match_below(folder))
        };
        has_location(source) && folder.is_some_and(may_match)
    }
}

/// True if the pattern begins with a fixed folder instead of `**`.
fn has_location(pattern: &str) -> bool {
    let first = pattern.trim_start_matches("~/").trim_start_matches('/');
    !["**", "{**", "{path}"].iter().any(|any| first.starts_with(any))
}

/// Temporary folders besides the session's own.
const TEMP_FOLDERS: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

fn in_temp(touch: &TouchedPath, situation: &Situation) -> bool {
    let is_below = |path: &str, folder: &str| path::below(path, folder).is_some();
    let mut folders = situation.folders.temp.as_deref().into_iter().chain(TEMP_FOLDERS.iter().copied());
    folders.any(|folder| is_below(&touch.absolute, folder) && !is_below(&situation.folders.root, folder))
}

/// A shell command's path as it is written. Paths of other tools are absolute, so those in the project are shortened.
fn path_for_message(touch: &TouchedPath) -> Arc<str> {
    match &touch.in_project {
        Some(path) if touch.command_index.is_none() && !path.is_empty() => Arc::from(path.as_str()),
        _ => Arc::clone(&touch.as_written),
    }
}

impl PathClause {
    /// `command_truths` has the truth of the rule's earlier clauses for each simple command; empty if there are none.
    pub(crate) fn judge(&self, situation: &Situation, command_truths: &[Truth]) -> Clause {
        let missing = situation.facts.require(EventPart::Paths).err();
        // An unparsable command may name any path.
        let is_read = situation.script().is_none_or(|script| script.complete);
        let mut truth = if is_read { Truth::False } else { Truth::Unknown };
        let mut shown = Vec::new();
        let mut best = BestSubject::default();
        let is_selected = |command_index: Option<usize>| {
            let is_matched = |index| command_truths.get(index) != Some(&Truth::False);
            command_index.is_none_or(|index| is_matched(index) && situation.is_in_scope(index))
        };
        for touch in situation.touched_paths().iter().filter(|touch| is_selected(touch.command_index)) {
            let here = self.access_truth(touch.access, touch.is_variable_value, touch.command_index, situation);
            if here > Truth::False && self.matches_access(touch, situation) {
                truth = truth.or(here);
                shown.push(touch.in_project.as_deref().unwrap_or(&touch.absolute).to_owned());
                let is_named = !touch.is_recursive || self.matches(touch, situation);
                best.offer(here, is_named, || Subject {
                    path: Some(path_for_message(touch)),
                    command_index: touch.command_index,
                });
            }
        }
        let unknown = situation.unknown_paths().iter().filter(|touch| is_selected(touch.command_index));
        for touch in unknown.filter(|touch| self.may_match_unknown(touch, !command_truths.is_empty(), situation)) {
            truth = truth.or(Truth::Unknown);
            shown.push(touch.as_written.clone());
            let path = || Some(Arc::from(touch.as_written.as_str()));
            best.offer(Truth::Unknown, false, || Subject { path: path(), command_index: touch.command_index });
        }
        if shown.is_empty() {
            shown.push(if is_read { "none of the call's paths" } else { "a command that cannot be parsed" }.to_owned());
        }
        Clause { key: self.key.name(), truth, shown: shown.join(", "), subject: best.subject(), missing }
    }

    /// The truth for a single command.
    pub(super) fn truth_for_command(&self, index: usize, situation: &Situation) -> Truth {
        let own = situation.touched_paths().iter().filter(|touch| touch.command_index == Some(index));
        let truth = |touch: &TouchedPath| {
            self.access_truth(touch.access, touch.is_variable_value, touch.command_index, situation)
        };
        let known = own.map(|touch| truth(touch).and(self.matches_access(touch, situation).into()));
        let unknown = situation.unknown_paths().iter().filter(|touch| touch.command_index == Some(index));
        let unknown = unknown.filter(|touch| self.may_match_unknown(touch, true, situation)).map(|_| Truth::Unknown);
        known.chain(unknown).fold(Truth::False, Truth::or)
    }

    /// An access of unknown kind may be a read or a write. Few programs delete files, and those are known, so only an
    /// unknown program may delete.
    fn access_truth(
        &self,
        access: Option<Access>,
        is_variable_value: bool,
        command_index: Option<usize>,
        situation: &Situation,
    ) -> Truth {
        let commands = || situation.script().map(|script| script.commands.as_slice()).unwrap_or_default();
        match access {
            Some(access) => self.key.covers(access).into(),
            None if self.key == PathKey::Deletes => {
                let command = command_index.and_then(|index| commands().get(index));
                let could_be_any =
                    command.is_some_and(|command| !command.words().is_empty() && command.program().is_none());
                if could_be_any { Truth::Unknown } else { Truth::False }
            }
            None if self.key == PathKey::Writes && is_variable_value => Truth::False,
            None => Truth::Unknown,
        }
    }

    /// An unknown path counts only for deletions, and for rules that also match commands. Otherwise rules would ask at
    /// every command that reads a file whose path is in a variable.
    fn may_match_unknown(&self, touch: &UnknownPath, names_commands: bool, situation: &Situation) -> bool {
        let is_deletion = self.key == PathKey::Deletes && touch.access == Some(Access::Delete);
        (names_commands || is_deletion)
            && self.access_truth(touch.access, touch.is_variable_value, touch.command_index, situation) > Truth::False
    }

    /// True if the clause matches the access. Deleting a folder deletes its content.
    fn matches_access(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        let is_in = |pattern: &PathPattern| pattern.may_match_below(touch, situation);
        self.matches(touch, situation)
            || (touch.is_recursive && self.patterns.iter().any(is_in) && !self.excepts(touch, situation))
    }

    /// True if the clause matches every path that the call names, with all spellings of each.
    pub(super) fn covers_all(&self, situation: &Situation) -> bool {
        let touches = situation.touched_paths();
        !touches.is_empty()
            && touches.iter().all(|touch| {
                touch.access.is_some_and(|access| self.key.covers(access)) && self.matches(touch, situation)
            })
    }

    fn matches(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(touch, situation)) && !self.excepts(touch, situation)
    }

    fn excepts(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        self.except.iter().any(|pattern| pattern.matches(touch, situation))
    }
}
