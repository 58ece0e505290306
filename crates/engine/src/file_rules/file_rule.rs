//! A file rule and its judgement of changes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::file_pattern::{CompiledPattern, candidates, compiled};
use super::{Changes, FileMatch, FilePattern, Status, TriggeringFile};
use path::pattern::{Captures, FillError, Pattern, PatternError};

/// A rule about files that must change together. The serialized names of the fields must not change, because the text
/// of a workflow that a person trusts contains file rules as JSON. Renamed fields therefore have a `serde(rename)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRule {
    #[serde(rename = "mode")]
    pub kind: FileRuleKind,
    /// Files that never trigger the rule. A change of such a file can still satisfy the rule.
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
    /// The rule is unmet if a changed file matches a trigger pattern and no changed file matches a `safety` pattern. If
    /// every triggering file has values for all variables of a safety pattern, a match of that pattern satisfies only
    /// the triggering files with the same values; otherwise a match satisfies all triggering files.
    Trigger { trigger: Vec<FilePattern>, safety: Vec<FilePattern> },
    /// The files that match these patterns must change together. A change of any of them triggers the rule.
    Set(Vec<FilePattern>),
    /// If a file that matches `trigger` changes, the files that match `expects` must change, too.
    Pair { trigger: FilePattern, expects: Vec<FilePattern> },
    /// The rule is unmet if a new file matches one of these patterns.
    Created(Vec<FilePattern>),
}

impl FileRuleKind {
    /// The patterns of files that can trigger the rule.
    pub fn trigger_patterns(&self) -> &[FilePattern] {
        match self {
            Self::Trigger { trigger, .. } => trigger,
            Self::Set(members) => members,
            Self::Pair { trigger, .. } => std::slice::from_ref(trigger),
            Self::Created(patterns) => patterns,
        }
    }
}

/// Selects the changes that a rule considers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct ChangeScope {
    pub compare_to: Baseline,
    pub attribute: AttributionMode,
}

/// The state that the files of the working tree are compared with.
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

/// Selects the changes that can trigger a rule in a session.
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

/// Selects the changes after which a rule makes a new demand, although its demand was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Refire {
    /// Changes of files that were not part of the answered demand.
    #[default]
    Files,
    /// Changes of files that were not part of the answered demand, and new content of files that were part of the
    /// answered demand.
    Content,
}

/// The command that a file rule runs to fix what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAction {
    /// The command line as it is written in the rule's file, for people.
    pub text: String,
    /// Program and arguments, with placeholders.
    pub words: Vec<String>,
    pub run_for: RunFor,
    pub timeout: Duration,
}

impl CommandAction {
    /// True if a word of the command contains this placeholder.
    pub fn has_placeholder(&self, placeholder: &str) -> bool {
        let braced = format!("{{{placeholder}}}");
        self.words.iter().any(|word| word.contains(&braced))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RunFor {
    /// The command runs once for each triggering file that still exists.
    #[default]
    EachMatch,
    /// The command runs once for all triggering files that still exist, or once for each batch of these files if there
    /// are many.
    AllMatches,
}

impl FileRule {
    /// All patterns of the rule, including the patterns of `exclude`.
    pub fn patterns(&self) -> impl Iterator<Item = &FilePattern> {
        let others = match &self.kind {
            FileRuleKind::Trigger { safety, .. } => safety.as_slice(),
            FileRuleKind::Pair { expects, .. } => expects.as_slice(),
            FileRuleKind::Set(_) | FileRuleKind::Created(_) => &[],
        };
        self.kind.trigger_patterns().iter().chain(others).chain(&self.exclude)
    }

    /// True if this version of a rule makes every demand that an earlier version made. Patterns are compared as text:
    /// more trigger patterns, more expected files or fewer exceptions (`exclude`, `safety`) make the later version
    /// stricter. `attribute: tree` and `refire: content` also make the later version stricter. Any other change of a
    /// condition counts as milder.
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

    /// Prefilter: false only if no change can trigger the rule.
    pub fn may_trigger(&self, changes: &Changes) -> bool {
        self.kind.trigger_patterns().iter().any(|pattern| pattern.may_match(changes))
    }

    /// True if an answer to a demand stays valid when the triggering files are edited again.
    pub fn answers_survive_edits(&self) -> bool {
        self.refire == Refire::Files && self.command.is_none()
    }

    /// Judges the changes. Fails only for an invalid pattern. The patterns were checked when the rule was loaded.
    pub fn judge(&self, changes: &Changes) -> Result<FileMatch, PatternError> {
        if !self.may_trigger(changes) {
            return Ok(FileMatch::default());
        }
        let exclude = compiled(&self.exclude, changes)?;
        let is_included = |path: &str| !exclude.iter().any(|pattern| pattern.matches(path));
        match &self.kind {
            FileRuleKind::Trigger { trigger, safety } => {
                let file_match = trigger_on_any(trigger, changes, |path, _| is_included(path))?;
                let safety = safety.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                Ok(apply_safety(file_match, &safety, changes))
            }
            FileRuleKind::Created(patterns) => {
                trigger_on_any(patterns, changes, |path, status| status == Status::Added && is_included(path))
            }
            FileRuleKind::Pair { trigger, expects } => {
                let trigger = trigger.compile()?;
                let expects = expects.iter().map(FilePattern::compile).collect::<Result<Vec<_>, _>>()?;
                let expects: Vec<&CompiledPattern> = expects.iter().collect();
                let mut search = ExpectedChanges::new(changes);
                for (path, status) in candidates(self.kind.trigger_patterns(), changes) {
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
                let candidates = candidates(self.kind.trigger_patterns(), changes).into_iter();
                for (path, status) in candidates.filter(|(path, _)| is_included(path)) {
                    let Some((own_index, captures)) = most_specific(&members, path) else { continue };
                    let others = members.iter().enumerate().filter(|(index, _)| *index != own_index);
                    let others: Vec<&CompiledPattern> = others.map(|(_, member)| member).collect();
                    search.expect(path, status, captures, &others);
                }
                Ok(search.finish())
            }
        }
    }
}

/// Returns the changed files that match one of the patterns and for which `is_included` returns true, as triggers
/// without missing files.
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
        Some(TriggeringFile { path: path.to_owned(), status, captures, missing_files: Vec::new(), safety: Vec::new() })
    });
    Ok(FileMatch { triggers: triggers.collect(), ..FileMatch::default() })
}

/// Applies the patterns of `safety`. If a pattern contains variables, and every trigger has values for all of these
/// variables, a change that matches the pattern satisfies only the triggers with the same values. A change that matches
/// any other pattern satisfies all triggers.
fn apply_safety(mut file_match: FileMatch, safety: &[CompiledPattern], changes: &Changes) -> FileMatch {
    let is_bound = |pattern: &Pattern| {
        let binds_all = |trigger: &TriggeringFile| pattern.variables().all(|name| trigger.captures.get(name).is_some());
        pattern.variables().next().is_some() && file_match.triggers.iter().all(binds_all)
    };
    let (bound, unbound): (Vec<_>, Vec<_>) = safety.iter().partition(|safety| is_bound(&safety.pattern));
    file_match.safety = unbound.iter().map(|safety| safety.pattern.source().to_owned()).collect();
    let mut satisfied_by = matching(&unbound, changes);
    file_match.is_satisfied_by_safety = !satisfied_by.is_empty();
    for mut trigger in std::mem::take(&mut file_match.triggers) {
        let mut satisfying_path = None;
        let mut missing = Vec::new();
        for safety in &bound {
            match find_expected(&safety.pattern, &trigger.captures, changes) {
                ExpectedFile::Changed(path) => {
                    satisfying_path = Some(path);
                    break;
                }
                ExpectedFile::Missing(path) => missing.push(path),
            }
        }
        if let Some(path) = satisfying_path {
            satisfied_by.insert(path);
        } else {
            trigger.safety = missing;
            file_match.triggers.push(trigger);
        }
    }
    file_match.is_satisfied_by_safety |= file_match.triggers.is_empty() && !satisfied_by.is_empty();
    file_match.satisfied_by = satisfied_by.into_iter().collect();
    file_match
}

fn matching(patterns: &[&CompiledPattern], changes: &Changes) -> BTreeSet<String> {
    let matched = patterns.iter().flat_map(|pattern| {
        changes.paths_containing(pattern.literal).into_iter().filter(|path| pattern.pattern.matches(path))
    });
    matched.map(str::to_owned).collect()
}

/// The most specific pattern of a set that matches a path: `tests/{path}_test.py` takes precedence over `{path}.py`.
fn most_specific(members: &[CompiledPattern], path: &str) -> Option<(usize, Captures)> {
    let matched = members.iter().enumerate().filter(|(_, member)| member.matches(path));
    // Of equally specific patterns, the first pattern is chosen.
    let (own, member) = matched.rev().max_by_key(|(_, member)| member.pattern.literal_length())?;
    Some((own, member.pattern.captures(path)?))
}

/// Collects the triggers for which an expected file did not change, and the expected files that changed.
struct ExpectedChanges<'a> {
    changes: &'a Changes,
    triggers: Vec<TriggeringFile>,
    satisfied_by: BTreeSet<String>,
}

impl<'a> ExpectedChanges<'a> {
    fn new(changes: &'a Changes) -> Self {
        Self { changes, triggers: Vec::new(), satisfied_by: BTreeSet::new() }
    }

    fn expect(&mut self, path: &str, status: Status, captures: Captures, expects: &[&CompiledPattern]) {
        let mut missing_files = Vec::new();
        for expected in expects {
            match find_expected(&expected.pattern, &captures, self.changes) {
                ExpectedFile::Changed(path) => {
                    self.satisfied_by.insert(path);
                }
                ExpectedFile::Missing(path) => missing_files.push(path),
            }
        }
        if !missing_files.is_empty() {
            let path = path.to_owned();
            self.triggers.push(TriggeringFile { path, status, captures, missing_files, safety: Vec::new() });
        }
    }

    fn finish(self) -> FileMatch {
        let satisfied_by = self.satisfied_by.into_iter().collect();
        FileMatch { triggers: self.triggers, satisfied_by, ..FileMatch::default() }
    }
}

/// The result of the search for a file that a trigger expects.
enum ExpectedFile {
    /// The file changed. The string is the path of the file.
    Changed(String),
    /// The file did not change. The string is the path of the file or, if several paths could match, the pattern.
    Missing(String),
}

/// Fills the pattern with the captures of a trigger, and searches the changes for a match.
fn find_expected(expected: &Pattern, captures: &Captures, changes: &Changes) -> ExpectedFile {
    let filled = match expected.fill(captures) {
        Ok(filled) => filled,
        // With these captures, the pattern can match no path, so the expected file is missing.
        Err(FillError::Unusable { filled, .. }) => return ExpectedFile::Missing(filled),
        Err(FillError::Unbound { .. }) => return ExpectedFile::Missing(expected.source().to_owned()),
    };
    if let Some(path) = filled.only_path() {
        let path = path.to_owned();
        return if changes.contains(&path) { ExpectedFile::Changed(path) } else { ExpectedFile::Missing(path) };
    }
    let candidates = changes.paths_containing(filled.required_literal());
    // The first path in byte order is chosen, so that the result does not depend on the order of the changes.
    match candidates.into_iter().filter(|path| filled.matches(path)).min() {
        Some(path) => ExpectedFile::Changed(path.to_owned()),
        None => ExpectedFile::Missing(filled.source().to_owned()),
    }
}
