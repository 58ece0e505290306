//! Programs in a package, an environment or a library, which another program runs by their names: `npx rimraf`, `python
//! -m pip`, `yarn workspace a tsc`, `ruby -run -e rm`.

use code::Language;

use super::git::is_subcommand;
use crate::model::{SimpleCommand, Word};
use crate::programs::{self, Argument, Arguments, Role, is_known_program};
use crate::special_programs::interpreter::is_interpreter;
use crate::special_programs::language::language_of;

/// Returns the command of a program that runs commands from a package or an environment: `npx rimraf@5 x`,
/// `hatch run test:pytest`.
pub(super) fn packaged_command(program: &str, arguments: &Arguments, words: &[Word]) -> Option<Vec<Word>> {
    let (first, rest) = words.split_first()?;
    let name = first.value.as_deref()?;
    let with = |name: &str| std::iter::once(Word::known(name)).chain(rest.iter().cloned()).collect();
    match program {
        // `uv tool run ruff@latest check`
        "uv" if is_subcommand(arguments, "tool") => Some(with(without_version(name))),
        // `nvm exec 20 npm test`
        "nvm" if is_node_version(name) => Some(rest.to_vec()),
        // `pipx runpip PACKAGE install x`
        "pipx" if is_subcommand(arguments, "runpip") => {
            Some(std::iter::once(Word::known("pip")).chain(words.iter().cloned()).collect())
        }
        // `hatch run ENVIRONMENT:COMMAND`
        "hatch" => name.rsplit_once(':').map(|(_, name)| with(name)),
        "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "bun" | "uvx" | "corepack" | "pipx" | "dnx" => {
            Some(with(without_version(name)))
        }
        _ => None,
    }
}

/// True for a Python script, or stdin, that `uv run` gives to an interpreter.
pub(super) fn is_python_script(name: &str) -> bool {
    name == "-" || name.rsplit('.').next() == Some("py")
}

fn is_node_version(name: &str) -> bool {
    let is_alias = matches!(name, "node" | "iojs" | "stable" | "unstable" | "system" | "default");
    is_alias
        || name.starts_with("lts/")
        || name.trim_start_matches('v').starts_with(|first: char| first.is_ascii_digit())
}

/// Returns the name of a package without its version: `rimraf` of `rimraf@5`, `@scope/name` of `@scope/name@1.2`, `pip`
/// of `pip>=24`, `pip[x]` and `pip ; python_version > "3"`.
fn without_version(package: &str) -> &str {
    let begins_version = |c: char| matches!(c, '@' | '=' | '<' | '>' | '!' | '~' | '[' | ';' | ' ');
    let version = package.char_indices().skip(1).find(|(_, c)| begins_version(*c)).map(|(at, _)| at);
    version.and_then(|at| package.get(..at)).unwrap_or(package)
}

/// Returns the command of `yarn rimraf x`, `yarn workspace a rimraf x` and `bun run rimraf x`: a program of a package,
/// unless the project has a script of that name.
pub(super) fn package_program(command: &SimpleCommand) -> Option<Vec<Word>> {
    let arguments = command.arguments()?;
    let last = |role| arguments.with_roles.iter().rfind(|argument| argument.role == role).map(|argument| argument.word);
    let index = match (command.program()?, arguments.is_known) {
        ("yarn" | "pnpm" | "bun", false) => last(Role::Subcommand),
        ("bun", true) => last(Role::Script),
        // `yarn run eslint`, `yarn workspaces foreach run eslint`
        ("yarn", true) if arguments.subcommands.last().is_some_and(|last| last == "run") => {
            let run = last(Role::Subcommand);
            arguments.operands.iter().copied().find(|operand| Some(*operand) > run)
        }
        _ => None,
    }?;
    let words = command.words().get(index..)?;
    let name = words.first()?.value.as_deref()?;
    // A script of the project may have the name of an interactive program, such as `script` or `mysql`.
    let is_interactive_program =
        || programs::arguments(name, &[Some(name)]).is_some_and(|arguments| arguments.interactive.is_some());
    let is_program = is_known_program(name) && (words.len() > 1 || is_interpreter(name) || !is_interactive_program());
    is_program.then(|| words.to_vec())
}

/// Returns the command of a program that an interpreter runs by the program's path: `claude` of `node $(which claude)`,
/// `claude-code` of `node …/node_modules/claude-code/cli.js`.
pub(super) fn installed_program(command: &SimpleCommand, arguments: &Arguments) -> Option<Vec<Word>> {
    let script = arguments.with_roles.iter().find(|argument| argument.role == Role::Script)?;
    let path = command.value_or_placeholder_from(script.word, script.from)?;
    let rest = || command.words().get(script.word + 1..).unwrap_or_default().iter().cloned();
    if let Some(package) = path.strip_prefix("npm:") {
        // Deno: `npm:rimraf@5`.
        return Some(std::iter::once(Word::known(without_version(package))).chain(rest()).collect());
    }
    let (directory, file) = path.rsplit_once('/')?;
    let package = || {
        let (_, within) = path.rsplit_once("node_modules/")?;
        let mut parts = within.split('/');
        let first = parts.next()?;
        if first.starts_with('@') { parts.next() } else { Some(first) }
    };
    let is_installed = directory.ends_with("/bin") || directory.ends_with("/.bin");
    let name = if is_installed { Some(file) } else { package() };
    let name = name.filter(|name| is_known_program(name) && !is_interpreter(name))?;
    Some(std::iter::once(Word::known(name)).chain(rest()).collect())
}

/// Programs besides Python that run the module in `-m`.
const MODULE_RUNNERS: &[&str] = &["coverage", "debugpy", "memray", "pyinstrument", "scalene", "viztracer"];

/// Returns the command of `python -m pip install x`, `coverage run -m pytest` and `python -m "$MODULE" x`. If the table
/// of programs has a line for the module itself, or the module's name contains a dot, a command is returned only if the
/// table lists a program of the module's name.
pub(super) fn module_program(command: &SimpleCommand, arguments: &Arguments) -> Option<Vec<Word>> {
    let program = command.program()?;
    let runs_modules = language_of(program) == Some(Language::Python) || MODULE_RUNNERS.contains(&program);
    // In `python -m cProfile -m pip`, the last `-m` counts. The `-m` of pytest names no module.
    let mut values = arguments.flags.iter().filter(|flag| flag.is("-m")).filter_map(|flag| flag.value);
    let is_module = |value: &Argument| runs_modules && matches!(value.role, Role::Subcommand | Role::Words);
    let module = values.rfind(is_module)?;
    let rest = command.words().get(module.word + 1..).unwrap_or_default().iter().cloned();
    let Some(name) = command.value_or_placeholder_from(module.word, module.from) else {
        // A module's name is one word, as if it were in quotes.
        let word = command.words().get(module.word)?;
        let name = Word { raw: format!("\"{}\"", word.raw.trim_matches('"')), ..word.clone() };
        return Some(std::iter::once(name).chain(rest).collect());
    };
    let name = name.strip_suffix(".__main__").unwrap_or(name);
    let is_program = is_known_program(name) || !arguments.is_known && !name.contains('.');
    is_program.then(|| std::iter::once(Word::known(name)).chain(rest).collect())
}

/// Returns the command of `ruby -run -e rm -- x`. The functions of Ruby's library `un` are named after shell commands,
/// and do the same as these commands.
pub(super) fn ruby_file_command(command: &SimpleCommand, arguments: &Arguments) -> Option<Vec<Word>> {
    const COMMANDS: &[&str] = &["chmod", "cp", "install", "ln", "mkdir", "mv", "rm", "rmdir", "touch"];
    let text = |argument: Argument| command.text_from(argument.word, argument.from);
    let is_un = |flag: &programs::Flag| flag.name == "-r" && flag.value.and_then(text) == Some("un");
    arguments.flags.iter().find(|flag| is_un(flag)).filter(|_| command.program() == Some("ruby"))?;
    let code = arguments.with_roles.iter().find(|argument| argument.role == Role::Code).copied()?;
    let name = text(code).filter(|name| COMMANDS.contains(name))?;
    let rest = command.words().get(code.word + 1..).unwrap_or_default().iter();
    let rest = rest.filter(|word| word.value.as_deref() != Some("--")).cloned();
    Some(std::iter::once(Word::known(name)).chain(rest).collect())
}
