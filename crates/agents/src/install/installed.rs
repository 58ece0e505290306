use super::difference::Difference;

/// Linchpin's entries in an agent's settings, and their problems.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Installed {
    /// Linchpin's entries.
    pub entries: Vec<InstalledEntry>,
    /// Events without an entry, for which `install` would add one.
    pub missing: Vec<&'static str>,
    /// Differences of the entries from those that `install` would write.
    pub differences: Vec<Difference>,
    /// Events with more than one of Linchpin's entries.
    pub repeated: Vec<String>,
    /// Other problems because of which the entries might not work. `install` does not fix these problems.
    pub problems: Vec<String>,
    /// Descriptions of the settings in the inspected file that switch off hooks of the agent, including hooks in other
    /// files.
    pub switches: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledEntry {
    pub event: String,
    pub program: String,
}
