//! Command lines that start agents non-interactively.
//!
//! Known agents get permission to edit the project and to run commands, because Linchpin's hooks judge both. Some
//! agents can only be started with a flag that permits everything: then only the hooks refuse anything. A loop that
//! needs other flags configures the command itself.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use engine::hats::{AgentChoice, PromptDelivery};

use crate::agent_output::OutputFormat;

/// The maximum length of a prompt that is passed as an argument, because operating systems limit it. A longer prompt is
/// passed in a file.
const MAX_ARGUMENT_LENGTH: usize = 100 * 1024;

pub struct AgentCommand {
    pub argv: Vec<OsString>,
    pub stdin: Option<Vec<u8>>,
    pub output_format: OutputFormat,
}

struct KnownAgent {
    name: &'static str,
    argv: &'static [&'static str],
    prompt: PromptDelivery,
    output_format: OutputFormat,
}

const KNOWN: &[KnownAgent] = &[
    KnownAgent {
        name: "claude",
        argv: &[
            "claude",
            "--print",
            "--verbose",
            "--output-format",
            "stream-json",
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash",
        ],
        prompt: PromptDelivery::Stdin,
        output_format: OutputFormat::ClaudeEvents,
    },
    KnownAgent {
        name: "codex",
        argv: &["codex", "exec", "--sandbox", "workspace-write", "-"],
        prompt: PromptDelivery::Stdin,
        output_format: OutputFormat::Plain,
    },
    KnownAgent {
        name: "gemini",
        argv: &["gemini", "--yolo", "--prompt", "Follow the instructions above."],
        prompt: PromptDelivery::Stdin,
        output_format: OutputFormat::Plain,
    },
    KnownAgent {
        name: "cursor",
        argv: &["cursor-agent", "--print", "--force"],
        prompt: PromptDelivery::Argument,
        output_format: OutputFormat::Plain,
    },
    KnownAgent {
        name: "copilot",
        argv: &["copilot", "--allow-all-tools", "--prompt"],
        prompt: PromptDelivery::Argument,
        output_format: OutputFormat::Plain,
    },
    KnownAgent {
        name: "opencode",
        argv: &["opencode", "run"],
        prompt: PromptDelivery::Stdin,
        output_format: OutputFormat::Plain,
    },
    KnownAgent {
        name: "amp",
        argv: &["amp", "--execute"],
        prompt: PromptDelivery::Stdin,
        output_format: OutputFormat::Plain,
    },
];

/// Writes `prompt_file` only if the agent reads its prompt from a file, or if the prompt is too long for an argument.
pub fn agent_command(agent: &AgentChoice, prompt: &str, prompt_file: &Path) -> io::Result<AgentCommand> {
    let (words, delivery, output_format) = match agent {
        AgentChoice::Command { words, prompt } => (words.clone(), *prompt, OutputFormat::Plain),
        AgentChoice::Named(name) => {
            let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
                return Err(io::Error::other(format!("unknown agent `{name}`")));
            };
            (known.argv.iter().map(|&word| word.to_owned()).collect(), known.prompt, known.output_format)
        }
    };
    let mut argv: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let mut stdin = None;
    match delivery {
        PromptDelivery::Stdin => stdin = Some(prompt.as_bytes().to_vec()),
        PromptDelivery::Argument if prompt.len() <= MAX_ARGUMENT_LENGTH => argv.push(prompt.into()),
        PromptDelivery::Argument => {
            write_prompt(prompt_file, prompt)?;
            argv.push(format!("Read {} and follow its instructions.", prompt_file.display()).into());
        }
        PromptDelivery::File => {
            write_prompt(prompt_file, prompt)?;
            argv.push(prompt_file.into());
        }
    }
    Ok(AgentCommand { argv, stdin, output_format })
}

fn write_prompt(file: &Path, prompt: &str) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)?;
    }
    policy::write_private_file(file, prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_name_of_a_loop_has_a_command() {
        assert_eq!(KNOWN.iter().map(|known| known.name).collect::<Vec<_>>(), AgentChoice::NAMES);
    }

    #[test]
    fn a_prompt_too_long_for_an_argument_is_passed_in_a_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("prompt.md");
        let agent = AgentChoice::Command { words: vec!["agent".to_owned()], prompt: PromptDelivery::Argument };
        let short = agent_command(&agent, "do it", &file).expect("short");
        assert_eq!(short.argv, ["agent", "do it"]);
        assert!(!file.exists());
        let long = "x".repeat(MAX_ARGUMENT_LENGTH + 1);
        let command = agent_command(&agent, &long, &file).expect("long");
        assert_eq!(command.argv.len(), 2);
        assert!(command.argv[1].to_string_lossy().contains(file.to_str().expect("a path")));
        assert_eq!(fs::read_to_string(&file).expect("the prompt"), long);
    }
}
