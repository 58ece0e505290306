//! What the process is told from outside: the only place that reads environment variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where this user's things are, and what the process was told.
#[derive(Clone)]
pub struct Environment {
    pub home: Option<PathBuf>,
    /// The user tier: `config.yml` and `rules/`.
    pub config: PathBuf,
    /// What Linchpin keeps for this user: compiled policies, sessions' roots, trust.
    pub state: PathBuf,
    pub temp: PathBuf,
    pub cwd: PathBuf,
    lookup: fn(&str) -> Option<OsString>,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the place that the rule points to")]
    pub fn of_process() -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self::new(|name| std::env::var_os(name), std::env::temp_dir(), cwd)
    }

    pub fn new(lookup: fn(&str) -> Option<OsString>, temp: PathBuf, cwd: PathBuf) -> Self {
        let absolute = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME").or_else(|| absolute("USERPROFILE"));
        // Without a home there is still a place, if not one that outlives the machine's next start.
        let base = home.clone().unwrap_or_else(|| temp.join("linchpin-home"));
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| base.join(".config"));
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| base.join(".local/state"));
        Self { home, config: config.join("linchpin"), state: state.join("linchpin"), temp, cwd, lookup }
    }

    /// The value of a variable, where it is text.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.lookup)(name)?.into_string().ok().filter(|value| !value.is_empty())
    }

    /// Folders that bundled rules spell as they mostly are, `~/.config/linchpin` and the like, with where they are here.
    pub fn known_folders(&self) -> Vec<(String, String)> {
        let own = [(&self.config, "~/.config/linchpin"), (&self.state, "~/.local/state/linchpin")];
        let own = own.map(|(folder, name)| (folder.to_string_lossy().into_owned(), name.to_owned()));
        let agents = agents::install::overridden_user_folders(|name| self.get(name));
        own.into_iter().chain(agents).collect()
    }

    /// What belongs to one project, outside of it.
    pub fn project_state(&self, root: &Path) -> PathBuf {
        self.state.join("projects").join(policy::digest(root.as_os_str().as_encoded_bytes()))
    }
}
