//! What a patch does to files, by its text.

/// The files that it says it changes.
pub(super) fn changed(patch: &str) -> impl Iterator<Item = &str> {
    let named = |line| {
        let line: &str = line;
        let of_git = line.strip_prefix("diff --git ").and_then(|names| names.rsplit(' ').next());
        line.strip_prefix("+++ ").or(of_git).map(path)
    };
    patch.lines().filter_map(named)
}

/// The files that it makes, each with what is then in it.
pub(super) fn made(patch: &str) -> Vec<(&str, String)> {
    let mut made: Vec<(&str, String)> = Vec::new();
    let mut is_new = false;
    for line in patch.lines() {
        if let Some(before) = line.strip_prefix("--- ") {
            is_new = path(before) == "/dev/null";
        } else if let Some(after) = line.strip_prefix("+++ ").filter(|_| is_new) {
            made.push((path(after), String::new()));
        } else if let (Some(added), Some((_, text)), true) = (line.strip_prefix('+'), made.last_mut(), is_new) {
            text.push_str(added);
            text.push('\n');
        }
    }
    made
}

/// Without the time behind it, and without the `a/` or `b/` that git puts before it.
fn path(name: &str) -> &str {
    let name = name.split('\t').next().unwrap_or(name);
    name.split_once('/').filter(|(first, _)| matches!(*first, "a" | "b")).map_or(name, |(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_patch() {
        let patch = "diff --git a/x b/x\n--- a/x\t2024\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y/z\n@@ -0,0 +1 @@\n+c\n";
        assert_eq!(changed(patch).collect::<Vec<_>>(), ["x", "x", "y/z"]);
        assert_eq!(made(patch), [("y/z", "c\n".to_owned())]);
    }
}
