//! Imports rule files, and rule lists in DeepWork's old format, and replaces the text of rule files.

use std::fs;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::editor::{EditOutcome, Editor, FileEdit, RuleLocation, Strictness, has_extension};
use super::policy_file_io;
use super::refusal::EditRefusal;
use crate::deepwork;
use crate::files::bounded::SIZE_LIMIT;
use crate::files::reading::{has_rule_files, is_readme, is_yaml};
use crate::import::{self, Conversion};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;
use crate::values::rule_id;

impl Editor {
    /// Copies a rule file, or all rule files of a directory; if one of them is refused, none is copied. `replace`
    /// allows replacing files of the same name. A list in the old format is converted to rules, which never replace
    /// others.
    pub fn import(&self, from: &Path, replace: bool) -> Result<EditOutcome, EditRefusal> {
        if let Some(list) = read_old_list(from)? {
            return self.import_list(
                &list,
                from.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")),
            );
        }
        let files = rule_files(from)?;
        let mut changes = files.iter().map(|path| self.edit_to_import(path, replace)).collect::<Result<Vec<_>, _>>()?;
        let copies: Vec<(String, String)> = changes
            .iter()
            .map(|change| change.name.clone())
            .zip(files.iter().map(|file| file.display().to_string()))
            .collect();
        changes.retain(|change| change.before != change.after);
        self.apply(changes, Strictness::NoErrorsInChangedFiles).map_err(|mut refusal| {
            // The copies do not exist, so the problems are shown in the originals.
            for problem in &mut refusal.problems {
                if let Some((_, from)) = copies.iter().find(|(to, _)| *to == problem.source.name) {
                    problem.source.name.clone_from(from);
                }
            }
            refusal
        })
    }

    fn import_list(&self, list: &Source, folder: &Path) -> Result<EditOutcome, EditRefusal> {
        let Conversion { rules, mut problems } = import::convert(list, folder);
        for rule in &rules {
            if let Some(tier) = self.tier_that_has(&rule.id)? {
                let message = format!("rule `{}` already exists in the {tier} tier", rule.id);
                problems.push(
                    Diagnostic::error(DiagnosticKind::RuleExists, message, list, Some(rule.name_span.clone()))
                        .help("change the `name` here, or remove the entry"),
                );
            }
        }
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        if let Some(refusal) = EditRefusal::of_errors(problems) {
            return Err(refusal);
        }
        let (mut changes, mut conversion_notes) = (Vec::new(), Vec::new());
        for rule in rules {
            let path = self.rules_dir.join(format!("{}.md", rule.id));
            changes.push(self.file_edit(path, None, Some(rule.text)));
            conversion_notes.extend(rule.conversion_notes);
        }
        Ok(EditOutcome { conversion_notes, ..self.apply(changes, Strictness::NoErrorsInChangedFiles)? })
    }

    fn edit_to_import(&self, from: &Path, replace: bool) -> Result<FileEdit, EditRefusal> {
        let source_name = from.display().to_string();
        let text = policy_file_io::read(from, &source_name)?
            .ok_or_else(|| EditRefusal::new(DiagnosticKind::NotFound, format!("`{source_name}` does not exist")))?;
        let stem = from.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        rule_id::check(&stem)?;
        let (to, ids) = if has_extension(from, "md") {
            (self.rules_dir.join(format!("{stem}.md")), vec![stem])
        } else {
            let library = Document::of_yaml(&source_name, &text)?;
            (self.rules_dir.join(format!("{stem}.yml")), library.keys().map(str::to_owned).collect())
        };
        let before = self.read(&to)?;
        if before.is_some() && !replace {
            let message = format!("`{}` already exists", self.folder.display_name(&to));
            return Err(EditRefusal::new(DiagnosticKind::RuleExists, message)
                .help("to replace it, run the command with `--force`"));
        }
        for id in ids {
            match self.locate_in_tier(&id)? {
                Some(RuleLocation::Markdown(path) | RuleLocation::Library(path)) if path != to => {
                    let message = format!("rule `{id}` already exists in `{}`", self.folder.display_name(&path));
                    return Err(EditRefusal::new(DiagnosticKind::RuleExists, message).help("rename one of them"));
                }
                _ => {}
            }
        }
        Ok(self.file_edit(to, before, Some(text)))
    }

    /// The file that defines a rule, with its text.
    pub fn file_of(&self, id: &str) -> Result<(PathBuf, String), EditRefusal> {
        match self.locate(id)? {
            RuleLocation::Markdown(path) | RuleLocation::Library(path) => {
                let text = self.read(&path)?.unwrap_or_default();
                Ok((path, text))
            }
            RuleLocation::Bundled(_) => {
                let message = format!("`{id}` is a bundled rule and cannot be edited");
                Err(EditRefusal::new(DiagnosticKind::InvalidValue, message).help(format!(
                    "to replace it by your own copy, run `linchpin rules export {id} --to .`, then `linchpin rules \
                     import {id}.md`"
                )))
            }
        }
    }

    /// Replaces the text of a rule file. `before` is the text that the new one was derived from.
    pub fn replace(&self, path: &Path, before: &str, after: &str) -> Result<EditOutcome, EditRefusal> {
        if before == after {
            return Ok(EditOutcome::default());
        }
        self.apply(
            vec![self.file_edit(path.to_owned(), Some(before.to_owned()), Some(after.to_owned()))],
            Strictness::NoErrorsInChangedFiles,
        )
    }
}

/// Reads the file if it is a list in the old format. In a directory that is imported, such a file is treated as a
/// library, which then has errors.
fn read_old_list(from: &Path) -> Result<Option<Source>, EditRefusal> {
    if !is_yaml(from) || from.is_dir() {
        return Ok(None);
    }
    let source_name = from.display().to_string();
    let source = policy_file_io::read(from, &source_name)?.map(|text| Source::new(source_name, text));
    Ok(source.filter(|source| import::is_old_list(from, source)))
}

fn rule_files(from: &Path) -> Result<Vec<PathBuf>, EditRefusal> {
    let source_name = from.display().to_string();
    let is_rules = |path: &Path| has_extension(path, "md") || is_yaml(path);
    if !from.is_dir() {
        if is_rules(from) {
            return Ok(vec![from.to_owned()]);
        }
        if !from.exists() {
            return Err(EditRefusal::new(DiagnosticKind::NotFound, format!("`{source_name}` does not exist")));
        }
        let message = format!("`{source_name}` is not a rule file");
        return Err(EditRefusal::new(DiagnosticKind::InvalidValue, message)
            .help("pass a rule (`.md`) or a rule library (`.yml`, `.yaml`)"));
    }
    let entries = fs::read_dir(from).map_err(|error| policy_file_io::unreadable(&source_name, SIZE_LIMIT, &error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|path| is_rules(path) && !is_readme(path));
    files.sort();
    // If it is the only file, `config.yml` is not a library but the configuration of a policy folder.
    let is_config = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "config") && is_yaml(path);
    if files.iter().all(is_config) {
        return Err(EditRefusal::new(DiagnosticKind::NotFound, format!("`{source_name}` has no rule files"))
            .help(suggest_import(from)));
    }
    Ok(files)
}

/// A suggestion for a directory without rule files.
fn suggest_import(directory: &Path) -> String {
    if let Some(rules) = deepwork::importable_rules(directory) {
        return format!("did you mean `linchpin rules import {}`?", rules.display());
    }
    let subdirectories = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut subdirectories: Vec<PathBuf> = subdirectories.filter(|path| has_rule_files(path)).collect();
    subdirectories.sort();
    match subdirectories.first() {
        Some(subdirectory) => format!("did you mean `linchpin rules import {}`?", subdirectory.display()),
        None => "pass a rule (`.md`), a rule library (`.yml`, `.yaml`), a list in DeepWork's old format, or a \
                 folder with such files"
            .to_owned(),
    }
}
