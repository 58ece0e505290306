//! Proposals: rules that an agent drafts and a person accepts.
//!
//! Proposals are in the agent's directory, where the agent can write anything. So they are not part of the policy, and
//! not trusted: a proposal must be a regular file of limited size without invisible characters. A person accepts the
//! text that they were shown, even if the file has changed since.

use std::fs;
use std::path::{Path, PathBuf};

use super::editor::{EditOutcome, Editor, Strictness};
use super::policy_file_io;
use super::refusal::EditRefusal;
use crate::files::bounded::read_bounded;
use crate::files::folder::PolicyFolder;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::values::rule_id;

/// Maximum size of a proposal in bytes: more than a person would read before accepting it.
const SIZE_LIMIT: u64 = 16 * 1024;
const COUNT_LIMIT: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub id: String,
    pub text: String,
}

/// A project's proposals.
pub struct Proposals {
    project: PolicyFolder,
}

impl Proposals {
    pub fn of(project: &PolicyFolder) -> Self {
        Self { project: project.clone() }
    }

    fn directory(&self) -> PathBuf {
        self.project.path.join("agent/proposals")
    }

    fn path(&self, id: &str) -> PathBuf {
        self.directory().join(format!("{id}.md"))
    }

    pub fn display_name(&self, id: &str) -> String {
        self.project.display_name(&self.path(id))
    }

    /// Saves a proposal. Replaces an earlier one of the same id.
    pub fn save(&self, proposal: &Proposal) -> Result<PathBuf, EditRefusal> {
        rule_id::check(&proposal.id)?;
        check_text(&proposal.text)?;
        let path = self.path(&proposal.id);
        let display_name = self.project.display_name(&path);
        if path.symlink_metadata().is_err() && self.ids().len() >= COUNT_LIMIT {
            let message = format!("there are already {COUNT_LIMIT} proposals");
            return Err(EditRefusal::new(DiagnosticKind::TooLarge, message)
                .help("ask a person to accept or delete some of them: `linchpin rules accept` lists them"));
        }
        self.refuse_symlinked_directory(&display_name)?;
        let target = policy_file_io::resolve_for_write(&self.directory(), &path, &display_name)?;
        policy_file_io::write(&target, &proposal.text)
            .map_err(|error| EditRefusal::io(&display_name, "written", &error))?;
        Ok(path)
    }

    /// The ids of all proposals, in order. Files whose names are not valid ids are ignored.
    pub fn ids(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory()).into_iter().flatten().filter_map(Result::ok);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).collect();
        ids.retain(|id| rule_id::check(id).is_ok());
        ids.sort();
        ids
    }

    pub fn get(&self, id: &str) -> Result<Proposal, EditRefusal> {
        rule_id::check(id)?;
        let path = self.path(id);
        let display_name = self.project.display_name(&path);
        let Ok(metadata) = path.symlink_metadata() else {
            let refusal = EditRefusal::new(DiagnosticKind::NotFound, format!("no proposal has the id `{id}`"));
            return Err(refusal.help("to list the proposals, run `linchpin rules accept`"));
        };
        self.refuse_symlinked_directory(&display_name)?;
        if !metadata.is_file() {
            return Err(EditRefusal::new(
                DiagnosticKind::Unreadable,
                format!("`{display_name}` is not a regular file"),
            )
            .help("delete it; a proposal must be a regular file, not a symlink"));
        }
        let text = read_bounded(&path, SIZE_LIMIT)
            .map_err(|error| policy_file_io::unreadable(&display_name, SIZE_LIMIT, &error))?;
        check_text(&text)?;
        Ok(Proposal { id: id.to_owned(), text })
    }

    /// Refuses a symlinked directory. The agent can create symlinks, and a symlink to the directory of the rules would
    /// turn a proposal into an active rule.
    fn refuse_symlinked_directory(&self, display_name: &str) -> Result<(), EditRefusal> {
        let directory = self.directory();
        let mut directories = directory.ancestors().take_while(|ancestor| *ancestor != self.project.path);
        if !directories.any(Path::is_symlink) {
            return Ok(());
        }
        Err(EditRefusal::new(
            DiagnosticKind::NotEditable,
            format!("the folder of `{display_name}` is a symlink, so it cannot hold proposals"),
        )
        .help("delete the symlink"))
    }

    fn delete(&self, id: &str) {
        // If deleting fails, the proposal still cannot be accepted again, because its id is taken.
        let _ = fs::remove_file(self.path(id));
    }
}

impl Editor {
    /// Returns warnings about a proposal, or a refusal if it cannot be accepted.
    pub fn check_proposal(&self, proposal: &Proposal) -> Result<Vec<Diagnostic>, EditRefusal> {
        check_text(&proposal.text)?;
        self.refuse_existing(&proposal.id)?;
        let path = self.rules_dir.join(format!("{}.md", proposal.id));
        let change = self.file_edit(path, None, Some(proposal.text.clone()));
        let proposal_file = Proposals::of(&self.folder).display_name(&proposal.id);
        // Problems are shown in the proposal's file, because the rule file does not exist yet.
        let in_proposal = |mut problem: Diagnostic| {
            if problem.source.name == change.name {
                problem.source.name.clone_from(&proposal_file);
            }
            problem
        };
        match self.check(std::slice::from_ref(&change), Strictness::NoErrorsInChangedFiles) {
            Ok(warnings) => Ok(warnings.into_iter().map(in_proposal).collect()),
            Err(mut refusal) => {
                refusal.problems = refusal.problems.into_iter().map(in_proposal).collect();
                Err(refusal)
            }
        }
    }

    /// Adds the proposal's text to the project's rules, even if the proposal's file has changed since it was read.
    pub fn accept(&self, proposal: &Proposal, from: &Proposals) -> Result<EditOutcome, EditRefusal> {
        check_text(&proposal.text)?;
        self.refuse_existing(&proposal.id)?;
        let outcome = self.add_markdown(&proposal.id, proposal.text.clone())?;
        from.delete(&proposal.id);
        Ok(outcome)
    }
}

/// Refuses text that is too long, or that has invisible characters.
fn check_text(text: &str) -> Result<(), EditRefusal> {
    if text.len() as u64 > SIZE_LIMIT {
        let message =
            format!("the proposal is larger than the limit of {} KiB; a person has to read it", SIZE_LIMIT / 1024);
        return Err(EditRefusal::new(DiagnosticKind::TooLarge, message));
    }
    let plain = text.replace("\r\n", "\n");
    let invisible = plain
        .char_indices()
        .find(|(offset, character)| is_invisible(*character) && !(*offset == 0 && *character == '\u{feff}'));
    match invisible {
        None => Ok(()),
        Some((offset, character)) => {
            let line = plain.get(..offset).unwrap_or_default().matches('\n').count() + 1;
            let message =
                format!("the proposal has an invisible character, U+{:04X}, on line {line}", u32::from(character));
            Err(EditRefusal::new(DiagnosticKind::InvalidValue, message)
                .help("remove it: a person must see everything that they accept"))
        }
    }
}

/// True for control characters, and characters that change the text direction or have no width.
fn is_invisible(character: char) -> bool {
    let is_control = character.is_control() && character != '\n' && character != '\t';
    is_control
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
