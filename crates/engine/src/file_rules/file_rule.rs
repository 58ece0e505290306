//! A file rule and its judgement of changes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::file_pattern::{CompiledPattern, candidates, compiled};
use super::{Changes, FileMatch, FilePattern, Status, TriggeringFile};
use path::pattern::{Captures, FillError, Pattern, PatternError};

/// The serialized names are those of earlier versions: see [`Rule`](crate::rules::Rule).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRule {
    #[serde(rename = "mode")]
    pub kind: FileRuleKind,
    /// Files that never trigger; they can still be expected by another file.
    pub exclude: Vec<FilePattern>,
    #[serde(rename = "reach")]
    pub scope: ChangeScope,
    pub refire: Refire,
    /// The command to run if the rule is unmet; `None` if the agent gets a demand instead.
    pub command: Option<CommandAction>,
}

/// How a file rule determines what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileRuleKind {
    /// Unmet if a changed file matches a trigger pattern and none matches a `safety` pattern. A safety pattern whose
    /// variables are all bound by the trigger satisfies only that trigger; any other safety pattern satisfies all
    /// triggers.
    Trigger { trigger: Vec<FilePattern>, safety: Vec<FilePattern> },
    /// Files that must change together; a change of any of them triggers the rule.
    Set(Vec<FilePattern>),
    /// Files that must change when another file changes.
    Pair { trigger: FilePattern, expects: Vec<FilePattern> },
    /// New files.
    Created(Vec<FilePattern>),
}

impl FileRuleKind {
    /// The patterns of files that can trigger the rule.
    pub fn triggering(&self) -> &[FilePattern] {
        match self {
            Self::Trigger { trigger, .. } => trigger,
            Self::Set(members) => members,
            Self::Pair { trigger, .. } => std::slice::from_ref(trigger),
            Self::Created(patterns) => patterns,
        }
    }
}

/// The changes that a rule considers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct ChangeScope {
    pub compare_to: Baseline,
    pub attribute: AttributionMode,
}

/// The state of the tree that changes are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Baseline {
    /// The merge base with the default branch.
    #[default]
    Base,
    /// The tip of the default branch.
    DefaultTip,
    /// The state at the person's last prompt.
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

/// The changes that a session is responsible for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum AttributionMode {
    /// The session's own changes, and changes of unknown origin.
    #[default]
    Session,
    /// All changes in the working tree.
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

/// The changes after which a rule asks again, although its demand was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Refire {
    /// Changes of other files.
    #[default]
    Files,
    /// Changes of other files, and new content of the same files.
    Content,
}

/// The command that a file rule runs to fix what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAction {
    /// The command line as written, for people.
    pub text: String,
    /// Program and arguments, with placeholders.
    pub words: Vec<String>,
    pub run_for: RunFor,
    pub timeout: Duration,
}

impl CommandAction {
    /// True if a word contains this placeholder.
    pub fn names(&self, placeholder: &str) -> bool {
        let braced = format!("{{{placeholder}}}");
        self.words.iter().any(|word| word.contains(&braced))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RunFor {
    /// Once per file.
    #[default]
    EachMatch,
    /// Once for all files.
    AllMatches,
}

impl FileRule {
    /// All patterns of the rule.
    pub fn patterns(&self) -> impl Iterator<Item = &FilePattern> {
        let others = match &self.kind {
            FileRuleKind::Trigger { safety, .. } => safety.as_slice(),
            FileRuleKind::Pair { expects, .. } => expects.as_slice(),
            FileRuleKind::Set(_) | FileRuleKind::Created(_) => &[],
        };
        self.kind.triggering().iter().chain(others).chain(&self.exclude)
    }

    /// True if this version of a rule demands everything that an earlier version demanded. Patterns are compared
    /// literally: added triggers and removed exceptions make a rule stricter, any other change counts as milder.
    pub fn is_at_least_as_strict_as(&self, before: &Self) -> bool {
        let has_all = |more: &[FilePattern], less: &[FilePattern]| less.iter().all(|pattern| more.contains(pattern));
        let is_as_strict = match (&self.kind, &before.kind) {
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
        let (now, then) = (self.scope, before.scope);
        let is_as_wide = now.compare_to == then.compare_to
            && (now.attribute == AttributionMode::Tree || then.attribute == AttributionMode::Session);
        let asks_as_often = self.refire == Refire::Content || before.refire == Refire::Files;
        is_as_strict && has_all(&before.exclude, &self.exclude) && is_as_wide && asks_as_often
    }

    /// Prefilter: false only if the rule cannot be triggered.
    pub fn may_fire(&self, changes: &Changes) -> bool {
        self.kind.triggering().iter().any(|pattern| pattern.may_match(changes))
    }

    /// True if an answer stays valid when the content of the files changes.
    pub fn answers_survive_edits(&self) -> bool {
        self.refire == Refire::Files && self.command.is_none()
    }

    /// Fails only for an invalid pattern, which loading has ruled out.
    pub fn judge(&self, changes: &Changes) -> Result<FileMatch, PatternError> {
        if !self.may_fire(changes) {
            return Ok(FileMatch::default());
        }
        let exclude = compiled(&self.exclude, changes)?;
        let is_included = |path: &str| !exclude.iter().any(|pattern| pattern.matches(path));
        match &self.kind {
            FileRuleKind::Trigger { trigger, safety } => {
                let found = trigger_on_any(trigger, changes, |path, _| is_included(path))?;
                let safety = safety.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                Ok(apply_safety(found, &safety, changes))
            }
            FileRuleKind::Created(patterns) => {
                trigger_on_any(patterns, changes, |path, status| status == Status::Added && is_included(path))
            }
            FileRuleKind::Pair { trigger, expects } => {
                let trigger = trigger.compile()?;
                let expects = expects.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                let expects: Vec<&CompiledPattern> = expects.iter().collect();
                let mut search = ExpectedChanges::new(changes);
                for (path, status) in candidates(self.kind.triggering(), changes) {
                    if !trigger.matches(path) || !is_included(path) {
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
                let mut search = ExpectedChanges::new(changes);
                let candidates = candidates(self.kind.triggering(), changes).into_iter();
                for (path, status) in candidates.filter(|(path, _)| is_included(path)) {
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

/// Changed files that match one of the patterns, each as a trigger without missing files.
fn trigger_on_any(
    patterns: &[FilePattern],
    changes: &Changes,
    is_included: impl Fn(&str, Status) -> bool,
) -> Result<FileMatch, PatternError> {
    let candidates = candidates(patterns, changes).into_iter();
    let patterns = compiled(patterns, changes)?;
    let triggers = candidates.filter(|(path, status)| is_included(path, *status)).filter_map(|(path, status)| {
        let pattern = patterns.iter().find(|pattern| pattern.matches(path))?;
        let captures = pattern.pattern.captures(path)?;
        Some(TriggeringFile { path: path.to_owned(), status, captures, missing: Vec::new(), safety: Vec::new() })
    });
    Ok(FileMatch { triggers: triggers.collect(), ..FileMatch::default() })
}

/// Applies `safety`: a change that matches an unbound pattern satisfies all triggers; a change that matches a bound
/// pattern satisfies only the triggers with the same values of the variables.
fn apply_safety(mut found: FileMatch, safety: &[CompiledPattern], changes: &Changes) -> FileMatch {
    let is_bound = |pattern: &Pattern| {
        let binds_all = |trigger: &TriggeringFile| pattern.variables().all(|name| trigger.captures.get(name).is_some());
        pattern.variables().next().is_some() && found.triggers.iter().all(binds_all)
    };
    let (bound, plain): (Vec<_>, Vec<_>) = safety.iter().partition(|safety| is_bound(&safety.pattern));
    found.safety = plain.iter().map(|safety| safety.pattern.source().to_owned()).collect();
    let mut matched = matching(&plain, changes);
    found.is_safe = !matched.is_empty();
    let search = ExpectedChanges::new(changes);
    found.triggers.retain_mut(|trigger| {
        bound.iter().all(|safety| match search.find_change(&safety.pattern, &trigger.captures) {
            Ok(answer) => {
                matched.insert(answer);
                false
            }
            Err(absent) => {
                trigger.safety.push(absent);
                true
            }
        })
    });
    found.is_safe |= found.triggers.is_empty() && !matched.is_empty();
    found.matched = matched.into_iter().collect();
    found
}

fn matching(patterns: &[&CompiledPattern], changes: &Changes) -> BTreeSet<String> {
    let matched = patterns.iter().flat_map(|pattern| {
        changes.containing(pattern.literal).into_iter().filter(|path| pattern.pattern.matches(path))
    });
    matched.map(str::to_owned).collect()
}

/// The most specific member that matches a path: `tests/{path}_test.py` takes precedence over `{path}.py`.
fn most_specific(members: &[CompiledPattern], path: &str) -> Option<(usize, Captures)> {
    let matched = members.iter().enumerate().filter(|(_, member)| member.matches(path));
    // Of equally specific members, the first one is chosen.
    let (own, member) = matched.rev().max_by_key(|(_, member)| member.pattern.literal_length())?;
    Some((own, member.pattern.captures(path)?))
}

/// Collects triggers whose expected files did not change.
struct ExpectedChanges<'a> {
    changes: &'a Changes,
    triggers: Vec<TriggeringFile>,
    matched: BTreeSet<String>,
}

impl<'a> ExpectedChanges<'a> {
    fn new(changes: &'a Changes) -> Self {
        Self { changes, triggers: Vec::new(), matched: BTreeSet::new() }
    }

    fn expect(&mut self, path: &str, status: Status, captures: Captures, expects: &[&CompiledPattern]) {
        let mut missing = Vec::new();
        for expected in expects {
            match self.find_change(&expected.pattern, &captures) {
                Ok(changed) => self.matched.insert(changed),
                Err(absent) => {
                    missing.push(absent);
                    false
                }
            };
        }
        if !missing.is_empty() {
            self.triggers.push(TriggeringFile { path: path.to_owned(), status, captures, missing, safety: Vec::new() });
        }
    }

    /// Returns the changed file that the filled pattern expects, or as an error the missing path or pattern, as people
    /// would write it.
    fn find_change(&self, expected: &Pattern, captures: &Captures) -> Result<String, String> {
        let filled = match expected.fill(captures) {
            Ok(filled) => filled,
            // No path can match, so nothing can satisfy the pattern.
            Err(FillError::Unusable { filled, .. }) => return Err(filled),
            Err(FillError::Unbound { .. }) => return Err(expected.source().to_owned()),
        };
        if let Some(path) = filled.only_path() {
            return if self.changes.contains(path) { Ok(path.to_owned()) } else { Err(path.to_owned()) };
        }
        let candidates = self.changes.containing(filled.required_literal());
        // The smallest name, so that the order of changes does not matter.
        let found = candidates.into_iter().filter(|path| filled.matches(path)).min();
        found.map(str::to_owned).ok_or_else(|| filled.source().to_owned())
    }

    fn finish(self) -> FileMatch {
        let matched = self.matched.into_iter().collect();
        FileMatch { triggers: self.triggers, matched, ..FileMatch::default() }
    }
}
