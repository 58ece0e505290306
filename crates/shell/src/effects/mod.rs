//! The effects of a script: on files (in this module), and on branches of remote repositories (`rewrites`).
//!
//! The table of programs, [`crate::programs`], assigns a role to each argument. If a program is not in the table, every
//! part of its words that could be a path counts as a path with an unknown access. Words that are data to their program
//! (a message, a search pattern) are not paths.

mod collector;
mod container_host;
mod effect;
mod mentioned_paths;
mod rewrites;
mod symlink;

use crate::model::{Script, SimpleCommand};
use collector::Collector;
use mentioned_paths::path_candidates;
use symlink::Symlink;

pub use effect::{Effect, PathExpansion};
pub use rewrites::{REWRITE_WORDS, Rewrite, RewrittenBranch};

impl Script {
    /// Returns the effects in the order of the commands. A path may appear several times.
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut symlinks: Vec<Symlink> = Vec::new();
        for (index, command) in self.commands.iter().enumerate() {
            let mut command_effects = effects_of(command, index);
            add_effects_through_symlinks(&symlinks, &mut command_effects);
            effects.append(&mut command_effects);
            symlinks.extend(Symlink::created_by(command).filter(|_| symlinks.len() < MAX_SYMLINKS));
            let copied = Symlink::copied_by(command);
            symlinks.extend(copied.into_iter().take(MAX_SYMLINKS.saturating_sub(symlinks.len())));
        }
        effects.extend(
            self.unattached_words.iter().flat_map(|word| path_candidates(word)).map(Effect::of_unattached_word),
        );
        effects
    }
}

/// Returns the effects of one command on this machine.
fn effects_of(command: &SimpleCommand, index: usize) -> Vec<Effect> {
    let mut effects = Vec::new();
    let directories = command.directories().clone();
    let mut collector =
        Collector { command, command_index: index, directories, is_variable_value: false, effects: &mut effects };
    collector.collect_from_redirects();
    collector.collect_from_words();
    match &command.context.container {
        Some(container) => effects.iter().flat_map(|effect| container.on_host(effect)).collect(),
        None => effects,
    }
}

/// Adds the effects on the targets of symlinks that the script has created. A target may be another symlink.
fn add_effects_through_symlinks(symlinks: &[Symlink], effects: &mut Vec<Effect>) {
    let mut next = 0..effects.len();
    for _ in 0..MAX_SYMLINK_CHAIN {
        let last = effects.get(next).unwrap_or_default().iter();
        let followed = last.flat_map(|effect| symlinks.iter().flat_map(|symlink| symlink.follow(effect)));
        // Effects that are already listed are left out, so the search ends for a cycle of symlinks.
        let is_new = |effect: &Effect| !effects.contains(effect);
        let followed: Vec<Effect> = followed.filter(is_new).take(MAX_FOLLOWED).collect();
        next = effects.len()..effects.len() + followed.len();
        effects.extend(followed);
    }
}

/// The maximum number of symlinks that are followed for a script. Each symlink is compared with every path.
const MAX_SYMLINKS: usize = 16;

/// The maximum length of a chain of symlinks, in which the target of each symlink is the next symlink.
const MAX_SYMLINK_CHAIN: usize = 8;
/// The maximum number of effects that are added for one command at each step of a chain of symlinks.
const MAX_FOLLOWED: usize = 1024;
