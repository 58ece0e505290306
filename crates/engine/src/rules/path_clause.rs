//! `paths`, `reads`, `writes` and `deletes`: patterns for the files that a call accesses.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::subject::{BestSubject, Subject};
use super::{Clause, PathKey, Truth, strongest_truth};
use crate::facts::EventPart;
use crate::situation::{Situation, TouchedPath, UnknownPath};
use path::Access;
use path::pattern::Pattern;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathClause {
    #[serde(rename = "about")]
    pub key: PathKey,
    pub patterns: Vec<PathPattern>,
    /// The exceptions from the patterns.
    pub except: Vec<PathPattern>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathPattern {
    /// `outside_project`: all paths outside of the project's root and of temporary directories.
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

    /// True if a recursive access to a directory could include a file that matches the pattern. A pattern that does not
    /// begin with a fixed directory, such as `**/x`, is assumed to match nothing in the directory, because otherwise
    /// the pattern would match every recursive access. This assumption is not made if the directory contains the whole
    /// project (for `~/…`, the home directory).
    fn may_match_below(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        let Self::Glob { source, .. } = self else { return false };
        let directories = &situation.directories;
        let (base, directory) = if source.starts_with('/') {
            (Some("/"), Some(&touch.absolute))
        } else if source.starts_with("~/") {
            (directories.home.as_deref(), touch.in_home.as_ref())
        } else {
            (Some(directories.root.as_str()), touch.in_project.as_ref())
        };
        // A recursive access that includes the directory to which the pattern is relative includes all matches.
        if base.is_some_and(|base| path::relative_to(base, &touch.absolute).is_some()) {
            return true;
        }
        let may_match = |directory: &String| {
            Pattern::parse_relative_or_absolute(source).is_ok_and(|pattern| pattern.may_match_below(directory))
        };
        has_location(source) && directory.is_some_and(may_match)
    }
}

/// True unless the pattern begins with `**` or `{path}`, which match in any directory.
fn has_location(pattern: &str) -> bool {
    let first = pattern.trim_start_matches("~/").trim_start_matches('/');
    !["**", "{**", "{path}"].iter().any(|any| first.starts_with(any))
}

/// The temporary directories, in addition to the temporary directory of the session.
const TEMP_DIRECTORIES: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

fn in_temp(touch: &TouchedPath, situation: &Situation) -> bool {
    let is_below = |path: &str, directory: &str| path::relative_to(path, directory).is_some();
    let mut directories = situation.directories.temp.as_deref().into_iter().chain(TEMP_DIRECTORIES.iter().copied());
    directories
        .any(|directory| is_below(&touch.absolute, directory) && !is_below(&situation.directories.root, directory))
}

/// The path as messages show it. A path in a shell command is shown in its spelling in the command. A path that another
/// tool call names is shown relative to the project's root, if the path is in the project.
fn path_for_message(touch: &TouchedPath) -> Arc<str> {
    match &touch.in_project {
        Some(path) if touch.command_index.is_none() && !path.is_empty() => Arc::from(path.as_str()),
        _ => Arc::clone(&touch.as_written),
    }
}

impl PathClause {
    /// `command_truths`: for each simple command, whether the rule's earlier clauses match it. Empty if the rule has no
    /// earlier clause about commands.
    pub(crate) fn judge(&self, situation: &Situation, command_truths: &[Truth]) -> Clause {
        let missing = situation.facts.require(EventPart::Paths).err();
        // Any path may occur in a command that cannot be parsed.
        let is_parsed = situation.script().is_none_or(|script| script.complete);
        let mut truth = if is_parsed { Truth::False } else { Truth::Unknown };
        let mut shown = Vec::new();
        let mut best = BestSubject::default();
        let is_selected = |command_index: Option<usize>| {
            let is_matched = |index| command_truths.get(index) != Some(&Truth::False);
            command_index.is_none_or(|index| is_matched(index) && situation.is_in_scope(index))
        };
        for touch in situation.touched_paths().iter().filter(|touch| is_selected(touch.command_index)) {
            let touch_truth = self.access_truth(touch.access, touch.is_variable_value, touch.command_index, situation);
            if touch_truth > Truth::False && self.matches_access(touch, situation) {
                truth = truth.or(touch_truth);
                shown.push(touch.in_project.as_deref().unwrap_or(&touch.absolute).to_owned());
                let is_direct_match = !touch.is_recursive || self.matches(touch, situation);
                best.offer(touch_truth, is_direct_match, || Subject {
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
            shown.push(
                if is_parsed { "none of the call's paths" } else { "a command that cannot be parsed" }.to_owned(),
            );
        }
        Clause { key: self.key.name(), truth, shown: shown.join(", "), subject: best.subject(), missing }
    }

    /// The truth of the clause for one simple command.
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

    /// The truth of the clause for this kind of access. An access of unknown kind can be a read or, unless the path is
    /// the value of a variable, a write. Such an access can be a deletion only if the program is unknown, because the
    /// programs that delete files are known.
    fn access_truth(
        &self,
        access: Option<Access>,
        is_variable_value: bool,
        command_index: Option<usize>,
        situation: &Situation,
    ) -> Truth {
        let command = command_index.and_then(|index| situation.script()?.commands.get(index));
        let truth = match access {
            Some(access) => self.key.covers(access).into(),
            None if self.key == PathKey::Deletes => {
                let is_unknown_program =
                    command.is_some_and(|command| !command.words().is_empty() && command.program().is_none());
                if is_unknown_program { Truth::Unknown } else { Truth::False }
            }
            None if self.key == PathKey::Writes && is_variable_value => Truth::False,
            None => Truth::Unknown,
        };
        command.map_or(truth, |command| truth.and(strongest_truth(command)))
    }

    /// True if the clause may match an access to an unknown path. The clause may match only if the access is a
    /// deletion, or if the rule also matches commands: any other rule would ask at every command that reads a file
    /// whose path is in a variable.
    fn may_match_unknown(&self, touch: &UnknownPath, names_commands: bool, situation: &Situation) -> bool {
        let is_deletion = self.key == PathKey::Deletes && touch.access == Some(Access::Delete);
        (names_commands || is_deletion)
            && self.access_truth(touch.access, touch.is_variable_value, touch.command_index, situation) > Truth::False
    }

    /// True if the clause matches the path, or if the access is recursive and may include a file that the clause
    /// matches. False if the path itself is an exception.
    fn matches_access(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        let is_in = |pattern: &PathPattern| pattern.may_match_below(touch, situation);
        self.matches(touch, situation)
            || (touch.is_recursive && self.patterns.iter().any(is_in) && !self.excepts(touch, situation))
    }

    /// True if the call names paths, and the clause matches all spellings of every path and the kind of every access.
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
