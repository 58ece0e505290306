//! One file rule, and how it looks at changes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::file_pattern::{CompiledPattern, candidates, compiled};
use super::{Changes, FileMatch, FilePattern, Status, TriggeringFile};
use path::pattern::{Captures, FillError, Pattern, PatternError};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRule {
    pub mode: FileRuleKind,
    /// Files that trigger nothing; they can still be what another file expects.
    pub exclude: Vec<FilePattern>,
    pub reach: ChangeScope,
    pub refire: Refire,
    /// What is run where the rule is not met; `None`: the agent is told.
    pub command: Option<CommandAction>,
}

/// How a rule sees that something is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileRuleKind {
    /// A changed file matches a trigger, and none matches a safety. A safety whose variables the trigger binds is looked
    /// for with their values, so that it speaks of one file; any other speaks of all.
    Trigger { trigger: Vec<FilePattern>, safety: Vec<FilePattern> },
    /// Files that belong together, whichever of them changed.
    Set(Vec<FilePattern>),
    /// Files that follow from another.
    Pair { trigger: FilePattern, expects: Vec<FilePattern> },
    /// Files that are new.
    Created(Vec<FilePattern>),
}

impl FileRuleKind {
    /// A file that matches one of these may ask for something.
    pub fn triggering(&self) -> &[FilePattern] {
        match self {
            Self::Trigger { trigger, .. } => trigger,
            Self::Set(members) => members,
            Self::Pair { trigger, .. } => std::slice::from_ref(trigger),
            Self::Created(patterns) => patterns,
        }
    }
}

/// Which changes a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct ChangeScope {
    pub compare_to: Baseline,
    pub attribute: AttributionMode,
}

/// What a change is a change from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Baseline {
    /// Where the branch left the default branch.
    #[default]
    Base,
    /// The tip of the default branch.
    DefaultTip,
    /// How things were when the person last said something.
    Prompt,
}

impl Baseline {
    pub const ALL: [Self; 3] = [Self::Base, Self::DefaultTip, Self::Prompt];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::DefaultTip => "default_tip",
            Self::Prompt => "prompt",
        }
    }
}

/// Whose changes a session answers for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum AttributionMode {
    /// Its own, and those that nobody is known to have made.
    #[default]
    Session,
    /// All that are in the working tree.
    Tree,
}

impl AttributionMode {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Tree => "tree",
        }
    }
}

/// What asks again once a rule's demand was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Refire {
    /// Other files.
    #[default]
    Files,
    /// The same files with other content, too.
    Content,
}

/// A command that makes a rule met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAction {
    /// As it is written, for people.
    pub text: String,
    /// Its words, with placeholders.
    pub words: Vec<String>,
    pub run_for: RunFor,
    pub timeout: Duration,
}

impl CommandAction {
    /// Whether one of its words has this placeholder.
    pub fn names(&self, placeholder: &str) -> bool {
        let braced = format!("{{{placeholder}}}");
        self.words.iter().any(|word| word.contains(&braced))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RunFor {
    /// Once a file.
    #[default]
    EachMatch,
    /// Once for all of them.
    AllMatches,
}

impl FileRule {
    /// Every pattern that the rule has.
    pub fn patterns(&self) -> impl Iterator<Item = &FilePattern> {
        let others = match &self.mode {
            FileRuleKind::Trigger { safety, .. } => safety.as_slice(),
            FileRuleKind::Pair { expects, .. } => expects.as_slice(),
            FileRuleKind::Set(_) | FileRuleKind::Created(_) => &[],
        };
        self.mode.triggering().iter().chain(others).chain(&self.exclude)
    }

    /// Whether this version of a rule asks for all that an earlier one did. Patterns are compared as they are written: more
    /// triggers and fewer exceptions ask for more, any other change of them counts as asking for less.
    pub fn asks_no_less_than(&self, before: &Self) -> bool {
        let has_all = |more: &[FilePattern], less: &[FilePattern]| less.iter().all(|pattern| more.contains(pattern));
        let is_as_strict = match (&self.mode, &before.mode) {
            (
                FileRuleKind::Trigger { trigger, safety },
                FileRuleKind::Trigger { trigger: triggers, safety: safeties },
            ) => has_all(trigger, triggers) && has_all(safeties, safety),
            (FileRuleKind::Set(now), FileRuleKind::Set(before)) => now == before,
            (FileRuleKind::Pair { trigger: now, expects }, FileRuleKind::Pair { trigger, expects: expected }) => {
                now == trigger && has_all(expects, expected)
            }
            (FileRuleKind::Created(now), FileRuleKind::Created(before)) => has_all(now, before),
            _ => false,
        };
        let (now, then) = (self.reach, before.reach);
        let is_as_wide = now.compare_to == then.compare_to
            && (now.attribute == AttributionMode::Tree || then.attribute == AttributionMode::Session);
        let asks_as_often = self.refire == Refire::Content || before.refire == Refire::Files;
        is_as_strict && has_all(&before.exclude, &self.exclude) && is_as_wide && asks_as_often
    }

    /// Whether the rule could have anything to say. Never false where it has.
    pub fn may_fire(&self, changes: &Changes) -> bool {
        self.mode.triggering().iter().any(|pattern| pattern.may_match(changes))
    }

    /// Whether an answer is for the files, whatever becomes of what is in them.
    pub fn is_answered_by_files(&self) -> bool {
        self.refire == Refire::Files && self.command.is_none()
    }

    /// An error only where a pattern is none, which loading has ruled out.
    pub fn judge(&self, changes: &Changes) -> Result<FileMatch, PatternError> {
        if !self.may_fire(changes) {
            return Ok(FileMatch::default());
        }
        let exclude = compiled(&self.exclude, changes)?;
        let is_meant = |path: &str| !exclude.iter().any(|pattern| pattern.matches(path));
        match &self.mode {
            FileRuleKind::Trigger { trigger, safety } => {
                let found = any_of(trigger, changes, |path, _| is_meant(path))?;
                let safety = safety.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                Ok(without_answered(found, &safety, changes))
            }
            FileRuleKind::Created(patterns) => {
                any_of(patterns, changes, |path, status| status == Status::Added && is_meant(path))
            }
            FileRuleKind::Pair { trigger, expects } => {
                let trigger = trigger.compile()?;
                let expects = expects.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                let expects: Vec<&CompiledPattern> = expects.iter().collect();
                let mut search = Correspondence::new(changes);
                for (path, status) in candidates(self.mode.triggering(), changes) {
                    if !trigger.matches(path) || !is_meant(path) {
                        continue;
                    }
                    if let Some(captures) = trigger.pattern.captures(path) {
                        search.expect(path, status, captures, &expects);
                    }
                }
                Ok(search.finish())
            }
            FileRuleKind::Set(members) => {
                let members = members.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                let mut search = Correspondence::new(changes);
                let candidates = candidates(self.mode.triggering(), changes).into_iter();
                for (path, status) in candidates.filter(|(path, _)| is_meant(path)) {
                    let Some((own, captures)) = most_specific(&members, path) else { continue };
                    let others = members.iter().enumerate().filter(|(place, _)| *place != own);
                    let others: Vec<&CompiledPattern> = others.map(|(_, member)| member).collect();
                    search.expect(path, status, captures, &others);
                }
                Ok(search.finish())
            }
        }
    }
}

/// The files that match one of the patterns, each for its own sake.
fn any_of(
    patterns: &[FilePattern],
    changes: &Changes,
    is_meant: impl Fn(&str, Status) -> bool,
) -> Result<FileMatch, PatternError> {
    let candidates = candidates(patterns, changes).into_iter();
    let patterns = compiled(patterns, changes)?;
    let triggers = candidates.filter(|(path, status)| is_meant(path, *status)).filter_map(|(path, status)| {
        let pattern = patterns.iter().find(|pattern| pattern.matches(path))?;
        let captures = pattern.pattern.captures(path)?;
        Some(TriggeringFile { path: path.to_owned(), status, captures, missing: Vec::new(), safety: Vec::new() })
    });
    Ok(FileMatch { triggers: triggers.collect(), ..FileMatch::default() })
}

/// Takes out what `safety` answers: all of it, or the files whose own variables a safety has.
fn without_answered(mut found: FileMatch, safety: &[CompiledPattern], changes: &Changes) -> FileMatch {
    let is_bound = |pattern: &Pattern| {
        let binds_all = |trigger: &TriggeringFile| pattern.variables().all(|name| trigger.captures.get(name).is_some());
        pattern.variables().next().is_some() && found.triggers.iter().all(binds_all)
    };
    let (bound, plain): (Vec<_>, Vec<_>) = safety.iter().partition(|safety| is_bound(&safety.pattern));
    found.safety = plain.iter().map(|safety| safety.pattern.source().to_owned()).collect();
    let mut matched = matching(&plain, changes);
    found.is_silenced = !matched.is_empty();
    let search = Correspondence::new(changes);
    found.triggers.retain_mut(|trigger| {
        bound.iter().all(|safety| match search.changed_as(&safety.pattern, &trigger.captures) {
            Ok(answer) => {
                matched.insert(answer);
                false
            }
            Err(lacking) => {
                trigger.safety.push(lacking);
                true
            }
        })
    });
    found.is_silenced |= found.triggers.is_empty() && !matched.is_empty();
    found.matched = matched.into_iter().collect();
    found
}

fn matching(patterns: &[&CompiledPattern], changes: &Changes) -> BTreeSet<String> {
    let matched = patterns.iter().flat_map(|pattern| {
        changes.containing(pattern.literal).into_iter().filter(|path| pattern.pattern.matches(path))
    });
    matched.map(str::to_owned).collect()
}

/// The member that says most of a path: so `tests/{path}_test.py` has it, and not `{path}.py`.
fn most_specific(members: &[CompiledPattern], path: &str) -> Option<(usize, Captures)> {
    let matched = members.iter().enumerate().filter(|(_, member)| member.matches(path));
    // Of equals the first.
    let (own, member) = matched.rev().max_by_key(|(_, member)| member.pattern.literal_length())?;
    Some((own, member.pattern.captures(path)?))
}

/// Who expects what of whom.
struct Correspondence<'a> {
    changes: &'a Changes,
    triggers: Vec<TriggeringFile>,
    matched: BTreeSet<String>,
}

impl<'a> Correspondence<'a> {
    fn new(changes: &'a Changes) -> Self {
        Self { changes, triggers: Vec::new(), matched: BTreeSet::new() }
    }

    fn expect(&mut self, path: &str, status: Status, captures: Captures, expects: &[&CompiledPattern]) {
        let mut missing = Vec::new();
        for expected in expects {
            match self.changed_as(&expected.pattern, &captures) {
                Ok(changed) => self.matched.insert(changed),
                Err(lacking) => {
                    missing.push(lacking);
                    false
                }
            };
        }
        if !missing.is_empty() {
            self.triggers.push(TriggeringFile { path: path.to_owned(), status, captures, missing, safety: Vec::new() });
        }
    }

    /// A changed file that is what the pattern expects; else what that would be, as people would write it.
    fn changed_as(&self, expected: &Pattern, captures: &Captures) -> Result<String, String> {
        let filled = match expected.fill(captures) {
            Ok(filled) => filled,
            // No path is called so, and nothing can satisfy it.
            Err(FillError::Unusable { filled, .. }) => return Err(filled),
            Err(FillError::Unbound { .. }) => return Err(expected.source().to_owned()),
        };
        if let Some(path) = filled.only_path() {
            return if self.changes.contains(path) { Ok(path.to_owned()) } else { Err(path.to_owned()) };
        }
        let candidates = self.changes.containing(filled.required_literal());
        // The first by name, so that the order of files never matters.
        let found = candidates.into_iter().filter(|path| filled.matches(path)).min();
        found.map(str::to_owned).ok_or_else(|| filled.source().to_owned())
    }

    fn finish(self) -> FileMatch {
        let matched = self.matched.into_iter().collect();
        FileMatch { triggers: self.triggers, matched, ..FileMatch::default() }
    }
}
