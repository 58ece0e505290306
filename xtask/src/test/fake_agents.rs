//! Programs with the names of all coding agents. They record which process calls them: a test that calls a coding agent
//! through `PATH` is not isolated from the machine that it runs on.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempDir;

const NAMES: &[&str] = &["agy", "amp", "claude", "codex", "copilot", "cursor-agent", "gemini", "opencode"];

/// The temporary directory that contains the fake agents. It is deleted when this value is dropped.
pub struct FakeAgents(TempDir);

impl FakeAgents {
    pub fn create() -> Result<Self> {
        let fakes = Self(tempfile::Builder::new().prefix("linchpin-fake-agents-").tempdir()?);
        let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexit 1\n", fakes.calls_file().display());
        for name in NAMES {
            let file = fakes.0.path().join(name);
            fs::write(&file, &script)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        Ok(fakes)
    }

    pub fn path_with_fakes_first(&self) -> Result<OsString> {
        let path = std::env::var_os("PATH").context("no `PATH` is set")?;
        Ok(std::env::join_paths(std::iter::once(self.0.path().to_owned()).chain(std::env::split_paths(&path)))?)
    }

    /// Returns the calls of the fake agents since the previous `take_calls`, and deletes their record.
    pub fn take_calls(&self) -> Result<Vec<String>> {
        match fs::read_to_string(self.calls_file()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            calls => {
                let calls = calls?.lines().map(str::to_owned).collect();
                fs::remove_file(self.calls_file())?;
                Ok(calls)
            }
        }
    }

    fn calls_file(&self) -> PathBuf {
        self.0.path().join("calls")
    }
}
