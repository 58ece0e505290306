//! Compiles `programs.txt` into a table sorted by name, for binary search at run time.

#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const TABLE: &str = "src/programs/programs.txt";

/// A line of `programs.txt`. `src/programs/arguments.rs` has a type of the same name and fields, and includes the debug
/// output of these values as Rust source.
#[derive(Debug)]
#[expect(dead_code, reason = "the fields are read by the derived `Debug`")]
struct TableLine<'t> {
    name: &'t str,
    selecting_flags: &'t str,
    usage: &'t str,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TABLE}");
    let text = fs::read_to_string(TABLE)?;
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (left, usage) = line.split_once(": ").ok_or_else(|| format!("no colon in {line:?}"))?;
        // Flags may follow the names: the line then applies only to commands with these flags.
        let (names, flags) = left.split_at(left.find(" -").unwrap_or(left.len()));
        if !flags.split_whitespace().all(|flag| flag.starts_with('-') && !flag.ends_with(',')) {
            return Err(format!("names follow flags in {left:?}").into());
        }
        let (selecting_flags, usage) = (flags.trim(), usage.trim());
        lines.extend(names.split(", ").map(|name| TableLine { name: name.trim(), selecting_flags, usage }));
    }
    // The sort must be stable, because the first matching line of a program is used.
    lines.sort_by_key(|line| line.name);
    let directory = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(directory.join("programs.rs"), format!("&{lines:#?}"))?;
    Ok(())
}
