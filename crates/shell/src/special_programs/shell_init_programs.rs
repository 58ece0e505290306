//! Programs that print a script to initialize a shell, for `eval`: `eval "$(ssh-agent -s)"`.
//!
//! The output of these programs is not known, but is trusted, because the programs are widely used and print such a
//! script for this purpose.

use crate::model::SimpleCommand;

/// The first words of commands that print such a script.
const COMMANDS: &[&str] = &[
    "atuin init",
    "aws configure export-credentials",
    "brew shellenv",
    "cargo llvm-cov show-env",
    "conda shell.",
    "deno completions",
    "dircolors",
    "direnv export",
    "direnv hook",
    "docker completion",
    "docker-machine env",
    "fnm env",
    "fzf --bash",
    "gh completion",
    "gh copilot alias",
    "gpg-agent",
    "helm completion",
    "jj util completion",
    "just --completions",
    "keychain",
    "kind completion",
    "kubectl completion",
    "lesspipe",
    "linchpin completions",
    "luarocks path",
    "minikube completion",
    "minikube docker-env",
    "minikube podman-env",
    "mise activate",
    "mise env",
    "ng completion",
    "nodenv init",
    "npm completion",
    "opam env",
    "path_helper",
    "perl -I~/perl5/lib/perl5 -Mlocal::lib",
    "perl -Mlocal::lib",
    "pip completion",
    "pixi shell-hook",
    "pnpm completion",
    "podman completion",
    "poetry completions",
    "poetry env activate",
    "pyenv init",
    "pyenv virtualenv-init",
    "rbenv init",
    "register-python-argcomplete",
    "resize",
    "rustup completions",
    "ssh-agent",
    "starship init",
    "thefuck --alias",
    "uv generate-shell-completion",
    "volta completions",
    "zoxide init",
];

/// Directories of programs that belong to the system, or that a person installed.
const INSTALLED: &[&str] = &["/bin/", "/home/linuxbrew/", "/opt/", "/usr/", "~/."];

/// True if the command prints nothing but a script to initialize a shell.
pub(crate) fn prints_shell_init(command: &SimpleCommand) -> bool {
    let text = command.text();
    let begins = |command_start: &&str| {
        let rest = text.strip_prefix(command_start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') || command_start.ends_with('.'))
    };
    // A program in the project may have the same name as an installed program.
    let is_installed = |program: &str| !program.contains('/') || INSTALLED.iter().any(|root| program.starts_with(root));
    let program = command.words().first().and_then(|word| word.value.as_deref());
    // A word with a placeholder counts as known: `$HOME`.
    let is_known = command.words().iter().all(|word| word.value_or_placeholder().is_some());
    is_known && program.is_some_and(is_installed) && COMMANDS.iter().any(begins)
}
