//! The commands, one file each.

mod ack;
mod allow;
mod caller;
mod change_detection;
mod check;
mod completions;
mod demo;
mod doctor;
mod explain;
mod gate_progress;
mod hats;
pub mod hook;
mod init;
mod install;
mod journal;
mod log;
mod loop_file;
mod loops;
mod memory;
mod moves;
mod pause;
mod replay;
mod rules;
mod status;
mod task;
mod test;
mod trust;
mod try_command;
mod unknown_rule;
mod unquoted;
mod validate;
mod webhook;
mod workflow_path;
mod workflows;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};
use engine::suggest;
use guard::Environment;

use crate::arguments::{self, CheckFormat, Colour, Command, CommandLine, RulesArguments};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::problem::{CommandOutcome, Problem};

/// The input of every command.
pub struct Context {
    pub environment: Environment,
    pub output: Output,
}

/// True if the purpose of the command is its output, not only its exit code.
fn is_for_reading(command: &Command) -> bool {
    match command {
        Command::Log(_) | Command::Rules { what: RulesArguments::Export(_) } => true,
        Command::Check(check) => matches!(check.format, CheckFormat::Json | CheckFormat::Sarif),
        _ => false,
    }
}

pub fn run() -> process::ExitCode {
    let environment = Environment::of_process();
    let parsed = arguments::help::command(None).color(help_colour()).try_get_matches_from(arguments_of_process());
    let arguments = match parsed.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return usage(error),
    };
    let coloured = match arguments.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => environment.get("NO_COLOR").is_none() && io::stdout().is_terminal(),
    };
    guard::session::HatPhase::keep_alive(&environment);
    let output = Output::new(arguments.json, coloured).for_reading(is_for_reading(&arguments.command));
    let context = Context { environment, output };
    let code = match dispatch(&arguments, &context) {
        Ok(code) => code,
        Err(problem) => {
            if context.output.json {
                context.output.value(&problem.to_json());
            } else {
                let _ = writeln!(io::stderr(), "{}", problem.to_text());
            }
            problem.code
        }
    };
    match context.output.failure() {
        None => code.into(),
        Some(error) => report_unwritten_output(error),
    }
}

/// Returns the arguments of this process. `linchpin help COMMAND` means `linchpin COMMAND --help`.
fn arguments_of_process() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

/// Reports that the output could not be written. The command then fails, whatever its own result was.
fn report_unwritten_output(error: &io::Error) -> process::ExitCode {
    let problem = Problem::new("Io", format!("the output cannot be written to stdout: {error}"))
        .help("the command itself succeeded; only its output is missing or incomplete");
    let _ = writeln!(io::stderr(), "{}", problem.to_text());
    problem.code.into()
}

fn dispatch(arguments: &CommandLine, context: &Context) -> CommandOutcome {
    if let Some(problem) = missing_root(&arguments.command, &context.environment) {
        return Err(problem);
    }
    match &arguments.command {
        Command::Init(arguments) => init::run(arguments, context),
        Command::Install(arguments) => install::install(arguments, context),
        Command::Uninstall(arguments) => install::uninstall(arguments, context),
        Command::Doctor => doctor::run(context),
        Command::Trust(arguments) => trust::run(arguments, context),
        Command::Demo => demo::run(context),
        Command::Completions(arguments) => {
            completions::run(arguments, context);
            Ok(ExitCode::Done)
        }
        // Only reached if flags precede the word `hook`: otherwise `main` handles it before arguments are parsed.
        Command::Hook { agent, event } => {
            let _ = hook::run([agent].into_iter().chain(event).map(OsString::from));
            Ok(ExitCode::Usage)
        }
        Command::Check(arguments) => check::run(arguments, context),
        Command::Ack(arguments) => ack::run(arguments, context),
        Command::Allow(arguments) => allow::run(arguments, context),
        Command::Pause(arguments) => pause::pause(arguments, context),
        Command::Resume(arguments) => match &arguments.session {
            Some(session) => loops::resume_session(session, context),
            None => pause::resume(context),
        },
        Command::Validate(arguments) => validate::run(arguments, context),
        Command::Test(arguments) => test::run(arguments, context),
        Command::Explain { what } => explain::run(what, context),
        Command::Try(arguments) => try_command::run(arguments, context),
        Command::Replay(arguments) => replay::run(arguments, context),
        Command::Rules { what } => rules::run(what, context),
        Command::Workflows(arguments) => workflows::run(arguments, context),
        Command::Hats(arguments) => hats::run(arguments, context),
        Command::Log(arguments) => log::run(arguments, context),
        Command::Start(arguments) => moves::start(arguments, context),
        Command::Next(arguments) => moves::next(arguments, context),
        Command::Continue => moves::go_on(context),
        Command::Status(arguments) => status::run(arguments, context),
        Command::Set(arguments) => moves::set(arguments, context),
        Command::Repeat => moves::repeat(context),
        Command::Approve(arguments) => moves::approve(arguments, context),
        Command::Prev => moves::prev(context),
        Command::Restart => moves::restart(context),
        Command::Abort => moves::abort(context),
        Command::Run(arguments) => loops::run(arguments, context),
        Command::Runs(arguments) => loops::runs(arguments, context),
        Command::Stop(arguments) => loops::stop(arguments, context),
        Command::Emit(arguments) => loops::emit(arguments, context),
        Command::Progress(arguments) => loops::progress(arguments, context),
        Command::Task(arguments) => task::run(arguments, context),
        Command::Memory(arguments) => memory::run(arguments, context),
    }
}

/// Returns an error if `LINCHPIN_ROOT` is set to a directory that does not exist. Without the error, the directory
/// would count as a project without a policy.
fn missing_root(command: &Command, environment: &Environment) -> Option<Problem> {
    let needs_none = matches!(
        command,
        Command::Init(_)
            | Command::Install(_)
            | Command::Uninstall(_)
            | Command::Demo
            | Command::Completions(_)
            | Command::Hook { .. }
    );
    let named = environment.get("LINCHPIN_ROOT").filter(|_| !needs_none).map(PathBuf::from)?;
    let is_missing = named.is_absolute() && !named.is_dir();
    is_missing.then(|| {
        Problem::new("NotFound", format!("`LINCHPIN_ROOT` is `{}`, which does not exist", named.display()))
            .help("unset it, or set it to the folder that contains `.linchpin`")
    })
}

/// Prints help, the version, or a usage error. With `--json`, errors are printed as JSON.
fn usage(mut error: clap::Error) -> process::ExitCode {
    let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    remove_far_tip(&mut error);
    let tip = unquoted::tip(&error, &words);
    if let Some(tip) = &tip {
        error = unquoted::with_tip(error, tip);
    }
    let wants_json = env::args_os().any(|argument| argument == "--json");
    if !wants_json || !error.use_stderr() {
        return match error.print() {
            Err(unprinted) if unprinted.kind() != io::ErrorKind::BrokenPipe => report_unwritten_output(&unprinted),
            _ => process::ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
        };
    }
    let message = error.render().to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let help = tip.unwrap_or_else(|| "`linchpin --help` lists the commands".to_owned());
    let problem = Problem::new("Usage", first).help(help);
    let output = Output::new(true, false);
    output.value(&problem.to_json());
    output.failure().map_or_else(|| problem.code.into(), report_unwritten_output)
}

/// Removes the parser's tip if the word that it names is not similar to what was typed, such as `hook` to `foo`.
fn remove_far_tip(error: &mut clap::Error) {
    for (typed, tip) in [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ] {
        let suggested = match error.get(tip) {
            Some(ContextValue::String(word)) => vec![word.as_str()],
            Some(ContextValue::Strings(words)) => words.iter().map(String::as_str).collect(),
            _ => continue,
        };
        let is_similar = |typed: &str| {
            suggested.iter().any(|word| word.starts_with(typed)) || suggest::closest(typed, suggested.clone()).is_some()
        };
        let is_similar = matches!(error.get(typed), Some(ContextValue::String(typed)) if is_similar(typed));
        if !is_similar {
            error.remove(tip);
        }
    }
}

/// Returns the value of `--color` for help and usage errors. The parser prints these before it has parsed the flag.
fn help_colour() -> clap::ColorChoice {
    let words: Vec<OsString> = env::args_os().collect();
    let follows = words.windows(2).find_map(|pair| pair.first().filter(|word| *word == "--color").and(pair.get(1)));
    let named = words.iter().find_map(|word| word.to_str()?.strip_prefix("--color="));
    match follows.and_then(|word| word.to_str()).or(named) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// Returns the current time in milliseconds since 1970.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
