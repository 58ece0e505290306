//! The environment variables that a started program inherits.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// The environment variable that tells which run of a loop started a process. Processes that outlive the run are found
/// by this variable.
pub const STARTED_BY: &str = "LINCHPIN_STARTED_BY";

/// The variables that every program inherits: user, locale, and locations of toolchains. None of them holds a secret,
/// or makes a program load or run something else.
pub const INHERITED_VARIABLES: &[&str] = &[
    STARTED_BY,
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "TERM",
    "TMPDIR",
    "TZ",
    // Directories of toolchains, and their caches.
    "ANDROID_HOME",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CCACHE_DIR",
    "COMPOSER_CACHE_DIR",
    "COMPOSER_HOME",
    "CONDA_PREFIX",
    "COURSIER_CACHE",
    "DENO_DIR",
    "DOTNET_ROOT",
    "FNM_DIR",
    "GEM_HOME",
    "GOCACHE",
    "GOLANGCI_LINT_CACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "MAVEN_HOME",
    "MISE_CACHE_DIR",
    "MISE_DATA_DIR",
    "NPM_CONFIG_CACHE",
    "NUGET_PACKAGES",
    "NVM_DIR",
    "PIP_CACHE_DIR",
    "PNPM_HOME",
    "POETRY_CACHE_DIR",
    "PRE_COMMIT_HOME",
    "PUB_CACHE",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUFF_CACHE_DIR",
    "RUSTUP_HOME",
    "SCCACHE_DIR",
    "SDKMAN_DIR",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "YARN_CACHE_FOLDER",
    "YARN_GLOBAL_FOLDER",
    "ZIG_GLOBAL_CACHE_DIR",
    "npm_config_cache",
];

/// Looks up an environment variable.
pub(crate) type GetVariable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Returns the inherited variables, and those in `extra`.
pub(crate) fn environment<'n>(extra: &'n [String], get_variable: GetVariable<'_>) -> BTreeMap<&'n str, OsString> {
    let names = INHERITED_VARIABLES.iter().copied().chain(extra.iter().map(String::as_str));
    names.filter_map(|name| get_variable(name).map(|value| (name, value))).collect()
}
