//! Makes the program start faster, if the linker supports it.
//!
//! A hook process runs at every step of an agent, and half of its time is startup. On Linux with glibc, two things
//! shorten that. Each is left out if the toolchain does not support it:
//!
//! - a fixed load address: no relocations of several hundred kilobytes of tables before `main`;
//! - static linking of `libgcc_s`: one library less to find, map and bind.

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
    // The linker reads this text file as the shared library, and links the static archive instead.
    if fs::write(folder.join("libgcc_s.so"), format!("INPUT({})\n", archive.display())).is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// Returns the path of an archive. A C compiler that does not have it prints the bare name.
fn find(archive: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    let path = Path::new(path.trim());
    (path.is_absolute() && path.exists()).then(|| path.to_owned())
}
