//! Branches of remote repositories that a script rewrites or deletes.

mod hosting;
mod push;

use crate::model::{CheckedOutBranch, Script, SimpleCommand, Word};
use crate::programs::Arguments;

/// Words, one of which occurs in every command that [`Script::rewrites`] finds: subcommands, and parts of URLs by which
/// a hosting service deletes or moves a branch. A script without any of these words need not be parsed for rewrites.
pub const REWRITE_WORDS: &[&str] = &["push", "send-pack", "api", "graphql", "sync", "delete", "heads", "branches"];

/// One or more branches that one command rewrites or deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    pub branch: RewrittenBranch,
    /// False if it is possible that the command changes another branch, or no branch.
    pub is_certain: bool,
    /// The index of the command in [`Script::commands`].
    pub command_index: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewrittenBranch {
    Named(String),
    /// All branches that match a glob, whose only special character is `*`.
    Matching(String),
    /// The branch that is checked out when the command runs.
    Current(CheckedOutBranch),
    All,
    Unknown,
}

impl Script {
    /// Returns the rewrites in the order of the commands.
    pub fn rewrites(&self) -> Vec<Rewrite> {
        let of_command = |(command_index, command): (usize, &SimpleCommand)| {
            let found = match (command.program(), command.arguments()) {
                (None, _) => rewrites_by_assumed_program(command),
                (_, Some(arguments)) => rewrites_of(command, arguments),
                _ => FoundRewrites::new(),
            };
            // A command on another machine possibly runs in another repository, and a command that is only assumed (see
            // `Provenance::is_assumed`) possibly does not run.
            let may_rewrite_another = command.is_remote() || command.provenance.is_assumed;
            found
                .into_iter()
                .map(move |(branch, is_certain)| Rewrite {
                    branch,
                    is_certain: is_certain && !may_rewrite_another,
                    command_index,
                })
                .collect::<Vec<_>>()
        };
        self.commands.iter().enumerate().flat_map(of_command).collect()
    }
}

/// The branches that a command rewrites, each with a flag: true if the command certainly rewrites that branch.
type FoundRewrites = Vec<(RewrittenBranch, bool)>;

/// Programs that an unknown program is assumed to be.
const ASSUMED_PROGRAMS: &[&str] = &["git", "gh"];

/// Returns the branches that a command with an unknown program may rewrite: `$GIT push --force`.
fn rewrites_by_assumed_program(command: &SimpleCommand) -> FoundRewrites {
    let rewrites_by = |program: &&str| {
        let mut assumed = command.clone();
        *assumed.invocation.words.first_mut()? = Word::known(program);
        assumed.read_arguments();
        Some(rewrites_of(&assumed, assumed.arguments()?))
    };
    let found = ASSUMED_PROGRAMS.iter().filter_map(rewrites_by).flatten();
    found.map(|(branch, _)| (branch, false)).collect()
}

fn rewrites_of(command: &SimpleCommand, arguments: &Arguments) -> FoundRewrites {
    match (command.program(), arguments.subcommands.first().map(String::as_str)) {
        (Some("git"), Some("push" | "send-pack" | "http-push")) => push::rewrites_of_push(command, arguments),
        (Some("git"), Some("subtree")) if arguments.subcommands.get(1).is_some_and(|form| form == "push") => {
            push::rewrites_of_push(command, arguments)
        }
        _ => hosting::rewrite_by_host(command, arguments).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::REWRITE_WORDS;

    #[test]
    fn every_rewrite_has_one_of_the_words() {
        let mutation = r#"--data-raw '{"query":"mutation{deleteRef(input:{refId:\"x\"}){clientMutationId}}"}'"#;
        for command in [
            "git push -f origin main",
            "git send-pack --force origin main",
            "git http-push --force origin main",
            "git subtree push -f --prefix=a origin main",
            "gh repo sync o/r --force",
            "gh repo delete o/r",
            "hub delete o/r",
            "az repos ref delete --name heads/main",
            "sl push -f --to main",
            "gh api -X DELETE repos/o/r/git/refs/heads/main",
            "gh api -X DELETE repos/o/r",
            "glab api -X DELETE projects/4",
            "curl -X DELETE https://git.example.com/repos/o/r/git/refs/heads/main",
            "curl -X DELETE https://git.example.com/repos/o/r/git%2Frefs%2Fheads%2Fmain",
            "curl -X DELETE https://git.example.com/projects/1/repository/branches/main",
            "curl -X DELETE https://git.example.com/projects/1/repository%2Fbranches%2Fmain",
            "curl -X DELETE https://git.example.com/api/v4/projects/1/protected_branches/main",
            "curl -X DELETE https://git.example.com/api/v3/repos/o/r/rulesets/1",
            &format!("curl https://git.example.com/graphql {mutation}"),
        ] {
            assert!(!crate::parse(command).rewrites().is_empty(), "no rewrite: {command}");
            assert!(REWRITE_WORDS.iter().any(|word| command.contains(word)), "no word: {command}");
        }
    }
}
