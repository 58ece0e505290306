//! Makes the program start faster, where the linker can.
//!
//! A hook is a process at every step of an agent, and half of its time goes into starting. Two things shorten that on
//! Linux with glibc, and are left out where the toolchain lacks what they need:
//!
//! - a fixed address: no relocations to apply to a few hundred kilobytes of tables before `main`;
//! - `libgcc_s` linked in: one library less to find, map and bind.

#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let native = env::var("HOST") == env::var("TARGET");
    if target("OS") != "linux" || target("ENV") != "gnu" || target("ARCH") != "x86_64" || !native {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let Some(folder) = env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let Some(archive) = find("libgcc_eh.a") else { return };
    // To the linker this text is the shared library, and stands for the archive that has the same.
    if fs::write(folder.join("libgcc_s.so"), format!("INPUT({})\n", archive.display())).is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// A C compiler that does not know a file answers with its bare name.
fn find(archive: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    let path = Path::new(path.trim());
    (path.is_absolute() && path.exists()).then(|| path.to_owned())
}
