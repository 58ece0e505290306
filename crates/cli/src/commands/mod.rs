//! One file a command.

mod ack;
mod allow;
mod check;
mod completions;
mod demo;
mod doctor;
mod explain;
mod hats;
pub mod hook;
mod init;
mod install;
mod log;
mod loops;
mod memory;
mod pause;
mod replay;
mod rules;
mod status;
mod task;
mod test;
mod trust;
mod validate;
mod work;
mod workflow_path;
mod workflows;

use std::io::Write;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

use clap::Parser;
use guard::Environment;
use store::Store;

use crate::arguments::{Arguments, Command};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::problem::Problem;

/// What every command is given.
pub struct Context {
    pub environment: Environment,
    pub output: Output,
}

pub fn run() -> process::ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let environment = Environment::of_process();
    let output = Output::new(arguments.json, environment.get("NO_COLOR").is_some());
    let context = Context { environment, output };
    if let Some(problem) = missing_root(&arguments.command, &context.environment) {
        return failed(&problem, &context);
    }
    let outcome = match &arguments.command {
        Command::Init(arguments) => init::run(arguments, &context),
        Command::Install(arguments) => install::install(arguments, &context),
        Command::Uninstall(arguments) => install::uninstall(arguments, &context),
        Command::Doctor => doctor::run(&context),
        Command::Trust(arguments) => trust::run(arguments, &context),
        Command::Demo => demo::run(&context),
        Command::Completions(arguments) => {
            completions::run(arguments, &context);
            Ok(ExitCode::Done)
        }
        // Answered before arguments are parsed; here only for `--help`.
        Command::Hook { agent } => return hook::run([agent.into()].into_iter()),
        Command::Check(arguments) => check::run(arguments, &context),
        Command::Ack(arguments) => ack::run(arguments, &context),
        Command::Allow(arguments) => allow::run(arguments, &context),
        Command::Pause(arguments) => pause::pause(arguments, &context),
        Command::Resume => pause::resume(&context),
        Command::Validate(arguments) => validate::run(arguments, &context),
        Command::Test(arguments) => test::run(arguments, &context),
        Command::Explain { what } => explain::run(what, &context),
        Command::Replay(arguments) => replay::run(arguments, &context),
        Command::Rules { what } => rules::run(what, &context),
        Command::Workflows(arguments) => workflows::run(arguments, &context),
        Command::Hats(arguments) => hats::run(arguments, &context),
        Command::Log(arguments) => log::run(arguments, &context),
        Command::Start(arguments) => work::start(arguments, &context),
        Command::Next(arguments) => work::next(arguments, &context),
        Command::Continue => work::go_on(&context),
        Command::Status(arguments) => status::run(arguments, &context),
        Command::Repeat => work::repeat(&context),
        Command::Approve(arguments) => work::approve(arguments, &context),
        Command::Prev => work::prev(&context),
        Command::Restart => work::restart(&context),
        Command::Abort => work::abort(&context),
        Command::Run(arguments) => loops::run(arguments, &context),
        Command::Runs(arguments) => loops::runs(arguments, &context),
        Command::Stop(arguments) => loops::stop(arguments, &context),
        Command::Emit(arguments) => loops::emit(arguments, &context),
        Command::Progress(arguments) => loops::progress(arguments, &context),
        Command::Task(arguments) => task::run(arguments, &context),
        Command::Memory(arguments) => memory::run(arguments, &context),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(problem) => failed(&problem, &context),
    }
}

fn failed(problem: &Problem, context: &Context) -> process::ExitCode {
    if context.output.json {
        context.output.value(&problem.to_json());
    } else {
        let _ = writeln!(std::io::stderr(), "{}", problem.to_text());
    }
    problem.code.into()
}

/// A root that is named and is not there would look like a project without a policy.
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
        Problem::new("NotFound", format!("`LINCHPIN_ROOT` is `{}`, and there is no such folder", named.display()))
            .help("unset it, or name the folder that has `.linchpin` in it")
    })
}

/// Writes into the journal what somebody did by hand.
fn note(note: &store::Note<'_>, project: &guard::Project, context: &Context) -> Result<(), Problem> {
    let options = store::Options { busy: Duration::from_secs(5), now: note.time, run: None };
    Store::open(&project.store(&context.environment), options)?.note(note)?;
    Ok(())
}

/// Help and versions are no errors; for who asked for JSON, errors are JSON here too.
fn usage(error: &clap::Error) -> process::ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if !wants_json || !error.use_stderr() {
        let _ = error.print();
        return process::ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let message = error.render().to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    Output::new(true, true)
        .value(&Problem::new("Usage", first).help("`linchpin --help` shows what there is").to_json());
    ExitCode::Usage.into()
}

/// Now, in milliseconds since 1970.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
