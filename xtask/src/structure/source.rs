//! Parses the crates of the workspace and their modules, without tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use syn::spanned::Spanned;
use syn::{Attribute, Item};

use crate::process::cargo;

pub struct Crate {
    /// The package name without `linchpin-`.
    pub name: String,
    pub directory: PathBuf,
    /// Crates of this workspace that this crate depends on, except for tests.
    pub dependencies: Vec<String>,
    pub modules: Vec<Module>,
}

pub struct Module {
    /// The names of the modules from the crate root to this module; empty for the crate root.
    pub path: Vec<String>,
    /// The file's path, relative to the workspace.
    pub file: String,
    pub items: Vec<Item>,
    /// The number of lines of the file, without items that exist only in tests.
    pub lines: usize,
}

impl Crate {
    pub fn of_workspace() -> Result<Vec<Self>> {
        let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]).output()?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let packages = metadata.get("packages").and_then(Value::as_array).context("cargo lists no packages")?;
        packages.iter().map(Self::of_package).collect()
    }

    fn of_package(package: &Value) -> Result<Self> {
        let text = |name: &str| package.get(name).and_then(Value::as_str).context("a package has no name or no path");
        let name = short_name(text("name")?).to_owned();
        let directory =
            Path::new(text("manifest_path")?).parent().context("a manifest has no parent directory")?.to_owned();
        let dependencies = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        let is_normal = |dependency: &&Value| dependency.get("kind").is_none_or(Value::is_null);
        let workspace_crates = dependencies.filter(is_normal).filter(|dependency| dependency.get("path").is_some());
        let dependencies = workspace_crates
            .filter_map(|dependency| dependency.get("name")?.as_str())
            .map(|name| short_name(name).to_owned())
            .collect();
        let modules = parse_modules(&directory.join("src"))?;
        Ok(Self { name, directory, dependencies, modules })
    }
}

fn short_name(name: &str) -> &str {
    match name {
        "linchpin" => "cli",
        name => name.strip_prefix("linchpin-").unwrap_or(name),
    }
}

/// Parses every module file below a directory, except `tests.rs` and files in a directory named `tests`.
pub fn parse_modules(directory: &Path) -> Result<Vec<Module>> {
    let mut files = Vec::new();
    collect_files(directory, &mut files)?;
    files.sort();
    files.iter().map(|file| Module::parse_file(file, directory)).collect()
}

fn collect_files(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default();
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            collect_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

impl Module {
    fn parse_file(file: &Path, root: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)?;
        let inner = file.strip_prefix(root)?.with_extension("");
        let mut path: Vec<String> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            path.pop();
        }
        let workspace = std::env::current_dir()?;
        let display_path = file.strip_prefix(&workspace).unwrap_or(file).to_string_lossy().into_owned();
        Self::parse(path, display_path, &text)
    }

    pub fn parse(path: Vec<String>, file: String, text: &str) -> Result<Self> {
        let syntax = syn::parse_file(text).with_context(|| format!("{file} cannot be parsed"))?;
        let (test_items, items): (Vec<Item>, Vec<Item>) = syntax.items.into_iter().partition(is_test);
        let test_lines: usize = test_items.iter().map(line_count).sum();
        Ok(Self { path, file, items, lines: text.lines().count() - test_lines })
    }
}

/// True if an item exists only in tests.
fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(is_cfg_test)
}

pub fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| {
            list.tokens.clone().into_iter().any(|token| token.to_string() == "test")
                || list.tokens.to_string().starts_with("all (test")
        })
}

fn line_count(item: &Item) -> usize {
    item.span().end().line + 1 - item.span().start().line
}
