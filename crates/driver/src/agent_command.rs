//! Command lines that start agents non-interactively.
//!
//! Known agents get permission to edit the project and to run commands, because Linchpin's hooks judge both. Anything
//! else that needs a person's permission is refused. A loop that needs other flags configures the command itself.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use engine::hats::{AgentChoice, PromptDelivery};

use crate::agent_output::OutputFormat;

/// A longer prompt is passed in a file, because systems limit the length of arguments.
const LONGEST_ARGUMENT: usize = 100 * 1024;

pub struct AgentCommand {
    pub words: Vec<OsString>,
    pub input: Option<Vec<u8>>,
    pub output: OutputFormat,
}

struct KnownAgent {
    name: &'static str,
    words: &'static [&'static str],
    prompt: PromptDelivery,
    output: OutputFormat,
}

const KNOWN: &[KnownAgent] = &[
    KnownAgent {
        name: "claude",
        words: &[
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
        output: OutputFormat::ClaudeEvents,
    },
    KnownAgent {
        name: "codex",
        words: &["codex", "exec", "--sandbox", "workspace-write", "-"],
        prompt: PromptDelivery::Stdin,
        output: OutputFormat::Plain,
    },
    KnownAgent {
        name: "gemini",
        words: &["gemini", "--yolo", "--prompt", "Follow the instructions above."],
        prompt: PromptDelivery::Stdin,
        output: OutputFormat::Plain,
    },
    KnownAgent {
        name: "cursor",
        words: &["cursor-agent", "--print", "--force"],
        prompt: PromptDelivery::Argument,
        output: OutputFormat::Plain,
    },
    KnownAgent {
        name: "copilot",
        words: &["copilot", "--allow-all-tools", "--prompt"],
        prompt: PromptDelivery::Argument,
        output: OutputFormat::Plain,
    },
    KnownAgent {
        name: "opencode",
        words: &["opencode", "run"],
        prompt: PromptDelivery::Stdin,
        output: OutputFormat::Plain,
    },
    KnownAgent {
        name: "amp",
        words: &["amp", "--execute"],
        prompt: PromptDelivery::Stdin,
        output: OutputFormat::Plain,
    },
];

/// `file` is written only if the agent reads its prompt from a file, or if the prompt is too long for an argument.
pub fn agent_command(agent: &AgentChoice, prompt: &str, file: &Path) -> io::Result<AgentCommand> {
    let (words, by, output) = match agent {
        AgentChoice::Command { words, prompt } => (words.clone(), *prompt, OutputFormat::Plain),
        AgentChoice::Named(name) => {
            let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
                return Err(io::Error::other(format!("unknown agent `{name}`")));
            };
            (known.words.iter().map(|&word| word.to_owned()).collect(), known.prompt, known.output)
        }
    };
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let mut input = None;
    match by {
        PromptDelivery::Stdin => input = Some(prompt.as_bytes().to_vec()),
        PromptDelivery::Argument if prompt.len() <= LONGEST_ARGUMENT => words.push(prompt.into()),
        PromptDelivery::Argument => {
            write(file, prompt)?;
            words.push(format!("Read {} and follow its instructions.", file.display()).into());
        }
        PromptDelivery::File => {
            write(file, prompt)?;
            words.push(file.into());
        }
    }
    Ok(AgentCommand { words, input, output })
}

fn write(file: &Path, prompt: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    policy::write_private_file(file, prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_a_loop_may_say_is_known() {
        assert_eq!(KNOWN.iter().map(|known| known.name).collect::<Vec<_>>(), AgentChoice::NAMES);
    }

    #[test]
    fn a_prompt_that_is_too_long_for_an_argument_goes_by_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prompt.md");
        let agent = AgentChoice::Command { words: vec!["agent".to_owned()], prompt: PromptDelivery::Argument };
        let short = agent_command(&agent, "do it", &file).expect("short");
        assert_eq!(short.words, ["agent", "do it"]);
        assert!(!file.exists());
        let long = "x".repeat(LONGEST_ARGUMENT + 1);
        let command = agent_command(&agent, &long, &file).expect("long");
        assert_eq!(command.words.len(), 2);
        assert!(command.words[1].to_string_lossy().contains(file.to_str().expect("a path")));
        assert_eq!(fs::read_to_string(&file).expect("the prompt"), long);
    }
}
