//! Identifies a process group, even if the system reuses its id.

use std::fmt;
use std::fs;
use std::str::FromStr;

/// A process group. The system may reuse the id once all members of the group have ended. The leader (first process) of
/// the new group then has another start time, or belongs to another session or boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessGroupId {
    /// The id of its leader.
    id: i32,
    /// The start time of its leader, in clock ticks since boot.
    started: u64,
    /// The id of its session, as set by `setsid`.
    session: i32,
    /// The id of the boot.
    boot: String,
}

impl ProcessGroupId {
    /// Returns the group that the process `leader` leads; `None` if the system does not provide the details.
    pub fn of(leader: u32) -> Option<Self> {
        let id = i32::try_from(leader).ok()?;
        let Stat { session, started, .. } = Stat::of(id)?;
        Some(Self { id, started, session, boot: boot()? })
    }

    /// True if the process is in the group and has not ended.
    pub fn includes(&self, process: i32) -> bool {
        let is_member = |stat: Stat| stat.group == self.id && stat.session == self.session && !stat.has_ended;
        Stat::of(process).is_some_and(is_member) && self.is_still_the_group()
    }

    /// True if the id still refers to the same group. After the leader has ended, its children keep the id.
    fn is_still_the_group(&self) -> bool {
        boot().as_ref() == Some(&self.boot) && Stat::of(self.id).is_none_or(|leader| leader.started == self.started)
    }
}

impl fmt::Display for ProcessGroupId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, started, session, boot } = self;
        write!(formatter, "{id} {started} {session} {boot}")
    }
}

#[derive(Debug, thiserror::Error)]
#[error("this is not the id of a process group")]
pub struct ParseProcessGroupIdError;

impl FromStr for ProcessGroupId {
    type Err = ParseProcessGroupIdError;

    fn from_str(text: &str) -> Result<Self, ParseProcessGroupIdError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [id, started, session, boot] = words.as_slice() else { return Err(ParseProcessGroupIdError) };
        let number = |word: &str| word.parse().map_err(|_| ParseProcessGroupIdError);
        let started = started.parse().map_err(|_| ParseProcessGroupIdError)?;
        Ok(Self { id: number(id)?, started, session: number(session)?, boot: (*boot).to_owned() })
    }
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|boot| boot.trim().to_owned())
}

/// The fields of `/proc/ID/stat`.
struct Stat {
    group: i32,
    session: i32,
    started: u64,
    /// True for a zombie.
    has_ended: bool,
}

impl Stat {
    fn of(process: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name before this parenthesis may itself contain spaces and parentheses.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse().ok();
        Some(Self {
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
            has_ended: matches!(*fields.first()?, "Z" | "X"),
        })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_reused_id_is_another_group() {
        // The test starts a group of its own: the leader of the group that this process is in may have ended.
        let mut child = Command::new("sleep").arg("60").process_group(0).spawn().expect("a process");
        let leader_id = i32::try_from(child.id()).expect("a number");
        let group = ProcessGroupId::of(child.id()).expect("the group of a process");
        assert_eq!(group.to_string().parse::<ProcessGroupId>().ok(), Some(group.clone()));
        assert!(group.includes(leader_id));
        for other in [
            ProcessGroupId { started: group.started + 1, ..group.clone() },
            ProcessGroupId { session: group.session + 1, ..group.clone() },
            ProcessGroupId { boot: "another".to_owned(), ..group.clone() },
        ] {
            assert!(!other.includes(leader_id), "{other}");
        }
        child.kill().expect("an end");
        child.wait().expect("an end");
    }
}
