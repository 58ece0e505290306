//! The changes of rules that a person wanted: a session that runs is held to its rules until it finds one here.
//!
//! One line a change, in the user's own folder: the rule, the digest it had, the digest it has now or `-`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use policy::Weakened;

use crate::environment::Environment;

pub struct Acceptance {
    file: PathBuf,
}

impl Acceptance {
    pub fn of(root: &Path, environment: &Environment) -> Self {
        Self { file: environment.project_state(root).join("accepted") }
    }

    pub fn includes(&self, change: &Weakened) -> bool {
        self.lines().contains(&line(change))
    }

    /// Besides what was accepted before.
    pub fn add<'a>(&self, changes: impl IntoIterator<Item = &'a Weakened>) -> io::Result<()> {
        let mut lines = self.lines();
        let before = lines.len();
        lines.extend(changes.into_iter().map(line));
        if lines.len() == before {
            return Ok(());
        }
        let folder = self.file.parent().unwrap_or(Path::new("."));
        policy::create_private_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        for line in lines {
            writeln!(file, "{line}")?;
        }
        file.persist(&self.file)?;
        Ok(())
    }

    fn lines(&self) -> BTreeSet<String> {
        fs::read_to_string(&self.file).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

fn line(change: &Weakened) -> String {
    format!("{} {} {}", change.rule, change.from, change.to.as_deref().unwrap_or("-"))
}
