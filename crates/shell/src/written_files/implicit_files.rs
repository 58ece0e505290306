//! Files that tools run without being told their names: a makefile, the scripts of `package.json`, `conftest.py`.
//!
//! Only files that the script itself has written count. Files from before belong to people, and so do most files that
//! earlier calls have changed.

use code::Language;

use crate::model::{FileContents, SimpleCommand, Variable};
use crate::programs::{Arguments, Role};
use crate::special_programs::interpreter::interpreter_of;
use crate::special_programs::language::language_of;
use crate::syntax::quoting::quoted;
use crate::written_files::files::Files;
use crate::written_files::{container_image, justfile, keyed_commands, makefile, recipe, taskfile, test_files};

/// Programs, the file that each of them runs, and its interpreter.
const FILES: &[(&[&str], &str, &str)] = &[
    (&["pytest", "py.test"], "conftest.py", "python3"),
    (&["nox"], "noxfile.py", "python3"),
    (&["invoke", "inv"], "tasks.py", "python3"),
    (&["fab"], "fabfile.py", "python3"),
    (&["doit"], "dodo.py", "python3"),
    (&["scons"], "SConstruct", "python3"),
    (&["gulp"], "gulpfile.js", "node"),
    (&["grunt"], "Gruntfile.js", "node"),
    (&["webpack"], "webpack.config.js", "node"),
    (&["rollup"], "rollup.config.js", "node"),
    (&["vite", "vitest"], "vite.config.js", "node"),
    (&["vite", "vitest"], "vite.config.ts", "node"),
    (&["jest"], "jest.config.js", "node"),
    (&["eslint"], "eslint.config.js", "node"),
    (&["direnv"], ".envrc", "bash"),
    (&["rake"], "Rakefile", "ruby"),
    (&["bundle"], "Gemfile", "ruby"),
    (&["vagrant"], "Vagrantfile", "ruby"),
];

/// The settings of a systemd unit that contain commands.
const UNIT_MARKS: &[&str] = &["ExecStart=", "ExecStartPre=", "ExecStartPost=", "ExecStop=", "ExecReload="];

/// Returns scripts for a shell; `None` for one that is not known.
pub(crate) fn texts(command: &SimpleCommand, files: &Files) -> Vec<Option<String>> {
    let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return Vec::new() };
    // Avoids the search if the script has written nothing.
    if !files.has_written() {
        return Vec::new();
    }
    let own = Own { command, arguments, files };
    let module = arguments.subcommands.first().filter(|_| program.starts_with("python")).map(String::as_str);
    let program = module.unwrap_or(program);
    let mut texts: Vec<Option<String>> = match program {
        "make" | "gmake" => own.makefile(),
        "just" => own.read(&["justfile", "Justfile", ".justfile"], |text| {
            let (settings, recipes) = justfile::read(text);
            settings + &recipe::commands(&recipes, &own.operands())
        }),
        "task" | "go-task" => {
            let read = |text: &str| {
                let wanted = own.operands();
                recipe::commands(&taskfile::read(text), if wanted.is_empty() { &["default"] } else { &wanted })
            };
            own.read(&["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"], read)
        }
        "npm" | "pnpm" | "yarn" | "bun" => own.read(&["package.json"], |text| own.package_scripts(text)),
        "pip" | "pip3" => own.setup_files(),
        "go" => own.go_generate(),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => own.image(),
        "pre-commit" => own.marked(&[".pre-commit-config.yaml"], &["entry:"]),
        "ansible-playbook" => own.marked(&own.operands(), &["shell:", "command:", "raw:", "cmd:"]),
        "terraform" | "tofu" if own.operands().contains(&"apply") => own.local_commands(),
        "systemctl" => own.marked(&files.ending(".service"), UNIT_MARKS),
        _ => Vec::new(),
    };
    for (_, file, interpreter) in FILES.iter().filter(|(programs, _, _)| programs.contains(&program)) {
        texts.extend(own.run(interpreter, file));
    }
    texts.extend(own.tested(program));
    if command.program().and_then(language_of) == Some(Language::Python) {
        texts.extend(own.python_modules());
    }
    texts
}

struct Own<'a> {
    command: &'a SimpleCommand,
    arguments: &'a Arguments,
    files: &'a Files<'a>,
}

impl Own<'_> {
    fn operands(&self) -> Vec<&str> {
        let operands = self.arguments.operands.iter().filter_map(|place| self.command.text_from(*place, 0));
        operands.filter(|operand| !operand.contains('=')).collect()
    }

    fn script(&self) -> Option<&str> {
        let script = self.arguments.list.iter().find(|argument| argument.role == Role::Script)?;
        self.command.text_from(script.word, script.from)
    }

    /// Returns the path of a file in the directory that the arguments select.
    fn placed(&self, file: &str) -> String {
        let mut directories = self.arguments.list.iter().filter(|argument| argument.role == Role::Directory);
        let directory =
            directories.next().and_then(|directory| self.command.meaning_from(directory.word, directory.from));
        directory.map_or_else(|| file.to_owned(), |directory| format!("{}/{file}", directory.trim_end_matches('/')))
    }

    fn written(&self, file: &str) -> Option<FileContents> {
        self.files.of_script(self.command, &self.placed(file))
    }

    /// Returns the commands in the first of these files that exists, as a script for a shell.
    fn read(&self, names: &[&str], commands: impl Fn(&str) -> String) -> Vec<Option<String>> {
        let file = names.iter().find_map(|name| self.written(name));
        let text = file.map(|file| match file {
            FileContents::Text(text) => Some(commands(&text)),
            FileContents::Unknown => None,
        });
        text.into_iter().collect()
    }

    /// Returns the command that runs a file with an interpreter, if the script has written that file.
    fn run(&self, interpreter: &str, file: &str) -> Vec<Option<String>> {
        let path = self.placed(file);
        let is_written = self.files.of_script(self.command, &path).is_some();
        is_written.then(|| Some(format!("{interpreter} {}", quoted(&path)))).into_iter().collect()
    }

    /// Returns what a container runs, if the script has written it.
    fn image(&self) -> Vec<Option<String>> {
        const COMPOSED: &[&str] = &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"];
        let form: Vec<&str> = self.arguments.subcommands.iter().map(String::as_str).collect();
        let is_composed = form.first() == Some(&"compose") || self.command.program() == Some("docker-compose");
        if matches!(form.last(), Some(&("up" | "start"))) || is_composed && form.last() == Some(&"run") {
            return self.read(COMPOSED, container_image::services);
        }
        let host = self.arguments.list.iter().find(|argument| argument.role == Role::Host);
        let Some(host) = host.filter(|_| form.last() == Some(&"run")) else { return Vec::new() };
        let Some(name) = self.command.text_from(host.word, host.from) else { return Vec::new() };
        let given = self.command.words().get(host.word + 1..).unwrap_or_default();
        let given: Vec<&str> = given.iter().filter_map(|word| word.value.as_deref()).collect();
        match self.files.image(name) {
            Some(FileContents::Text(text)) => vec![Some(container_image::commands(text, &given))],
            Some(FileContents::Unknown) | None => Vec::new(),
        }
    }

    /// Returns the commands after these keys, in those of the files that the script has written.
    fn marked(&self, names: &[&str], marks: &[&str]) -> Vec<Option<String>> {
        names.iter().flat_map(|name| self.read(&[*name], |text| keyed_commands::commands(text, marks))).collect()
    }

    /// Returns what a test runner runs in the tests that it finds.
    fn tested(&self, program: &str) -> Vec<Option<String>> {
        let endings = test_files::endings(program, self.arguments, &self.operands());
        let files = endings.iter().flat_map(|end| self.files.ending(end)).filter(|file| test_files::is_run(file));
        let text = |file: &str| match (interpreter_of(file)?, self.files.of_script(self.command, file)?) {
            (interpreter, FileContents::Text(text)) => Some(Some(test_files::certain_effects(interpreter, &text))),
            (_, FileContents::Unknown) => None,
        };
        files.filter_map(text).collect()
    }

    /// Returns the commands that Terraform runs on this machine.
    fn local_commands(&self) -> Vec<Option<String>> {
        let is_local = |text: &str| text.contains("local-exec");
        let aligned = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
        let commands = |text: &str| {
            let text: String = text.lines().filter(|_| is_local(text)).map(aligned).collect();
            keyed_commands::commands(&text, &["command = "])
        };
        self.files.ending(".tf").into_iter().flat_map(|file| self.read(&[file], commands)).collect()
    }

    /// Returns the commands in source files that `go generate` runs.
    fn go_generate(&self) -> Vec<Option<String>> {
        let is_it = self.arguments.subcommands.first().is_some_and(|form| form == "generate");
        if is_it { self.marked(&self.files.ending(".go"), &["//go:generate "]) } else { Vec::new() }
    }

    fn makefile(&self) -> Vec<Option<String>> {
        // A makefile that is named in the arguments is handled as a script file.
        if self.arguments.list.iter().any(|argument| argument.role == Role::Script) {
            return Vec::new();
        }
        let set = self.arguments.operands.iter().filter_map(|place| self.command.text_from(*place, 0)?.split_once('='));
        let set: String = set.flat_map(|(name, value)| [name, "='", value, "'\n"]).collect();
        self.read(&["GNUmakefile", "makefile", "Makefile"], |text| {
            let (settings, recipes) = makefile::read(text);
            settings + &set + &recipe::commands(&recipes, &self.operands())
        })
    }

    /// Returns the scripts that `npm run NAME` or another subcommand runs.
    fn package_scripts(&self, text: &str) -> String {
        let form = self.arguments.subcommands.first().map(String::as_str);
        let name = match form {
            Some("run" | "run-script") => self.operands().first().copied().or_else(|| self.script()),
            Some("t" | "tst") => Some("test"),
            Some("install" | "i" | "ci" | "add" | "isntall") | None => Some("install"),
            form => form,
        };
        let Some(name) = name else { return String::new() };
        let file: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let also: &[&str] = if name == "install" { &["prepare", "preprepare", "postprepare"] } else { &[] };
        let names = [format!("pre{name}"), name.to_owned(), format!("post{name}")].into_iter();
        let names = names.chain(also.iter().map(|name| (*name).to_owned()));
        let script = |name: String| file.get("scripts")?.get(name)?.as_str().map(|text| format!("{text}\n"));
        names.filter_map(script).collect()
    }

    /// Returns `setup.py` of the packages that are installed from a directory.
    fn setup_files(&self) -> Vec<Option<String>> {
        let editable = self.arguments.flags.iter().filter(|flag| flag.is("-e")).filter_map(|flag| flag.value);
        let editable = editable.filter_map(|value| self.command.text_from(value.word, value.from));
        let directories = editable.chain(self.operands()).filter(|directory| directory.starts_with(['.', '/', '~']));
        directories
            .flat_map(|directory| self.run("python3", &format!("{}/setup.py", directory.trim_end_matches('/'))))
            .collect()
    }

    /// Returns the modules that Python loads on startup, or that the code imports.
    fn python_modules(&self) -> Vec<Option<String>> {
        let directories = self.command.variable("PYTHONPATH").and_then(Variable::known).unwrap_or_default().split(':');
        let directories = directories.filter(|directory| !directory.is_empty());
        let found = directories
            .flat_map(|directory| ["sitecustomize", "usercustomize"].map(|name| format!("{directory}/{name}.py")));
        let codes = self.arguments.list.iter().filter(|argument| argument.role == Role::Code);
        let codes =
            codes.filter_map(|code| self.command.meaning_from(code.word, code.from)).chain(self.command.given_text());
        let imported = codes.flat_map(imported_modules).map(|module| format!("{}.py", module.replace('.', "/")));
        found.chain(imported).flat_map(|file| self.run("python3", &file)).collect()
    }
}

/// Returns the modules in `import a, b.c` and `from a import x`.
fn imported_modules(code: &str) -> Vec<&str> {
    let mut modules = Vec::new();
    for statement in code.split([';', '\n']).map(str::trim_start) {
        let names = statement.strip_prefix("import ").or_else(|| {
            let module = statement.strip_prefix("from ")?;
            module.split_once(" import").map(|(module, _)| module)
        });
        let names = names.into_iter().flat_map(|names| names.split(','));
        modules.extend(names.filter_map(|name| name.split_whitespace().next()));
    }
    modules
}
