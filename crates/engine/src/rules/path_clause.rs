//! `paths`, `reads`, `writes` and `deletes`: patterns for what a call does to files.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::subject::{Subject, Surest};
use super::{Clause, PathKey, Truth};
use crate::facts::EventPart;
use crate::situation::{Situation, TouchedPath, UnknownPath};
use path::Access;
use path::pattern::Pattern;

/// One of `paths`, `reads`, `writes`, `deletes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathClause {
    pub about: PathKey,
    pub patterns: Vec<PathPattern>,
    /// What one of these matches is not meant.
    pub except: Vec<PathPattern>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathPattern {
    /// `outside_project`: outside of the root and of the temporary folders.
    OutsideProject,
    Glob {
        source: String,
        /// A text that every matching path holds; empty: none is known.
        literal: String,
    },
}

impl PathPattern {
    pub const OUTSIDE_PROJECT: &str = "outside_project";

    fn matches(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        match self {
            Self::OutsideProject => touch.inside.is_none() && !in_temp(touch, situation),
            Self::Glob { source, literal } => {
                let text = if source.starts_with('/') {
                    Some(touch.absolute.as_str())
                } else if source.starts_with("~/") {
                    touch.in_home.as_deref()
                } else {
                    touch.inside.as_deref()
                };
                text.is_some_and(|text| {
                    text.contains(literal.as_str())
                        && Pattern::parse_anywhere(source).is_ok_and(|pattern| pattern.matches(text))
                })
            }
        }
    }

    /// Whether what it matches could lie in a folder that is deleted. One that only says what a file is called, as `**/x`
    /// does, is not taken to mean every folder.
    fn may_match_below(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        let Self::Glob { source, .. } = self else { return false };
        let place = &situation.place;
        let (base, folder) = if source.starts_with('/') {
            (Some("/"), Some(&touch.absolute))
        } else if source.starts_with("~/") {
            (place.home.as_deref(), touch.in_home.as_ref())
        } else {
            (Some(place.root.as_str()), touch.inside.as_ref())
        };
        // With the folder that it starts from goes all that it could match.
        if base.is_some_and(|base| path::below(base, &touch.absolute).is_some()) {
            return true;
        }
        let may_match =
            |folder: &String| Pattern::parse_anywhere(source).is_ok_and(|pattern| pattern.may_match_below(folder));
        says_where(source) && folder.is_some_and(may_match)
    }
}

/// Whether the first segment is one, and not any number of them.
fn says_where(pattern: &str) -> bool {
    let first = pattern.trim_start_matches("~/").trim_start_matches('/');
    !["**", "{**", "{path}"].iter().any(|any| first.starts_with(any))
}

/// Where anybody may leave what nobody keeps, beside the temporary folder of the session.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

fn in_temp(touch: &TouchedPath, situation: &Situation) -> bool {
    let is_below = |path: &str, folder: &str| path::below(path, folder).is_some();
    let mut folders = situation.place.temp.as_deref().into_iter().chain(TEMPORARY.iter().copied());
    folders.any(|folder| is_below(&touch.absolute, folder) && !is_below(&situation.place.root, folder))
}

impl PathClause {
    /// `commands`: of which simple commands the rule's other clauses speak; empty: of all.
    pub(crate) fn judge(&self, situation: &Situation, commands: &[Truth]) -> Clause {
        let missing = situation.facts.asked(EventPart::Paths).err();
        // What cannot be read may name anything.
        let is_read = situation.script().is_none_or(|script| script.complete);
        let mut truth = if is_read { Truth::False } else { Truth::Unknown };
        let mut shown = Vec::new();
        let mut surest = Surest::default();
        let is_meant = |command: Option<usize>| {
            command.is_none_or(|place| commands.get(place) != Some(&Truth::False) && situation.concerns(place))
        };
        for touch in situation.touches().iter().filter(|touch| is_meant(touch.command)) {
            let here = self.truth_for(touch.access, touch.is_variable_value, touch.command, situation);
            if here > Truth::False && self.is_about(touch, situation) {
                truth = truth.or(here);
                shown.push(touch.inside.as_deref().unwrap_or(&touch.absolute).to_owned());
                let is_named = !touch.is_recursive || self.matches(touch, situation);
                surest.offer(here, is_named, || Subject {
                    path: Some(Arc::clone(&touch.written)),
                    command: touch.command,
                });
            }
        }
        let unknown = situation.unknown_touches().iter().filter(|touch| is_meant(touch.command));
        for touch in unknown.filter(|touch| self.may_be_about(touch, !commands.is_empty(), situation)) {
            truth = truth.or(Truth::Unknown);
            shown.push(touch.shown.clone());
            let path = || Some(Arc::from(touch.shown.as_str()));
            surest.offer(Truth::Unknown, false, || Subject { path: path(), command: touch.command });
        }
        if shown.is_empty() {
            shown.push(
                if is_read { "none of the paths that the call names" } else { "a command that cannot be read" }
                    .to_owned(),
            );
        }
        Clause { key: self.about.name(), truth, shown: shown.join(", "), subject: surest.subject(), missing }
    }

    /// Of the one command at this place.
    pub(super) fn truth_of(&self, place: usize, situation: &Situation) -> Truth {
        let own = situation.touches().iter().filter(|touch| touch.command == Some(place));
        let truth =
            |touch: &TouchedPath| self.truth_for(touch.access, touch.is_variable_value, touch.command, situation);
        let known = own.map(|touch| truth(touch).and(self.is_about(touch, situation).into()));
        let unknown = situation.unknown_touches().iter().filter(|touch| touch.command == Some(place));
        let unknown = unknown.filter(|touch| self.may_be_about(touch, true, situation)).map(|_| Truth::Unknown);
        known.chain(unknown).fold(Truth::False, Truth::or)
    }

    /// Who names a file without anybody knowing what for may read it or write it. To delete is what few programs do, and
    /// those are known; so only one that is not known by name may be one of them.
    fn truth_for(
        &self,
        access: Option<Access>,
        is_variable_value: bool,
        command: Option<usize>,
        situation: &Situation,
    ) -> Truth {
        let commands = || situation.script().map(|script| script.commands.as_slice()).unwrap_or_default();
        match access {
            Some(access) => self.about.covers(access).into(),
            None if self.about == PathKey::Deletes => {
                let command = command.and_then(|place| commands().get(place));
                let could_be_any =
                    command.is_some_and(|command| !command.words().is_empty() && command.program().is_none());
                if could_be_any { Truth::Unknown } else { Truth::False }
            }
            None if self.about == PathKey::Writes && is_variable_value => Truth::False,
            None => Truth::Unknown,
        }
    }

    /// A path that is not known may be any. That counts for a rule that names commands, and for one about deletions; else
    /// every variable that is read from would be asked about.
    fn may_be_about(&self, touch: &UnknownPath, names_commands: bool, situation: &Situation) -> bool {
        let is_deletion = self.about == PathKey::Deletes && touch.access == Some(Access::Delete);
        (names_commands || is_deletion)
            && self.truth_for(touch.access, touch.is_variable_value, touch.command, situation) > Truth::False
    }

    /// Whether it speaks of what is done there. To delete a folder is to delete what is in it.
    fn is_about(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        let is_in = |pattern: &PathPattern| pattern.may_match_below(touch, situation);
        self.matches(touch, situation)
            || (touch.is_recursive && self.patterns.iter().any(is_in) && !self.excepts(touch, situation))
    }

    /// Whether it speaks of every path that the call names, in all that each of them leads to.
    pub(super) fn covers_all(&self, situation: &Situation) -> bool {
        let touches = situation.touches();
        !touches.is_empty()
            && touches.iter().all(|touch| {
                touch.access.is_some_and(|access| self.about.covers(access)) && self.matches(touch, situation)
            })
    }

    fn matches(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(touch, situation)) && !self.excepts(touch, situation)
    }

    fn excepts(&self, touch: &TouchedPath, situation: &Situation) -> bool {
        self.except.iter().any(|pattern| pattern.matches(touch, situation))
    }
}
