//! Checks changes before they are written: applies them to a temporary copy of the tier, and reads the policy with it.

use std::fs;
use std::io;
use std::path::Path;

use engine::rules::Tier;

use super::editor::{Editor, FileEdit, Strictness};
use super::refusal::EditRefusal;
use crate::files::bounded::{SIZE_LIMIT, read_bounded};
use crate::files::folder::PolicyFolder;
use crate::load::{LastGoodPolicy, load};
use crate::text::diagnostic::{Diagnostic, Severity};

impl Editor {
    /// Refuses changes that cause errors, and returns warnings about the changed files.
    pub(super) fn check(&self, changes: &[FileEdit], strictness: Strictness) -> Result<Vec<Diagnostic>, EditRefusal> {
        let after =
            self.problems_after(changes).map_err(|error| EditRefusal::io("a copy of the policy", "made", &error))?;
        let is_changed = |problem: &Diagnostic| changes.iter().any(|change| change.name == problem.source.name);
        let existed_before = |problem: &Diagnostic| {
            let same = |old: &Diagnostic| old.source.name == problem.source.name && old.message == problem.message;
            self.loaded_before.diagnostics.iter().any(same)
        };
        let (errors, warnings): (Vec<_>, Vec<_>) =
            after.into_iter().partition(|problem| problem.severity == Severity::Error);
        let prevents_edit = |error: &Diagnostic| {
            !existed_before(error) || (strictness == Strictness::NoErrorsInChangedFiles && is_changed(error))
        };
        let errors: Vec<_> = errors.into_iter().filter(prevents_edit).collect();
        match EditRefusal::of_errors(errors) {
            Some(refusal) => Err(refusal),
            None => Ok(warnings.into_iter().filter(is_changed).collect()),
        }
    }

    /// The problems that the policy would have after the changes.
    fn problems_after(&self, changes: &[FileEdit]) -> io::Result<Vec<Diagnostic>> {
        let scratch = tempfile::tempdir()?;
        let base = scratch.path().canonicalize()?;
        let folder = match self.folder.tier {
            Tier::User => PolicyFolder::of_user(&base),
            Tier::Local | Tier::Project | Tier::Bundled => PolicyFolder::of_project(&base),
        };
        let copy_of = |path: &Path| path.strip_prefix(&self.folder.base).map(|inner| base.join(inner));
        fs::create_dir_all(&folder.path)?;
        for path in self.files().into_iter().chain([self.folder.config()]) {
            if let (Ok(text), Ok(copy)) = (read_bounded(&path, SIZE_LIMIT), copy_of(&path)) {
                write(&copy, &text)?;
            }
        }
        let mut problems = Vec::new();
        for change in changes {
            let Ok(copy) = copy_of(&change.path) else { continue };
            match &change.after {
                // Unreadable files were not copied.
                None => drop(fs::remove_file(&copy)),
                Some(text) => write(&copy, text)?,
            }
        }
        let mut tiers = self.tiers.clone();
        let tier_to_replace = if folder.tier == Tier::User { &mut tiers.user } else { &mut tiers.project };
        *tier_to_replace = Some(folder);
        for mut problem in load(&tiers, &LastGoodPolicy::default(), |_| true).diagnostics {
            // Messages must name the real files, not the copies.
            let copied_base = base.display().to_string();
            problem.source.name = problem.source.name.replace(&copied_base, &self.folder.base.display().to_string());
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        Ok(problems)
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}
