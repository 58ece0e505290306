//! Devices that are disks.

/// What disks are called.
const DISKS: &[&str] = &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "mapper", "disk", "loop"];

/// Of the machine, or a part of one.
pub(crate) fn is_disk(path: &str) -> bool {
    path::below(path, "/dev").is_some_and(|name| name.is_empty() || DISKS.iter().any(|disk| name.starts_with(disk)))
}
