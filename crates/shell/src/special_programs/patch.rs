//! Effects of a patch on files.

use path::Access;

use crate::model::SimpleCommand;

impl SimpleCommand {
    pub(crate) fn applies_patch(&self) -> bool {
        let (Some(program), Some(arguments)) = (self.program(), self.arguments()) else { return false };
        let form = arguments.subcommands.first().map(String::as_str);
        let only_inspects = arguments.has_flag(&["--check", "--dry-run", "--numstat", "--stat", "--summary"]);
        let applies = is_agent_patch_program(program)
            || program == "patch"
            || (program == "git" && matches!(form, Some("apply" | "am")));
        applies && (!only_inspects || arguments.has_flag(&["--apply"]))
    }

    /// The contents of the patches that the command applies, if they are known.
    pub(crate) fn applied_patches(&self) -> Vec<&str> {
        let stdin = self.stdin_text().filter(|_| self.applies_patch());
        let argument = self.words().get(1).filter(|_| self.program().is_some_and(is_agent_patch_program));
        let argument = argument.and_then(|patch| patch.value.as_deref());
        stdin.into_iter().chain(argument).chain(self.provenance.patches.iter().map(|text| &**text)).collect()
    }
}

/// True for the patch programs of agents, which have a format of their own. The patch is their only argument, or their
/// stdin.
fn is_agent_patch_program(program: &str) -> bool {
    matches!(program, "apply_patch" | "applypatch")
}

/// Returns the files that a patch changes, with the kind of access.
pub(crate) fn changed_files(patch: &str) -> impl Iterator<Item = (&str, Access)> {
    let mut before = None;
    let named = move |line| {
        let line: &str = line;
        if let Some(header) = line.trim().strip_prefix("***").and_then(|header| header.split_once(':')) {
            return match (header.0.trim(), header.1.trim()) {
                (_, "") => None,
                ("Add File" | "Update File" | "Move to", file) => Some((file, Access::Write)),
                ("Delete File", file) => Some((file, Access::Delete)),
                _ => None,
            };
        }
        if let Some(name) = line.strip_prefix("--- ") {
            before = Some(path(name));
            return None;
        }
        let git_name = line.strip_prefix("diff --git ").and_then(|names| names.rsplit(' ').next());
        let renamed = || line.strip_prefix("rename from ").or_else(|| line.strip_prefix("rename to "));
        let name = match line.strip_prefix("+++ ").or(git_name).map(path).or_else(renamed) {
            // For a deleted file, the name is in the `---` line before the `+++` line.
            Some("/dev/null") => before,
            name => name,
        };
        name.map(|name| (name, Access::Write))
    };
    patch.lines().filter_map(named)
}

/// Returns the files that a patch creates, with their contents.
pub(crate) fn created_files(patch: &str) -> Vec<(&str, String)> {
    let mut created: Vec<(&str, String)> = Vec::new();
    let mut is_new = false;
    for line in patch.lines() {
        if let Some(before) = line.strip_prefix("--- ") {
            is_new = path(before) == "/dev/null";
        } else if let Some(after) = line.strip_prefix("+++ ").filter(|_| is_new) {
            created.push((path(after), String::new()));
        } else if let (Some(added), Some((_, text)), true) = (line.strip_prefix('+'), created.last_mut(), is_new) {
            text.push_str(added);
            text.push('\n');
        }
    }
    created
}

/// Removes the time after the name, and the prefix `a/` or `b/` that git adds.
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
        let names = |patch| changed_files(patch).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(patch), ["x", "x", "y/z"]);
        assert_eq!(created_files(patch), [("y/z", "c\n".to_owned())]);
        let patch = "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\ndiff --git a/o b/n\nrename from o\nrename to n\n";
        assert_eq!(names(patch), ["x", "n", "o", "n"]);
        let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n***Delete File: c \n*** End Patch\n";
        let changed_files: Vec<_> = changed_files(patch).collect();
        assert_eq!(changed_files, [("a", Access::Write), ("b", Access::Write), ("c", Access::Delete)]);
    }
}
