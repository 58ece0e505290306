//! The cache directories of known toolchains.

use std::path::PathBuf;

use crate::environment::GetVariable;

/// A directory of a toolchain that is a cache, or that contains caches.
struct Cache {
    /// The environment variable that overrides its location; empty if there is none.
    variable: &'static str,
    /// Its default location, relative to the home directory; empty if it has none.
    default_in_home: &'static str,
    /// The subdirectories and files that are caches; empty if the whole directory is one.
    parts: &'static [&'static str],
}

const fn cache(variable: &'static str, default_in_home: &'static str, parts: &'static [&'static str]) -> Cache {
    Cache { variable, default_in_home, parts }
}

/// An entry lists parts if its directory also contains settings, or programs on the `PATH`.
const CACHES: &[Cache] = &[
    cache("XDG_CACHE_HOME", ".cache", &[]),
    cache("CARGO_HOME", ".cargo", &["registry", "git", ".package-cache", ".package-cache-mutate"]),
    cache("CARGO_TARGET_DIR", "", &[]),
    cache("SCCACHE_DIR", "", &[]),
    cache("CCACHE_DIR", ".ccache", &[]),
    cache("ZIG_GLOBAL_CACHE_DIR", "", &[]),
    cache("GOPATH", "go", &["pkg"]),
    cache("GOMODCACHE", "", &[]),
    cache("GOCACHE", "", &[]),
    cache("GOLANGCI_LINT_CACHE", "", &[]),
    cache("NPM_CONFIG_CACHE", ".npm", &[]),
    cache("npm_config_cache", "", &[]),
    cache("PNPM_HOME", ".local/share/pnpm", &["store", ".tools"]),
    cache("YARN_CACHE_FOLDER", "", &[]),
    cache("YARN_GLOBAL_FOLDER", ".yarn/berry", &[]),
    cache("BUN_INSTALL", ".bun", &["install/cache"]),
    cache("DENO_DIR", "", &[]),
    cache("PIP_CACHE_DIR", "", &[]),
    cache("UV_CACHE_DIR", "", &[]),
    cache("POETRY_CACHE_DIR", "", &[]),
    cache("RUFF_CACHE_DIR", "", &[]),
    cache("PRE_COMMIT_HOME", "", &[]),
    cache("GRADLE_USER_HOME", ".gradle", &[]),
    cache("", ".m2", &[]),
    cache("", ".ivy2", &["cache", "local"]),
    cache("COURSIER_CACHE", "", &[]),
    cache("NUGET_PACKAGES", ".nuget/packages", &[]),
    cache("COMPOSER_CACHE_DIR", ".composer/cache", &[]),
    cache("", ".bundle/cache", &[]),
    cache("PUB_CACHE", ".pub-cache", &["hosted", "hosted-hashes", "git", "_temp"]),
    cache("MISE_CACHE_DIR", "", &[]),
];

/// Returns all caches, whether or not they exist.
pub fn caches(get_variable: GetVariable<'_>) -> Vec<PathBuf> {
    let value = |name: &str| get_variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = value("HOME");
    let directories = CACHES.iter().filter_map(|cache| {
        let overridden = Some(cache.variable).filter(|name| !name.is_empty()).and_then(value);
        let in_home =
            || home.as_ref().filter(|_| !cache.default_in_home.is_empty()).map(|home| home.join(cache.default_in_home));
        Some((overridden.or_else(in_home)?, cache.parts))
    });
    let paths = directories.flat_map(|(directory, parts)| match parts {
        [] => vec![directory],
        parts => parts.iter().map(|part| directory.join(part)).collect(),
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::environment::INHERITED_VARIABLES;

    #[test]
    fn variables_of_all_caches_are_inherited() {
        for cache in CACHES {
            assert!(cache.variable.is_empty() || INHERITED_VARIABLES.contains(&cache.variable), "{}", cache.variable);
            assert!(!cache.variable.is_empty() || !cache.default_in_home.is_empty());
        }
    }

    #[test]
    fn a_variable_overrides_the_default_location() {
        let get_variable = |name: &str| match name {
            "HOME" => Some("/home/ada".into()),
            "CARGO_HOME" => Some("/data/cargo".into()),
            "GOPATH" => Some("".into()),
            "DENO_DIR" => Some("/data/deno".into()),
            _ => None,
        };
        let found = caches(&get_variable);
        let has = |path: &str| found.iter().any(|found| found == Path::new(path));
        assert!(has("/data/cargo/registry") && has("/data/deno") && has("/home/ada/go/pkg") && has("/home/ada/.cache"));
        assert!(!has("/data/cargo") && !has("/home/ada/.cargo/registry") && !has("/home/ada"));
        assert!(caches(&|_| None).is_empty());
    }
}
