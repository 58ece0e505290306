//! Sets `LINCHPIN_BUILD`, which changes with the sources that determine the format of the compiled cache.

#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs};

fn main() {
    let mut hasher = DefaultHasher::new();
    for directory in ["src", "../engine/src"] {
        println!("cargo::rerun-if-changed={directory}");
        hash_directory(Path::new(directory), &mut hasher);
    }
    env::var("CARGO_PKG_VERSION").unwrap_or_default().hash(&mut hasher);
    println!("cargo::rustc-env=LINCHPIN_BUILD={:016x}", hasher.finish());
}

fn hash_directory(directory: &Path, hasher: &mut DefaultHasher) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_directory(&path, hasher);
        } else {
            fs::read(&path).unwrap_or_default().hash(hasher);
        }
    }
}
