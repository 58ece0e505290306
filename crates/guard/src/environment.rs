//! The environment of the process: its variables, its working directory, and the user's directories. No other module
//! reads environment variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The user's directories and the process's environment variables.
#[derive(Clone)]
pub struct Environment {
    pub home: Option<PathBuf>,
    /// The directory of the user's own policy, with `config.yml` and `rules/`.
    pub config: PathBuf,
    /// The directory for the user's state: compiled policies, roots of sessions, trust.
    pub state: PathBuf,
    pub temp: PathBuf,
    pub cwd: PathBuf,
    lookup: fn(&str) -> Option<OsString>,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the place that the rule points to")]
    /// The environment of this process.
    pub fn of_process() -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self::new(|name| std::env::var_os(name), std::env::temp_dir(), cwd)
    }

    /// An environment whose variables `lookup` returns.
    pub fn new(lookup: fn(&str) -> Option<OsString>, temp: PathBuf, cwd: PathBuf) -> Self {
        let absolute = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME").or_else(|| absolute("USERPROFILE"));
        // Without a home directory, files are stored in the temporary directory, where a reboot may delete them.
        let base = home.clone().unwrap_or_else(|| temp.join("linchpin-home"));
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| base.join(".config"));
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| base.join(".local/state"));
        Self { home, config: config.join("linchpin"), state: state.join("linchpin"), temp, cwd, lookup }
    }

    /// The value of an environment variable, if it is set, not empty and valid UTF-8.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.lookup)(name)?.into_string().ok().filter(|value| !value.is_empty())
    }

    /// The directories that bundled rules name by their default path, such as `~/.config/linchpin`: pairs of the actual
    /// path and the default path.
    pub fn directory_aliases(&self) -> Vec<(String, String)> {
        let directories = [(&self.config, "~/.config/linchpin"), (&self.state, "~/.local/state/linchpin")];
        let directories =
            directories.map(|(directory, name)| (directory.to_string_lossy().into_owned(), name.to_owned()));
        let agents = agents::install::overridden_user_directories(|name| self.get(name));
        directories.into_iter().chain(agents).collect()
    }

    /// The directory for a project's state, in the user's state directory.
    pub fn project_state(&self, root: &Path) -> PathBuf {
        self.state.join("projects").join(policy::digest(root.as_os_str().as_encoded_bytes()))
    }
}
