//! `doctor`: what is wrong with hooks, settings and the journal, and what comes of it.

mod agent_settings;
mod hooks;
mod storage;
mod submodule;

use std::fs;
use std::path::PathBuf;

use testkit::Scratch;

use crate::project;

/// A project with an agent's hooks, and the file that they are in.
struct Hooks {
    scratch: Scratch,
    agent: &'static str,
    scope: &'static [&'static str],
    file: PathBuf,
}

impl Hooks {
    fn of(agent: &'static str, scope: &'static [&'static str]) -> Self {
        let scratch = project();
        let arguments: Vec<&str> = ["install", agent, "--json"].into_iter().chain(scope.iter().copied()).collect();
        let reply = scratch.run(&arguments);
        assert_eq!(reply.code, Some(0), "{agent}: {}{}", reply.stdout, reply.stderr);
        let shown = reply.json()["file"].as_str().expect("a file").to_owned();
        let base = scratch.root().parent().expect("a folder").display().to_string();
        let file = PathBuf::from(shown.replace("[BASE]", &base));
        Self { scratch, agent, scope, file }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).expect("settings")
    }

    /// The program that the hooks call, quoted where the settings hold a command line.
    fn program(&self) -> String {
        let text = self.text();
        let command = text.split("\"command\": \"").nth(1).expect("a command");
        let command = command.split('"').next().expect("a command");
        command.split(" hook ").next().expect("a program").to_owned()
    }

    /// What is bad or worth knowing after this change, and that `install` mends what it says it mends.
    fn changed(&self, from: &str, to: &str) -> String {
        let before = self.text();
        assert!(before.contains(from), "{from} is not in {before}");
        fs::write(&self.file, before.replacen(from, to, 1)).expect("written");
        let said = self.doubts();
        if said.contains("` again") {
            let arguments: Vec<&str> = ["install", self.agent].into_iter().chain(self.scope.iter().copied()).collect();
            assert_eq!(self.scratch.run(&arguments).code, Some(0));
            assert!(!self.doubts().contains("` again"), "{}", self.doubts());
        }
        fs::write(&self.file, before).expect("written");
        said
    }

    fn home(&self, file: &str, text: &str) {
        let path = self.scratch.home().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    fn doubts(&self) -> String {
        doubts(&self.scratch)
    }
}

/// The lines that are not fine, and the exit code.
fn doubts(scratch: &Scratch) -> String {
    let reply = scratch.run(&["doctor"]);
    let fine =
        |line: &&str| line.starts_with("ok ") || line.starts_with("Linchpin ") || line.contains("no journal yet");
    let lines: Vec<&str> = reply.stdout.lines().filter(|line| !line.is_empty() && !fine(line)).collect();
    scratch.shown(&format!("exit {}\n{}", reply.code.unwrap_or(-1), lines.join("\n")))
}
