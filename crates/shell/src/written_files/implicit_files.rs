//! Files that tools find by their usual names and run: a makefile, the scripts of `package.json`, `conftest.py`.
//!
//! Only files that the script itself has written count. Files that existed before the script ran belong to people, and
//! so do most files that earlier tool calls have changed.

use code::Language;

use crate::model::{FileContents, SimpleCommand, Variable};
use crate::programs::{Arguments, Role};
use crate::special_programs::interpreter::interpreter_of;
use crate::special_programs::language::language_of;
use crate::syntax::quoting::quoted;
use crate::written_files::file_tracker::FileTracker;
use crate::written_files::{container_image, justfile, keyed_commands, makefile, recipe, taskfile, written_tests};

/// Each entry: programs, the file that they run, and the interpreter of that file.
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
const UNIT_KEYS: &[&str] = &["ExecStart=", "ExecStartPre=", "ExecStartPost=", "ExecStop=", "ExecReload="];

/// Returns shell scripts with the commands that a program runs from files that it finds by their usual names; `None`
/// for a script that is not known.
pub(crate) fn implicit_scripts(command: &SimpleCommand, files: &FileTracker) -> Vec<Option<String>> {
    let (Some(program), Some(arguments)) = (command.program(), command.arguments()) else { return Vec::new() };
    // If the script has written nothing, no search is necessary.
    if !files.has_written() {
        return Vec::new();
    }
    let implicit = ImplicitFiles { command, arguments, files };
    let module = arguments.subcommands.first().filter(|_| program.starts_with("python")).map(String::as_str);
    let program = module.unwrap_or(program);
    let mut implicit_scripts: Vec<Option<String>> = match program {
        "make" | "gmake" => implicit.makefile_commands(),
        "just" => implicit.read(&["justfile", "Justfile", ".justfile"], |text| {
            let (settings, recipes) = justfile::read(text);
            settings + &recipe::commands(&recipes, &implicit.operands())
        }),
        "task" | "go-task" => {
            let read = |text: &str| {
                let wanted = implicit.operands();
                recipe::commands(&taskfile::read(text), if wanted.is_empty() { &["default"] } else { &wanted })
            };
            implicit.read(&["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"], read)
        }
        "npm" | "pnpm" | "yarn" | "bun" => implicit.read(&["package.json"], |text| implicit.package_scripts(text)),
        "pip" | "pip3" => implicit.setup_commands(),
        "go" => implicit.go_generate_commands(),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => implicit.container_commands(),
        "pre-commit" => implicit.commands_after_keys(&[".pre-commit-config.yaml"], &["entry:"]),
        "ansible-playbook" => {
            implicit.commands_after_keys(&implicit.operands(), &["shell:", "command:", "raw:", "cmd:"])
        }
        "terraform" | "tofu" if implicit.operands().contains(&"apply") => implicit.terraform_commands(),
        "systemctl" => implicit.commands_after_keys(&files.with_suffix(".service"), UNIT_KEYS),
        _ => Vec::new(),
    };
    for (_, file, interpreter) in FILES.iter().filter(|(programs, _, _)| programs.contains(&program)) {
        implicit_scripts.extend(implicit.run_if_written(interpreter, file));
    }
    implicit_scripts.extend(implicit.test_scripts(program));
    if command.program().and_then(language_of) == Some(Language::Python) {
        implicit_scripts.extend(implicit.python_module_commands());
    }
    implicit_scripts
}

/// A command, and the written files that it may find.
struct ImplicitFiles<'a> {
    command: &'a SimpleCommand,
    arguments: &'a Arguments,
    files: &'a FileTracker<'a>,
}

impl ImplicitFiles<'_> {
    /// Returns the known operands that are not assignments.
    fn operands(&self) -> Vec<&str> {
        let operands = self.arguments.operands.iter().filter_map(|index| self.command.text_from(*index, 0));
        operands.filter(|operand| !operand.contains('=')).collect()
    }

    fn script(&self) -> Option<&str> {
        let script = self.arguments.with_roles.iter().find(|argument| argument.role == Role::Script)?;
        self.command.text_from(script.word, script.from)
    }

    /// Returns the path of a file in the directory that the arguments select.
    fn in_selected_directory(&self, file: &str) -> String {
        let mut directories = self.arguments.with_roles.iter().filter(|argument| argument.role == Role::Directory);
        let directory = directories
            .next()
            .and_then(|directory| self.command.value_or_placeholder_from(directory.word, directory.from));
        directory.map_or_else(|| file.to_owned(), |directory| format!("{}/{file}", directory.trim_end_matches('/')))
    }

    fn written(&self, file: &str) -> Option<FileContents> {
        self.files.written_by_script(self.command, &self.in_selected_directory(file))
    }

    /// Returns the commands in the first of these files that the script has written, as a shell script.
    fn read(&self, names: &[&str], commands: impl Fn(&str) -> String) -> Vec<Option<String>> {
        let file = names.iter().find_map(|name| self.written(name));
        let text = file.map(|file| match file {
            FileContents::Text(text) => Some(commands(&text)),
            FileContents::Unknown => None,
        });
        text.into_iter().collect()
    }

    /// Returns the command that runs a file with an interpreter, if the script has written that file.
    fn run_if_written(&self, interpreter: &str, file: &str) -> Vec<Option<String>> {
        let path = self.in_selected_directory(file);
        let is_written = self.files.written_by_script(self.command, &path).is_some();
        is_written.then(|| Some(format!("{interpreter} {}", quoted(&path)))).into_iter().collect()
    }

    /// Returns the commands of a container, if the script has written the file that defines them.
    fn container_commands(&self) -> Vec<Option<String>> {
        const COMPOSED: &[&str] = &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"];
        let form: Vec<&str> = self.arguments.subcommands.iter().map(String::as_str).collect();
        let is_composed = form.first() == Some(&"compose") || self.command.program() == Some("docker-compose");
        if matches!(form.last(), Some(&("up" | "start"))) || is_composed && form.last() == Some(&"run") {
            return self.read(COMPOSED, container_image::services);
        }
        let host = self.arguments.with_roles.iter().find(|argument| argument.role == Role::Host);
        let Some(host) = host.filter(|_| form.last() == Some(&"run")) else { return Vec::new() };
        let Some(name) = self.command.text_from(host.word, host.from) else { return Vec::new() };
        let container_arguments = self.command.words().get(host.word + 1..).unwrap_or_default();
        let container_arguments: Vec<&str> =
            container_arguments.iter().filter_map(|word| word.value.as_deref()).collect();
        match self.files.image_source(name) {
            Some(FileContents::Text(text)) => vec![Some(container_image::commands(text, &container_arguments))],
            Some(FileContents::Unknown) | None => Vec::new(),
        }
    }

    /// Returns the commands after these keys in all files of these names that the script has written.
    fn commands_after_keys(&self, names: &[&str], keys: &[&str]) -> Vec<Option<String>> {
        names.iter().flat_map(|name| self.read(&[*name], |text| keyed_commands::commands(text, keys))).collect()
    }

    /// Returns the certain effects of the tests that a test runner finds, as scripts.
    fn test_scripts(&self, program: &str) -> Vec<Option<String>> {
        let suffixes = written_tests::test_suffixes(program, self.arguments, &self.operands());
        let files = suffixes
            .iter()
            .flat_map(|suffix| self.files.with_suffix(suffix))
            .filter(|file| written_tests::is_test_file(file));
        let text = |file: &str| match (interpreter_of(file)?, self.files.written_by_script(self.command, file)?) {
            (interpreter, FileContents::Text(text)) => {
                Some(Some(written_tests::script_of_certain_effects(interpreter, &text)))
            }
            (_, FileContents::Unknown) => None,
        };
        files.filter_map(text).collect()
    }

    /// Returns the commands that Terraform runs on this machine.
    fn terraform_commands(&self) -> Vec<Option<String>> {
        let is_local = |text: &str| text.contains("local-exec");
        let aligned = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
        let commands = |text: &str| {
            let text: String = text.lines().filter(|_| is_local(text)).map(aligned).collect();
            keyed_commands::commands(&text, &["command = "])
        };
        self.files.with_suffix(".tf").into_iter().flat_map(|file| self.read(&[file], commands)).collect()
    }

    /// Returns the commands in source files that `go generate` runs.
    fn go_generate_commands(&self) -> Vec<Option<String>> {
        let is_generate = self.arguments.subcommands.first().is_some_and(|form| form == "generate");
        if is_generate {
            self.commands_after_keys(&self.files.with_suffix(".go"), &["//go:generate "])
        } else {
            Vec::new()
        }
    }

    /// Returns the commands in the recipes that `make` runs.
    fn makefile_commands(&self) -> Vec<Option<String>> {
        // A makefile that is named in the arguments is handled as a script file.
        if self.arguments.with_roles.iter().any(|argument| argument.role == Role::Script) {
            return Vec::new();
        }
        let set = self.arguments.operands.iter().filter_map(|index| self.command.text_from(*index, 0)?.split_once('='));
        let set: String = set.flat_map(|(name, value)| [name, "='", value, "'\n"]).collect();
        self.read(&["GNUmakefile", "makefile", "Makefile"], |text| {
            let (settings, recipes) = makefile::read(text);
            settings + &set + &recipe::commands(&recipes, &self.operands())
        })
    }

    /// Returns the scripts of `package.json` that `npm run NAME` or another subcommand runs.
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

    /// Returns the commands that run the `setup.py` of the packages that are installed from a directory.
    fn setup_commands(&self) -> Vec<Option<String>> {
        let editable = self.arguments.flags.iter().filter(|flag| flag.is("-e")).filter_map(|flag| flag.value);
        let editable = editable.filter_map(|value| self.command.text_from(value.word, value.from));
        let directories = editable.chain(self.operands()).filter(|directory| directory.starts_with(['.', '/', '~']));
        directories
            .flat_map(|directory| {
                self.run_if_written("python3", &format!("{}/setup.py", directory.trim_end_matches('/')))
            })
            .collect()
    }

    /// Returns the commands that run the modules that Python loads on startup, or that the code imports.
    fn python_module_commands(&self) -> Vec<Option<String>> {
        let directories = self.command.variable("PYTHONPATH").and_then(Variable::known).unwrap_or_default().split(':');
        let directories = directories.filter(|directory| !directory.is_empty());
        let found = directories
            .flat_map(|directory| ["sitecustomize", "usercustomize"].map(|name| format!("{directory}/{name}.py")));
        let codes = self.arguments.with_roles.iter().filter(|argument| argument.role == Role::Code);
        let codes = codes
            .filter_map(|code| self.command.value_or_placeholder_from(code.word, code.from))
            .chain(self.command.stdin_text());
        let imported = codes.flat_map(imported_modules).map(|module| format!("{}.py", module.replace('.', "/")));
        found.chain(imported).flat_map(|file| self.run_if_written("python3", &file)).collect()
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
