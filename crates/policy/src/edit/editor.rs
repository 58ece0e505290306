//! One tier's policy, open for changes. What each change is, is in a file of its own; here is how any of them is made:
//! checked as a whole, then written.

use std::fs;
use std::path::{Path, PathBuf};

use engine::rules::Tier;
use engine::suggest;

use super::document::Document;
use super::file;
use super::refusal::EditRefusal;
use crate::bundled::{BundledRule, bundled_rules};
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::reading::{is_readme, is_yaml};
use crate::import::Rewritten;
use crate::load::{Before, Loaded, load};
use crate::rule::definition::{Definition, Form};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::values::rule_id;

pub struct Editor {
    pub(super) folder: PolicyFolder,
    pub(super) tiers: Tiers,
    /// Where the tier's rules lie.
    pub(super) rules: PathBuf,
    /// The policy as it is before any change.
    pub(super) before: Loaded,
}

/// A file's text, before and after; `None` where there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub path: PathBuf,
    /// How messages call the file.
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changed {
    /// Empty where everything already was as it was asked to be.
    pub changes: Vec<FileEdit>,
    /// Warnings about what was written.
    pub warnings: Vec<Diagnostic>,
    /// What of it is not as it was where it came from.
    pub rewritten: Vec<Rewritten>,
}

/// How sound a change has to leave the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// The changed files have no error at all: they are somebody's new text.
    Sound,
    /// No error that was not there: a small change need not mend the rest of its file.
    NoWorse,
}

/// Where a rule is written down.
pub(super) enum Place {
    Markdown(PathBuf),
    /// An entry of this file.
    Library(PathBuf),
    Bundled(&'static BundledRule),
}

impl Editor {
    /// `folder` is the tier to change; it need not exist. `tiers` are all that apply.
    pub fn open(tiers: &Tiers, folder: &PolicyFolder) -> Self {
        let mut tiers = tiers.clone();
        let slot = if folder.tier == Tier::User { &mut tiers.user } else { &mut tiers.project };
        *slot = Some(folder.clone());
        let before = load(&tiers, &Before::default(), |_| true);
        let rules = before.config.rules_dir(folder);
        Self { folder: folder.clone(), tiers, rules, before }
    }

    /// Checks what the policy would be, and writes only if that is as sound as is asked.
    pub(super) fn apply(&self, changes: Vec<FileEdit>, demand: Demand) -> Result<Changed, EditRefusal> {
        // Two commands at once take turns; the second then sees what the first has written.
        let _turn = file::turn(&self.folder.path);
        let warnings = self.check(&changes, demand)?;
        let targets = changes.iter().map(|change| self.target(change)).collect::<Result<Vec<_>, _>>()?;
        let mut written = Vec::new();
        for (change, target) in changes.iter().zip(&targets) {
            if let Err(refusal) = put(target, change.after.as_deref(), &change.name) {
                for (change, target) in written.into_iter().rev() {
                    let _: Result<(), EditRefusal> = undo(change, target);
                }
                return Err(refusal);
            }
            written.push((change, target));
        }
        Ok(Changed { changes, warnings, rewritten: Vec::new() })
    }

    /// Where to write; refused where somebody else has written in the meantime.
    fn target(&self, change: &FileEdit) -> Result<PathBuf, EditRefusal> {
        let (base, path, name) = (&self.folder.base, &change.path, &change.name);
        // Deleting a link leaves what it leads to.
        let is_deleted = change.after.is_none();
        let target = if is_deleted { file::entry(base, path, name)? } else { file::target(base, path, name)? };
        if file::read(&target, &change.name)? != change.before {
            let message = format!("`{}` was changed by somebody else in the meantime", change.name);
            return Err(EditRefusal::new(ErrorKind::NotEditable, message).help("look at it, and try again"));
        }
        Ok(target)
    }

    pub(super) fn change(&self, path: PathBuf, before: Option<String>, after: Option<String>) -> FileEdit {
        FileEdit { name: self.folder.shown(&path), path, before, after }
    }

    pub(super) fn read(&self, path: &Path) -> Result<Option<String>, EditRefusal> {
        file::read(path, &self.folder.shown(path))
    }

    /// Where this tier, or else the box, has the rule.
    pub(super) fn place(&self, id: &str) -> Result<Place, EditRefusal> {
        rule_id::check(id)?;
        if let Some(place) = self.own_place(id)? {
            return Ok(place);
        }
        if let Some(bundled) = bundled_rules().iter().find(|rule| rule.id == id) {
            return Ok(Place::Bundled(bundled));
        }
        let is_in_config =
            |known: &&Definition| known.rule.id == id && matches!(known.form, Form::Inline | Form::Local);
        if let Some(known) = self.before.definitions.iter().find(is_in_config) {
            let message = format!("`{id}` is written in {}, where no command changes it", known.shown_place());
            return Err(EditRefusal::new(ErrorKind::NotEditable, message).help("change it there, in an editor"));
        }
        let refusal = EditRefusal::new(ErrorKind::UnknownRule, format!("no rule is named `{id}`"));
        if self.other_tiers().any(|other| other.own_place(id).is_ok_and(|place| place.is_some())) {
            let message = format!("`{id}` is a rule of the {} tier", self.other_tier_name());
            let help = if self.folder.tier == Tier::User { "leave `--user` out" } else { "pass `--user` to change it" };
            return Err(EditRefusal::new(ErrorKind::UnknownRule, message).help(help));
        }
        let names = self.names();
        let known = names.iter().map(String::as_str).chain(bundled_rules().iter().map(|rule| rule.id));
        Err(match suggest::closest(id, known) {
            Some(close) => refusal.help(suggest::did_you_mean(close)),
            None => refusal.help("`linchpin rules list` shows those that there are"),
        })
    }

    /// Where this tier itself has the rule.
    pub(super) fn own_place(&self, id: &str) -> Result<Option<Place>, EditRefusal> {
        let markdown = self.rules.join(format!("{id}.md"));
        if markdown.symlink_metadata().is_ok() {
            return Ok(Some(Place::Markdown(markdown)));
        }
        for path in self.libraries() {
            let Some(text) = self.read(&path)? else { continue };
            // A broken library is told of by `validate`, and by whatever changes it.
            let library = Document::of_yaml(&self.folder.shown(&path), &text);
            if library.is_ok_and(|library| library.keys().any(|key| key == id)) {
                return Ok(Some(Place::Library(path)));
            }
        }
        Ok(None)
    }

    pub(super) fn libraries(&self) -> Vec<PathBuf> {
        self.files().into_iter().filter(|path| is_yaml(path)).collect()
    }

    /// Every file of rules, in order.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.rules).into_iter().flatten().filter_map(Result::ok);
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|path| (has_extension(path, "md") && !is_readme(path)) || is_yaml(path));
        files.sort();
        files
    }

    /// The rules that this tier has, in force or not.
    pub(super) fn names(&self) -> Vec<String> {
        let files = self.files();
        let markdown = files.iter().filter(|path| has_extension(path, "md"));
        let mut names: Vec<String> =
            markdown.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
        for path in files.iter().filter(|path| is_yaml(path)) {
            let text = self.read(path).ok().flatten().unwrap_or_default();
            if let Ok(library) = Document::of_yaml("", &text) {
                names.extend(library.keys().map(str::to_owned));
            }
        }
        names
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

fn put(target: &Path, text: Option<&str>, name: &str) -> Result<(), EditRefusal> {
    match text {
        Some(text) => file::write(target, text).map_err(|error| EditRefusal::io(name, "written", &error)),
        None => fs::remove_file(target).map_err(|error| EditRefusal::io(name, "deleted", &error)),
    }
}

fn undo(change: &FileEdit, target: &Path) -> Result<(), EditRefusal> {
    put(target, change.before.as_deref(), &change.name)
}
