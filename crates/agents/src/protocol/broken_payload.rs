//! Extracts the envelope (event, session, directory, tool) of a payload that cannot be parsed.
//!
//! A payload can be too large, truncated, nested too deeply, or malformed. Nevertheless the answer must have the format
//! of the event that the payload reports. The scan accepts any bytes, and counts the nesting depth instead of using a
//! stack. It reads only the fields of [`Envelope`], and ignores everything else, such as the tool's input.

/// The maximum length in bytes of a string in the envelope. Longer strings are read as empty, because they cannot be
/// names or paths.
const FIELD_LIMIT: usize = 32 * 1024;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub hook_event_name: Option<String>,
    pub session_id: Option<String>,
    pub cwd: Option<String>,
    pub tool_name: Option<String>,
    /// The first element of the list `workspace_roots`.
    pub workspace_roots: Option<String>,
}

impl Envelope {
    fn field(&mut self, key: &str) -> Option<&mut Option<String>> {
        match key {
            "hook_event_name" => Some(&mut self.hook_event_name),
            "session_id" => Some(&mut self.session_id),
            "cwd" => Some(&mut self.cwd),
            "tool_name" => Some(&mut self.tool_name),
            "workspace_roots" => Some(&mut self.workspace_roots),
            _ => None,
        }
    }
}

/// The only field of the envelope that is a list in the payload.
const LIST: &str = "workspace_roots";

/// What the scan expects next in the outermost object.
enum Expect {
    Key,
    Colon(String),
    Value(String),
    Comma,
}

struct Scan<'n> {
    /// The agent's names of fields, each with the canonical name.
    names: &'n [(&'n str, &'n str)],
    envelope: Envelope,
    depth: usize,
    expect: Expect,
}

impl Scan<'_> {
    /// Processes a key or a value that is a string. `is_closed`: false if the payload ends within the string.
    fn handle_string(&mut self, text: String, is_closed: bool) {
        if self.depth == 2
            && let Expect::Value(key) = &self.expect
            && key == LIST
            && is_closed
        {
            self.envelope.workspace_roots.get_or_insert(text);
            return;
        }
        if self.depth != 1 {
            return;
        }
        self.expect = match std::mem::replace(&mut self.expect, Expect::Comma) {
            Expect::Key if is_closed => {
                let canonical = self.names.iter().find(|(own, _)| *own == text).map(|(_, name)| (*name).to_owned());
                Expect::Colon(canonical.unwrap_or(text))
            }
            Expect::Value(key) => {
                if is_closed && let Some(field) = self.envelope.field(&key) {
                    // If a key occurs twice, its first value is kept, so that later bytes cannot replace it.
                    field.get_or_insert(text);
                }
                Expect::Comma
            }
            other => other,
        };
    }

    fn handle_colon(&mut self) {
        self.expect = match std::mem::replace(&mut self.expect, Expect::Comma) {
            Expect::Colon(key) => Expect::Value(key),
            other => other,
        };
    }

    fn handle_closing_bracket(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 1 {
            self.expect = Expect::Comma;
        }
    }
}

/// Extracts the envelope. `names`: the agent's names of fields, each with the canonical name.
pub(crate) fn scan(payload: &[u8], names: &[(&str, &str)]) -> Envelope {
    let mut scan = Scan { names, envelope: Envelope::default(), depth: 0, expect: Expect::Key };
    let mut rest = payload;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'"' => {
                let (text, after, is_closed) = split_string(rest);
                rest = after;
                scan.handle_string(text, is_closed);
            }
            // A list at the top level is not a payload.
            b'[' if scan.depth == 0 => break,
            b'{' | b'[' => scan.depth += 1,
            b'}' | b']' => {
                scan.handle_closing_bracket();
                if scan.depth == 0 {
                    break;
                }
            }
            b':' if scan.depth == 1 => scan.handle_colon(),
            b',' if scan.depth == 1 => scan.expect = Expect::Key,
            _ => {}
        }
    }
    scan.envelope
}

/// Splits bytes at the closing quote. Returns the string before the quote, the bytes after it, and true; or an empty
/// string, no bytes and false if there is no closing quote.
fn split_string(bytes: &[u8]) -> (String, &[u8], bool) {
    let mut escaped = false;
    for (end, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let (raw, after) = bytes.split_at(end);
                return (unescaped(raw), after.get(1..).unwrap_or_default(), true);
            }
            _ => {}
        }
    }
    (String::new(), &[], false)
}

fn unescaped(raw: &[u8]) -> String {
    if raw.len() > FIELD_LIMIT {
        return String::new();
    }
    let text = String::from_utf8_lossy(raw);
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.into_owned())
}

#[cfg(test)]
mod tests;
