//! What a script would do: to files (here), and to the branches of a remote (`rewrites`).
//!
//! What an argument is to its program is told by [`crate::programs`]. Of a program that is not known there, every piece of
//! every word that could be a path is one, and nobody knows what for. Words that are data to their program (a message, a
//! search pattern) name nothing.

mod collector;
mod container_host;
mod effect;
mod link;
mod mentioned_paths;
mod rewrites;

use crate::model::{Script, SimpleCommand};
use collector::Collector;
use link::Link;
use mentioned_paths::pieces;

pub use effect::{Effect, PathExpansion};
pub use rewrites::{Rewrite, RewrittenBranch};

impl Script {
    /// In order; a path may come more than once.
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut links: Vec<Link> = Vec::new();
        for (place, command) in self.commands.iter().enumerate() {
            let mut done = effects_of(command, place);
            follow(&links, &mut done);
            effects.append(&mut done);
            links.extend(Link::made_by(command).filter(|_| links.len() < MAX_LINKS));
            let copied = Link::copied_by(command);
            links.extend(copied.into_iter().take(MAX_LINKS.saturating_sub(links.len())));
        }
        effects.extend(self.loose.iter().flat_map(|word| pieces(word)).map(Effect::of_loose_word));
        effects
    }
}

/// What one command does, as it comes to on this machine.
fn effects_of(command: &SimpleCommand, place: usize) -> Vec<Effect> {
    let mut effects = Vec::new();
    let folders = command.folders().clone();
    let mut found = Collector { command, place, folders, is_setting: false, effects: &mut effects };
    found.in_redirects();
    found.in_words();
    match &command.context.container {
        Some(container) => effects.iter().flat_map(|effect| container.on_host(effect)).collect(),
        None => effects,
    }
}

/// Adds what is done through links that the script has made. A link may lead to another.
fn follow(links: &[Link], effects: &mut Vec<Effect>) {
    let mut next = 0..effects.len();
    for _ in 0..MAX_LINKS_IN_A_ROW {
        let reached = effects.get(next).unwrap_or_default().iter();
        let through = reached.flat_map(|effect| links.iter().flat_map(|link| link.followed(effect)));
        // Those that lead in a circle lead nowhere new.
        let is_new = |effect: &Effect| !effects.contains(effect);
        let through: Vec<Effect> = through.filter(is_new).take(MAX_FOLLOWED).collect();
        next = effects.len()..effects.len() + through.len();
        effects.extend(through);
    }
}

/// More are not followed: each is compared with every path.
const MAX_LINKS: usize = 16;

/// Links that lead to links are followed so far.
const MAX_LINKS_IN_A_ROW: usize = 8;
/// What one command does through links.
const MAX_FOLLOWED: usize = 1024;
