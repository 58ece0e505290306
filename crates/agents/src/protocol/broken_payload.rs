//! Extracts the envelope (event, session, directory, tool) of a payload that is not valid JSON.
//!
//! A payload may be truncated, nested too deeply, or malformed. The answer still needs the format of that event. So
//! this scan reads the fields of the outermost object only. It accepts any bytes, counts the nesting depth instead of
//! using a stack, and ignores deeper levels, such as the tool's input.

/// Longer strings are ignored: they cannot be names or paths. In bytes.
const FIELD_LIMIT: usize = 32 * 1024;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub hook_event_name: Option<String>,
    pub session_id: Option<String>,
    pub cwd: Option<String>,
    pub tool_name: Option<String>,
    /// The first one in the list.
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

/// The only field that is a list.
const LIST: &str = "workspace_roots";

/// The state of the scan within the outermost object.
enum Expect {
    Key,
    Colon(String),
    Value(String),
    Comma,
}

struct Scan<'n> {
    /// The agent's names of fields, each with the family's name.
    names: &'n [(&'n str, &'n str)],
    envelope: Envelope,
    depth: usize,
    expect: Expect,
}

impl Scan<'_> {
    /// Handles a string. `is_closed`: false if the payload ends within it.
    fn string(&mut self, text: String, is_closed: bool) {
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
                let family = self.names.iter().find(|(own, _)| *own == text).map(|(_, name)| (*name).to_owned());
                Expect::Colon(family.unwrap_or(text))
            }
            Expect::Value(key) => {
                if is_closed && let Some(field) = self.envelope.field(&key) {
                    // The first of two equal keys wins, so later bytes cannot replace it.
                    field.get_or_insert(text);
                }
                Expect::Comma
            }
            other => other,
        };
    }

    fn colon(&mut self) {
        self.expect = match std::mem::replace(&mut self.expect, Expect::Comma) {
            Expect::Colon(key) => Expect::Value(key),
            other => other,
        };
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 1 {
            self.expect = Expect::Comma;
        }
    }
}

/// `names`: the agent's names of fields, each with the family's name.
pub(crate) fn scan(payload: &[u8], names: &[(&str, &str)]) -> Envelope {
    let mut scan = Scan { names, envelope: Envelope::default(), depth: 0, expect: Expect::Key };
    let mut rest = payload;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'"' => {
                let (text, after, is_closed) = string(rest);
                rest = after;
                scan.string(text, is_closed);
            }
            // The payload has to be an object.
            b'[' if scan.depth == 0 => break,
            b'{' | b'[' => scan.depth += 1,
            b'}' | b']' => {
                scan.close();
                if scan.depth == 0 {
                    break;
                }
            }
            b':' if scan.depth == 1 => scan.colon(),
            b',' if scan.depth == 1 => scan.expect = Expect::Key,
            _ => {}
        }
    }
    scan.envelope
}

/// Splits bytes at the closing quote: the string, the rest, and whether there was a closing quote.
fn string(bytes: &[u8]) -> (String, &[u8], bool) {
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
