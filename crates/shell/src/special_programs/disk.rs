//! Disk devices.

/// Prefixes of the names of disks.
const DISKS: &[&str] = &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "mapper", "disk", "loop"];

/// True for a disk, for a partition, and for `/dev` itself.
pub(crate) fn is_disk(path: &str) -> bool {
    path::relative_to(path, "/dev")
        .is_some_and(|name| name.is_empty() || DISKS.iter().any(|disk| name.starts_with(disk)))
}
