//! The branch that is checked out, as far as the script determines it: `git switch main && git push --force` pushes
//! `main`.
//!
//! Unlike the rest of the state, the checked-out branch outlives a subshell: a branch that a subshell checks out stays
//! checked out.

use std::sync::Arc;

use crate::model::{CheckedOutBranch, SimpleCommand};
use crate::programs::Arguments;

/// The branches that may be checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckedOutBranches {
    current: Arc<[CheckedOutBranch]>,
    /// The branches if the last command failed; `None` if success and failure lead to the same branches.
    if_failed: Option<Arc<[CheckedOutBranch]>>,
}

/// If more branches than this are possible, the branch counts as unknown.
const MAX_BRANCHES: usize = 16;

impl Default for CheckedOutBranches {
    fn default() -> Self {
        Self { current: [CheckedOutBranch::AsBefore].into(), if_failed: None }
    }
}

impl CheckedOutBranches {
    pub(crate) fn list(&self) -> Arc<[CheckedOutBranch]> {
        Arc::clone(&self.current)
    }

    /// Applies a `git` command, whose arguments must have been read.
    pub(crate) fn apply(&mut self, command: &SimpleCommand) {
        let Some(arguments) = command.arguments() else { return };
        if let Some(branch) = checked_out(command, arguments) {
            self.if_failed = Some(std::mem::replace(&mut self.current, [branch].into()));
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = Self { current: [CheckedOutBranch::Unknown].into(), if_failed: None };
    }

    pub(crate) fn assume_failure(&mut self) {
        self.current = self.if_failed.take().unwrap_or_else(|| Arc::clone(&self.current));
    }

    pub(crate) fn assume_success(&mut self) {
        self.if_failed = None;
    }

    pub(crate) fn leave_success_unknown(&mut self) {
        if let Some(failed) = self.if_failed.take() {
            self.add(&failed);
        }
    }

    /// Joins the branches of two control-flow paths.
    pub(crate) fn or(&mut self, other: &Self) {
        self.add(&other.current);
    }

    fn add(&mut self, others: &[CheckedOutBranch]) {
        let new: Vec<&CheckedOutBranch> = others.iter().filter(|branch| !self.current.contains(branch)).collect();
        if self.current.len() + new.len() > MAX_BRANCHES {
            self.current = [CheckedOutBranch::Unknown].into();
        } else if !new.is_empty() {
            self.current = self.current.iter().chain(new).cloned().collect();
        }
    }
}

/// Returns the branch that a command checks out; `None` if the command does not change the checked-out branch.
fn checked_out(command: &SimpleCommand, arguments: &Arguments) -> Option<CheckedOutBranch> {
    let named = |index: usize| {
        command.text_from(index, 0).map_or(CheckedOutBranch::Unknown, |name| CheckedOutBranch::Named(name.to_owned()))
    };
    let form = arguments.subcommands.first().map(String::as_str)?;
    match (form, arguments.operands.as_slice()) {
        ("checkout" | "switch", operands) => branch_after_checkout(command, arguments, operands, form),
        ("rebase", [_, branch]) => Some(named(*branch)),
        ("branch", operands) if arguments.has_flag(&["-m", "-M", "--move"]) => operands.last().copied().map(named),
        // `git worktree add` creates another directory with its own checked-out branch. Later commands may run in
        // either directory.
        ("worktree", _) => {
            Some(CheckedOutBranch::Unknown).filter(|_| arguments.subcommands.get(1).is_some_and(|sub| sub == "add"))
        }
        ("symbolic-ref", [head, to]) if command.text_from(*head, 0) == Some("HEAD") => {
            let name = command.text_from(*to, 0).and_then(|name| name.strip_prefix("refs/heads/"));
            Some(name.map_or(CheckedOutBranch::Unknown, |name| CheckedOutBranch::Named(name.to_owned())))
        }
        _ => None,
    }
}

fn branch_after_checkout(
    command: &SimpleCommand,
    arguments: &Arguments,
    operands: &[usize],
    form: &str,
) -> Option<CheckedOutBranch> {
    const CREATING_FLAGS: &[&str] = &["-b", "-B", "-c", "-C", "--orphan", "--create", "--force-create"];
    if let Some(creating_flag) = arguments.flags.iter().find(|flag| CREATING_FLAGS.contains(&flag.name.as_str())) {
        let name = creating_flag.value.and_then(|value| command.text_from(value.word, value.from));
        return Some(name.map_or(CheckedOutBranch::Unknown, |name| CheckedOutBranch::Named(name.to_owned())));
    }
    let dashes = command.words().iter().position(|word| word.value.as_deref() == Some("--"));
    let has_paths = dashes.is_some_and(|index| operands.iter().any(|operand| *operand > index));
    let tracks = arguments.has_flag(&["-t", "--track"]);
    match operands {
        _ if has_paths => None,
        [operand] => Some(match command.text_from(*operand, 0) {
            Some(name) if name == "-" || name.contains('@') => CheckedOutBranch::Unknown,
            Some(name) if tracks => {
                CheckedOutBranch::Named(name.split_once('/').map_or(name, |(_, branch)| branch).to_owned())
            }
            Some(name) if form == "switch" || dashes.is_some() => CheckedOutBranch::Named(name.to_owned()),
            Some(name) => CheckedOutBranch::NamedOrAsBefore(name.to_owned()),
            None => CheckedOutBranch::Unknown,
        }),
        // A revision and paths: restores files without switching branches.
        _ => None,
    }
}
