//! Compiles `programs.txt` into a table sorted by name, for binary search at run time.

#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const TABLE: &str = "src/programs/programs.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TABLE}");
    let text = fs::read_to_string(TABLE)?;
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (left, usage) = line.split_once(": ").ok_or_else(|| format!("no colon in {line:?}"))?;
        // The flags that select a form of the program follow the names.
        let (names, flags) = left.split_at(left.find(" -").unwrap_or(left.len()));
        if !flags.split_whitespace().all(|flag| flag.starts_with('-') && !flag.ends_with(',')) {
            return Err(format!("names follow flags in {left:?}").into());
        }
        lines.extend(names.split(", ").map(|name| (name.trim(), flags.trim(), usage.trim())));
    }
    // Stable: the forms of a program keep their order.
    lines.sort_by_key(|(name, _, _)| *name);
    let directory = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(directory.join("programs.rs"), format!("&{lines:#?}"))?;
    Ok(())
}
