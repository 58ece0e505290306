//! The directories with a nested policy in which calls of a session may have changed files. At a stop, the file rules
//! of these policies are judged as well, no matter in which directory the agent is.

use std::path::Path;

use engine::Event;
use path::Access;
use serde_json::{Map, Value};
use store::StateChanges;

/// The session variable with the list of directories, relative to the project's root.
const VARIABLE: &str = "_nested_policies";

/// Adds the directories that a call touches to the changes of the session's variables, unless the call only reads
/// files. `variables` has the stored variables.
pub fn add<'d>(
    event: &Event,
    directories: impl Iterator<Item = &'d Path>,
    variables: &Map<String, Value>,
    changes: &mut StateChanges,
) {
    let only_reads = event.tool.as_ref().is_none_or(|call| {
        call.shell.is_none()
            && !call.files.is_empty()
            && call.files.iter().all(|file| file.access == Some(Access::Read))
    });
    if only_reads || !event.kind.awaits_permission() {
        return;
    }
    let mut stored = stored(variables);
    let count = stored.len();
    for directory in directories.map(|directory| directory.to_string_lossy().into_owned()) {
        if !stored.contains(&directory) {
            stored.push(directory);
        }
    }
    if stored.len() > count {
        changes.set(VARIABLE, Value::from(stored));
    }
}

/// The stored directories.
pub fn stored(variables: &Map<String, Value>) -> Vec<String> {
    let directories = variables.get(VARIABLE).and_then(Value::as_array).into_iter().flatten();
    directories.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use engine::EventKind;
    use engine::event::{FileAccess, ToolCall};

    use super::*;
    use crate::tests::{before_call, event};

    #[test]
    fn directories_are_stored_once_and_only_for_calls_that_may_write() {
        let reads = ToolCall {
            name: "Read".to_owned(),
            files: vec![FileAccess::new("/repo/pkg/a".to_owned(), Access::Read)],
            ..ToolCall::default()
        };
        let mut variables = Map::new();
        let mut add = |event: &Event, directory: &str| {
            let mut changes = StateChanges::default();
            add(event, std::iter::once(Path::new(directory)), &variables, &mut changes);
            variables.extend(changes.session_variables.into_iter().filter_map(|(name, value)| Some((name, value?))));
            stored(&variables)
        };
        assert_eq!(add(&event(EventKind::Prompt), "pkg"), [""; 0]);
        assert_eq!(add(&Event { tool: Some(reads), ..event(EventKind::BeforeTool) }, "pkg"), [""; 0]);
        assert_eq!(add(&before_call("make"), "pkg"), ["pkg"]);
        assert_eq!(add(&before_call("make"), "pkg"), ["pkg"]);
        assert_eq!(add(&before_call("make"), "other/pkg"), ["pkg", "other/pkg"]);
    }
}
