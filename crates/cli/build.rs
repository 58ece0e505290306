//! Makes the program start faster, if the linker supports it.
//!
//! A hook process runs at every step of an agent, and half of its time is startup. On Linux with glibc, two settings
//! shorten the startup. Each is left out if the toolchain does not support it:
//!
//! - a fixed load address, so that tables of several hundred kilobytes need not be relocated before `main`;
//! - static linking of `libgcc_s`, so that one library less has to be found, mapped and bound.

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
    let Some(directory) = env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let Some(archive) = find("libgcc_eh.a") else { return };
    // The linker finds this text file in the place of the shared library, and links the static archive that it names.
    if fs::write(directory.join("libgcc_s.so"), format!("INPUT({})\n", archive.display())).is_ok() {
        println!("cargo::rustc-link-search=native={}", directory.display());
    }
}

/// Returns the path of an archive. A C compiler that does not have it prints the bare name.
fn find(archive: &str) -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    let path = Path::new(path.trim());
    (path.is_absolute() && path.exists()).then(|| path.to_owned())
}
