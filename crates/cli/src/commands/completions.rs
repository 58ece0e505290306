//! `completions`: prints a shell's completion script, generated from the argument definitions.

use agents::Agent;
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::generate;
use serde_json::json;

use super::Context;
use crate::arguments::{CommandLine, CompletionsArguments, Shell};

/// Arguments that take an agent's name. The parser accepts any word for them, because `agent_named` gives a better
/// error.
const AGENTS: [(&str, &str); 5] =
    [("init", "agents"), ("install", "agent"), ("uninstall", "agent"), ("hook", "agent"), ("try", "agent")];

pub fn run(arguments: &CompletionsArguments, context: &Context) {
    let mut command = AGENTS.into_iter().fold(CommandLine::command(), |command, (verb, argument)| {
        command.mut_subcommand(verb, |verb| {
            verb.mut_arg(argument, |argument| {
                argument.value_parser(PossibleValuesParser::new(Agent::ALL.map(Agent::name)))
            })
        })
    });
    let shell = match arguments.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut command, "linchpin", &mut script);
    let script = String::from_utf8_lossy(&script);
    if context.output.json {
        context.output.value(&json!({ "shell": shell.to_string(), "script": script }));
    } else {
        context.output.rendered(script.trim_end());
    }
}
