//! Calls of the `apply_patch` tool.

use engine::event::ToolCall;

use super::decode::RawCall;
use super::patch::{Change, accesses, changes, text};
use super::tools;

/// Converts the call to `Write` if the patch only adds files, and to `Edit` otherwise. If the patch adds some files and
/// changes others, rules about `Write` and rules about `Edit` both apply to the call.
pub(crate) fn call(call: RawCall<'_>) -> ToolCall {
    let text = text(&call.input);
    let changes = changes(&text);
    let files = accesses(&changes, call.cwd);
    let adds = changes.iter().any(|change| matches!(change, Change::Add(_)));
    let edits = changes.iter().any(|change| !matches!(change, Change::Add(_)));
    let (name, other) = match (adds, edits) {
        (true, false) => ("Write", None),
        (true, true) => ("Edit", Some("Write".to_owned())),
        (false, _) => ("Edit", None),
    };
    let mut tool = tools::renamed(call, name);
    tool.aliases.extend(other);
    tool.files = files;
    tool
}
