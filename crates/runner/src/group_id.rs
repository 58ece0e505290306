//! Which process group it is, also after its number was given to another one.

use std::fmt;
use std::fs;
use std::str::FromStr;

/// A process group. The number is not given away while the group has members, but is once all of them have ended: then its
/// first process has another start time, or it belongs to another session or another boot of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupId {
    /// The number of its first process.
    id: i32,
    /// When that was started, in the system's ticks since it was booted.
    started: u64,
    /// The session, as terminals have them.
    session: i32,
    /// Which boot of the system it was.
    boot: String,
}

impl GroupId {
    /// The group that this process is the first of. None where the system does not tell.
    pub fn of(first: u32) -> Option<Self> {
        let id = i32::try_from(first).ok()?;
        let Stat { session, started, .. } = Stat::of(id)?;
        Some(Self { id, started, session, boot: boot()? })
    }

    /// Whether a process is in the group, and has not ended.
    pub fn includes(&self, process: i32) -> bool {
        let is_member = |stat: Stat| stat.group == self.id && stat.session == self.session && !stat.has_ended;
        Stat::of(process).is_some_and(is_member) && self.is_the_same()
    }

    /// Whether the number means the same group now. Where the first process has ended, its children keep the number.
    fn is_the_same(&self) -> bool {
        boot().as_ref() == Some(&self.boot) && Stat::of(self.id).is_none_or(|first| first.started == self.started)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, started, session, boot } = self;
        write!(formatter, "{id} {started} {session} {boot}")
    }
}

/// It is no such text.
#[derive(Debug, thiserror::Error)]
#[error("this names no process group")]
pub struct NoGroupId;

impl FromStr for GroupId {
    type Err = NoGroupId;

    fn from_str(text: &str) -> Result<Self, NoGroupId> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [id, started, session, boot] = words.as_slice() else { return Err(NoGroupId) };
        let number = |word: &str| word.parse().map_err(|_| NoGroupId);
        let started = started.parse().map_err(|_| NoGroupId)?;
        Ok(Self { id: number(id)?, started, session: number(session)?, boot: (*boot).to_owned() })
    }
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|boot| boot.trim().to_owned())
}

/// What Linux tells of a process.
struct Stat {
    group: i32,
    session: i32,
    started: u64,
    /// It has ended, and nobody has waited for it.
    has_ended: bool,
}

impl Stat {
    fn of(process: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name before this may have spaces and parentheses in it.
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
    fn a_number_that_was_given_to_another_group_is_not_the_same() {
        // The leader of this process's own group may have ended.
        let mut child = Command::new("sleep").arg("60").process_group(0).spawn().expect("a process");
        let own = i32::try_from(child.id()).expect("a number");
        let group = GroupId::of(child.id()).expect("the group of a process");
        assert_eq!(group.to_string().parse::<GroupId>().ok(), Some(group.clone()));
        assert!(group.includes(own));
        for other in [
            GroupId { started: group.started + 1, ..group.clone() },
            GroupId { session: group.session + 1, ..group.clone() },
            GroupId { boot: "another".to_owned(), ..group.clone() },
        ] {
            assert!(!other.includes(own), "{other}");
        }
        child.kill().expect("an end");
        child.wait().expect("an end");
    }
}
