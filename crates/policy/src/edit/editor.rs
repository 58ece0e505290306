//! The editor of one tier's policy. Each kind of change has its own file; this one applies them: it checks the changed
//! policy as a whole, and then writes the files.

use std::fs;
use std::path::{Path, PathBuf};

use engine::rules::Tier;
use engine::suggest;

use super::document::Document;
use super::policy_file_io;
use super::refusal::EditRefusal;
use crate::bundled::{BundledRule, bundled_rules};
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::files::reading::{is_readme, is_yaml};
use crate::import::ConversionNote;
use crate::load::{LastGoodPolicy, LoadedPolicy, load};
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::values::rule_id;

pub struct Editor {
    pub(super) folder: PolicyFolder,
    pub(super) tiers: PolicyFolders,
    /// The directory of the tier's rules.
    pub(super) rules_dir: PathBuf,
    /// The policy before the edit.
    pub(super) loaded_before: LoadedPolicy,
}

/// A change of a file. `before` and `after` are its texts, or `None` if the file does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub path: PathBuf,
    /// The display name.
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EditOutcome {
    /// Empty if nothing had to be changed.
    pub changes: Vec<FileEdit>,
    /// Warnings about the changed files.
    pub warnings: Vec<Diagnostic>,
    /// Differences between imported rules and their originals.
    pub conversion_notes: Vec<ConversionNote>,
}

/// The errors for which a change is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Refuses any error in a changed file, and new errors in other files. For changes that replace the whole text of a
    /// file.
    NoErrorsInChangedFiles,
    /// Refuses only errors that the policy did not have before. For small changes of files that may have errors
    /// elsewhere.
    NoNewErrors,
}

/// The file that defines a rule.
pub(super) enum RuleLocation {
    Markdown(PathBuf),
    /// The library's file.
    Library(PathBuf),
    Bundled(&'static BundledRule),
}

impl Editor {
    /// `folder` is the policy folder to edit; it need not exist. `tiers` are the policy folders that apply.
    pub fn open(tiers: &PolicyFolders, folder: &PolicyFolder) -> Self {
        let mut tiers = tiers.clone();
        let tier_to_replace = if folder.tier == Tier::User { &mut tiers.user } else { &mut tiers.project };
        *tier_to_replace = Some(folder.clone());
        let loaded_before = load(&tiers, &LastGoodPolicy::default(), |_| true);
        let rules_dir = loaded_before.config.rules_dir(folder);
        Self { folder: folder.clone(), tiers, rules_dir, loaded_before }
    }

    /// Checks the policy with the changes, and writes them if there are no errors that prevent it.
    pub(super) fn apply(&self, changes: Vec<FileEdit>, strictness: Strictness) -> Result<EditOutcome, EditRefusal> {
        // Of two concurrent commands, the second waits and then sees the first one's changes.
        let _lock = policy_file_io::lock(&self.folder.path);
        let warnings = self.check(&changes, strictness)?;
        let targets = changes.iter().map(|change| self.resolve_target(change)).collect::<Result<Vec<_>, _>>()?;
        let mut written = Vec::new();
        for (change, target) in changes.iter().zip(&targets) {
            if let Err(refusal) = write_or_delete(target, change.after.as_deref(), &change.name) {
                for (change, target) in written.into_iter().rev() {
                    let _: Result<(), EditRefusal> = undo(change, target);
                }
                return Err(refusal);
            }
            written.push((change, target));
        }
        Ok(EditOutcome { changes, warnings, conversion_notes: Vec::new() })
    }

    /// Returns the file to write, or a refusal if the file was changed in the meantime.
    fn resolve_target(&self, change: &FileEdit) -> Result<PathBuf, EditRefusal> {
        let (base, path, name) = (&self.folder.base, &change.path, &change.name);
        // Deleting a symlink does not delete its target.
        let is_deleted = change.after.is_none();
        let target = if is_deleted {
            policy_file_io::resolve_without_following(base, path, name)?
        } else {
            policy_file_io::resolve_for_write(base, path, name)?
        };
        if policy_file_io::read(&target, &change.name)? != change.before {
            let message = format!("`{}` was changed by another program in the meantime", change.name);
            return Err(EditRefusal::new(DiagnosticKind::NotEditable, message)
                .help("read the file, then run the command again"));
        }
        Ok(target)
    }

    pub(super) fn file_edit(&self, path: PathBuf, before: Option<String>, after: Option<String>) -> FileEdit {
        FileEdit { name: self.folder.display_name(&path), path, before, after }
    }

    pub(super) fn read(&self, path: &Path) -> Result<Option<String>, EditRefusal> {
        policy_file_io::read(path, &self.folder.display_name(path))
    }

    /// Finds a rule of this tier, or else a bundled one.
    pub(super) fn locate(&self, id: &str) -> Result<RuleLocation, EditRefusal> {
        rule_id::check(id)?;
        if let Some(location) = self.locate_in_tier(id)? {
            return Ok(location);
        }
        if let Some(bundled) = bundled_rules().iter().find(|rule| rule.id == id) {
            return Ok(RuleLocation::Bundled(bundled));
        }
        let is_defined_in_config = |definition: &&RuleDefinition| {
            definition.rule.id == id && matches!(definition.origin, RuleOrigin::Inline | RuleOrigin::Local)
        };
        if let Some(definition) = self.loaded_before.definitions.iter().find(is_defined_in_config) {
            let message =
                format!("`{id}` is defined in {}, which commands do not change", definition.display_location());
            return Err(EditRefusal::new(DiagnosticKind::NotEditable, message).help("change it there in an editor"));
        }
        let refusal = EditRefusal::new(DiagnosticKind::UnknownRule, format!("there is no rule `{id}`"));
        if self.other_tiers().any(|other| other.has_rule(id)) {
            let message = format!("`{id}` is a rule of the {} tier", self.other_tier_name());
            let help = if self.folder.tier == Tier::User {
                "run the command without `--user`"
            } else {
                "run the command with `--user`"
            };
            return Err(EditRefusal::new(DiagnosticKind::UnknownRule, message).help(help));
        }
        let rule_ids = self.rule_ids();
        let known_ids = rule_ids.iter().map(String::as_str).chain(bundled_rules().iter().map(|rule| rule.id));
        Err(match suggest::closest(id, known_ids) {
            Some(close) => refusal.help(suggest::did_you_mean(close)),
            None => refusal.help("`linchpin rules list` lists the rules"),
        })
    }

    pub(super) fn has_rule(&self, id: &str) -> bool {
        self.locate_in_tier(id).is_ok_and(|location| location.is_some())
    }

    /// Finds a rule of this tier.
    pub(super) fn locate_in_tier(&self, id: &str) -> Result<Option<RuleLocation>, EditRefusal> {
        let markdown = self.rules_dir.join(format!("{id}.md"));
        if markdown.symlink_metadata().is_ok() {
            return Ok(Some(RuleLocation::Markdown(markdown)));
        }
        for path in self.libraries() {
            let Some(text) = self.read(&path)? else { continue };
            // Errors in a library are reported by `validate`, and by commands that change the library.
            let library = Document::of_yaml(&self.folder.display_name(&path), &text);
            if library.is_ok_and(|library| library.keys().any(|key| key == id)) {
                return Ok(Some(RuleLocation::Library(path)));
            }
        }
        Ok(None)
    }

    pub(super) fn libraries(&self) -> Vec<PathBuf> {
        self.files().into_iter().filter(|path| is_yaml(path)).collect()
    }

    /// Every rule file of this tier, in order.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.rules_dir).into_iter().flatten().filter_map(Result::ok);
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|path| (has_extension(path, "md") && !is_readme(path)) || is_yaml(path));
        files.sort();
        files
    }

    /// The ids of the rules of this tier, in force or not.
    pub(super) fn rule_ids(&self) -> Vec<String> {
        let files = self.files();
        let markdown = files.iter().filter(|path| has_extension(path, "md"));
        let mut rule_ids: Vec<String> =
            markdown.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
        for path in files.iter().filter(|path| is_yaml(path)) {
            let text = self.read(path).ok().flatten().unwrap_or_default();
            if let Ok(library) = Document::of_yaml("", &text) {
                rule_ids.extend(library.keys().map(str::to_owned));
            }
        }
        rule_ids
    }

    pub(super) fn other_tiers(&self) -> impl Iterator<Item = Self> {
        let others = self.tiers.folders().filter(|folder| folder.tier != self.folder.tier);
        others.map(|folder| Self::open(&self.tiers, folder))
    }

    pub(super) fn other_tier_name(&self) -> &'static str {
        if self.folder.tier == Tier::User { Tier::Project.name() } else { Tier::User.name() }
    }
}

pub(super) fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

fn write_or_delete(target: &Path, text: Option<&str>, name: &str) -> Result<(), EditRefusal> {
    match text {
        Some(text) => policy_file_io::write(target, text).map_err(|error| EditRefusal::io(name, "written", &error)),
        None => fs::remove_file(target).map_err(|error| EditRefusal::io(name, "deleted", &error)),
    }
}

fn undo(change: &FileEdit, target: &Path) -> Result<(), EditRefusal> {
    write_or_delete(target, change.before.as_deref(), &change.name)
}
