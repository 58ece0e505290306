//! What stands in an agent's settings, for people who wonder whether it works.

use super::difference::Difference;

/// What stands in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Installed {
    /// Each of our entries: its event and the program that it calls.
    pub entries: Vec<InstalledEntry>,
    /// Events that Linchpin would be called for after an `install`, and now is not.
    pub missing: Vec<&'static str>,
    /// What in our entries is not as `install` would write it.
    pub differences: Vec<Difference>,
    /// Events with more than one entry of ours.
    pub repeated: Vec<String>,
    /// What else keeps the entries from working. `install` leaves it alone.
    pub problems: Vec<String>,
    /// What would keep entries in other files from working too.
    pub switches: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledEntry {
    pub event: String,
    pub program: String,
}
