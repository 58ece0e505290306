//! Normalizes the spelling of paths.

/// Normalizes a path. A relative path that leads above its starting directory stays as it is.
pub(crate) fn normalize_path(path: &str) -> String {
    match path {
        _ if path.starts_with('/') => path::normalize(path),
        _ if path::is_rooted(path) => path.split_once('/').map_or_else(
            || path.to_owned(),
            // The parents of the home directory, and of the directory that a placeholder stands for, are not known.
            |(root, rest)| {
                if leads_above_start(rest) { path.to_owned() } else { format!("{root}{}", path::normalize(rest)) }
            },
        ),
        _ if leads_above_start(path) => path.to_owned(),
        _ => path::normalize(path).trim_start_matches('/').to_owned(),
    }
}

/// True if a path leads above its starting directory: `a/../../b`.
pub(crate) fn leads_above_start(path: &str) -> bool {
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
