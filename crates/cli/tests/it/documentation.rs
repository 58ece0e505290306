//! Checks that the examples in the documentation work.

use std::fs;
use std::path::{Path, PathBuf};

use super::project;

fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("docs").filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.extend([root.join("README.md"), root.join("docs/reference/bundled-rules.md")]);
    pages.sort();
    pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("a page"))).collect()
}

/// Returns the contents of the page's fenced code blocks of one kind, such as `sh`.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let opening = format!("```{kind}\n");
    page.split(&opening).skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default()).collect()
}

#[test]
fn every_documented_rule_is_valid_and_passes_its_tests() {
    let mut count = 0;
    for (path, page) in pages() {
        for block in blocks(&page, "markdown") {
            let project = project();
            project.rule("example", &block.replace("locked: true\n", ""));
            let reply = project.run(&["validate"]);
            assert_eq!(reply.code, Some(0), "{}: {block}\n{}", path.display(), reply.stdout);
            let reply = project.run(&["test"]);
            assert_eq!(reply.code, Some(0), "{}: {block}\n{}", path.display(), reply.transcript());
            count += 1;
        }
    }
    assert!(count >= 8, "{count} rules were found");
}

#[test]
fn every_documented_observer_is_valid() {
    let mut count = 0;
    for (path, page) in pages() {
        for block in blocks(&page, "yaml").into_iter().filter(|block| block.starts_with("observers:")) {
            let project = project();
            project.config(block);
            let reply = project.run(&["validate"]);
            assert_eq!(reply.code, Some(0), "{}: {block}\n{}", path.display(), reply.stdout);
            count += 1;
        }
    }
    assert!(count >= 4, "{count} configurations were found");
}

#[test]
fn every_documented_workflow_is_valid() {
    let mut count = 0;
    for (path, page) in pages() {
        for block in blocks(&page, "yaml").into_iter().filter(|block| block.starts_with("# .linchpin/workflows/")) {
            let project = project();
            let file = block.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a path");
            project.file(file, block);
            let reply = project.run(&["validate"]);
            assert!(reply.stdout.ends_with("no errors.\n"), "{}: {block}\n{}", path.display(), reply.stdout);
            count += 1;
        }
    }
    assert!(count >= 1, "{count} workflows were found");
}

#[test]
fn every_documented_explain_command_runs() {
    let mut count = 0;
    for (path, page) in pages() {
        for line in blocks(&page, "console").iter().flat_map(|block| block.lines()) {
            let Some(command) = line.strip_prefix("linchpin explain ").filter(|rest| !rest.starts_with("last")) else {
                continue;
            };
            let command = command.split(" #").next().unwrap_or_default();
            let project = project();
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &format!("'{}' explain {command}", super::PROGRAM)]).current_dir(project.root());
            let output = shell.output().expect("a shell");
            assert!(output.status.success(), "{}: {line}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
            count += 1;
        }
    }
    assert!(count >= 2, "{count} commands were found");
}

/// Runs the commands of `docs/tasks.md` in order, in one project.
#[test]
fn every_documented_task_and_memory_command_runs() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks.md")).expect("the page");
    let project = project();
    let mut count = 0;
    for line in blocks(&page, "sh").iter().flat_map(|block| block.lines()) {
        let program = Path::new(super::PROGRAM).parent().expect("a directory").display();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("PATH='{program}':\"$PATH\"; {line}")]).current_dir(project.root());
        shell.envs(project.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        count += 1;
    }
    assert!(count > 10, "{count} commands were found");
}

/// Every error kind in the source is in the documented list, which other programs rely on.
#[test]
fn every_error_kind_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = fs::read_to_string(root.join("../../docs/reference/errors.md")).expect("the page");
    let mut sources = vec![root.join("../policy/src/text/diagnostic.rs")];
    let mut directories = vec![root.join("src")];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
        let (inner, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        directories.extend(inner);
        sources.extend(files);
    }
    let mut count = 0;
    for path in &sources {
        let text = fs::read_to_string(path).expect("a source");
        // A function `kind_of` returns one of several error kinds. Each of them is a literal in a match arm.
        let computed = text.split("fn kind_of(").skip(1).flat_map(|rest| {
            let body = rest.split("\n}").next().unwrap_or_default();
            body.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()).collect::<Vec<_>>()
        });
        let constructed = text
            .split("Problem::new(")
            .skip(1)
            .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
        let variants =
            text.split("pub enum DiagnosticKind {").nth(1).map(|rest| rest.split('}').next().unwrap_or_default());
        let variants = variants.into_iter().flat_map(str::lines).map(|line| line.trim().trim_end_matches(','));
        for kind in
            constructed.chain(computed).chain(variants.filter(|line| !line.is_empty() && !line.starts_with("//")))
        {
            assert!(listed.contains(&format!("`{kind}`")), "`{kind}` of {} is not listed", path.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count} kinds were found");
}

#[test]
fn every_schema_is_in_the_editor_settings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/editors-and-shells.md")).expect("a page");
    let settings: serde_json::Value = serde_json::from_str(blocks(&page, "json")[0]).expect("settings of an editor");
    let schemas = settings["yaml.schemas"].to_string();
    for schema in fs::read_dir(root.join("schemas")).expect("schemas").filter_map(Result::ok) {
        let name = schema.file_name().to_string_lossy().into_owned();
        assert!(page.contains(&format!("| `{name}` |")), "{name} is in no row of the table");
        // `rule.json` describes the frontmatter of Markdown files, so it is not in the settings for YAML files.
        assert!(
            schemas.contains(&format!("schemas/{name}\"")) || name == "rule.json",
            "{name} is not in the settings of VS Code"
        );
    }
}
