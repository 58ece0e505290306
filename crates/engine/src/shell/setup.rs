//! Programs that print lines for a shell to set itself up with: `eval "$(ssh-agent -s)"`.
//!
//! What they print is not known here, but it is made for just this, by programs that everybody has.

use super::command::SimpleCommand;

/// The beginnings of their texts.
const SETUPS: &[&str] = &[
    "atuin init",
    "brew shellenv",
    "conda shell.",
    "dircolors",
    "direnv export",
    "direnv hook",
    "docker completion",
    "fnm env",
    "fzf --bash",
    "gh completion",
    "helm completion",
    "keychain",
    "kubectl completion",
    "linchpin completions",
    "luarocks path",
    "mise activate",
    "mise env",
    "nodenv init",
    "npm completion",
    "opam env",
    "pip completion",
    "pixi shell-hook",
    "pnpm completion",
    "pyenv init",
    "pyenv virtualenv-init",
    "rbenv init",
    "register-python-argcomplete",
    "rustup completions",
    "ssh-agent",
    "starship init",
    "thefuck --alias",
    "uv generate-shell-completion",
    "zoxide init",
];

pub(super) fn is_setup(command: &SimpleCommand) -> bool {
    let text = command.text();
    let begins = |setup: &&str| {
        let rest = text.strip_prefix(setup);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') || setup.ends_with('.'))
    };
    command.is_known() && SETUPS.iter().any(begins)
}
