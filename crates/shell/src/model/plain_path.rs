//! Paths, spelled one way.

/// One spelling for the many of a path.
pub(crate) fn plain(path: &str) -> String {
    match path {
        _ if path.starts_with('/') => path::normalize(path),
        _ if path::is_rooted(path) => path.split_once('/').map_or_else(
            || path.to_owned(),
            // Above the home folder, or where a program put its own, nobody knows the names.
            |(root, rest)| if climbs(rest) { path.to_owned() } else { format!("{root}{}", path::normalize(rest)) },
        ),
        _ if climbs(path) => path.to_owned(),
        _ => path::normalize(path).trim_start_matches('/').to_owned(),
    }
}

/// Whether it leads out of where it starts: `a/../../b`.
pub(crate) fn climbs(path: &str) -> bool {
    let mut depth = 0_usize;
    path.split('/').any(|segment| {
        match segment {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
        false
    })
}
