//! Extracts the lines of a prompt that are not quotes, code or transcripts.
//!
//! A prompt can contain anything that the person pasted into it. Each line has the names of the tags (such as
//! `<system-reminder>`) around it, so that an agent's own note can be distinguished from a note in the pasted history
//! of another session.

/// A line, or the part of a line between two tags, with the names of the tags around it, the outermost first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    pub(super) tags: Vec<&'t str>,
}

/// Maximum nesting of tags.
const DEPTH_LIMIT: usize = 16;
/// Maximum number of bytes of a prompt that are searched. A note that an agent puts at the end of a longer prompt is
/// not found.
const LENGTH_LIMIT: usize = 256 * 1024;

/// The beginnings of the lines in a transcript at which a speaker changes. The text from the first such line on counts
/// as a transcript.
const SPEAKERS: [&str; 6] = ["Human:", "User:", "Assistant:", "Claude:", "Codex:", "Gemini:"];

pub(super) fn unquoted_lines(prompt: &str) -> Vec<Line<'_>> {
    let prompt = prompt.get(..prompt.floor_char_boundary(LENGTH_LIMIT)).unwrap_or_default();
    let mut lines = Vec::new();
    let mut tags: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in prompt.lines() {
        let start = line.trim_start();
        if let Some(opening) = fence {
            if start.starts_with(opening) {
                fence = None;
            }
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|fence| start.starts_with(fence));
        let is_indented_code = line.starts_with("    ") || line.starts_with('\t');
        if fence.is_some() || start.starts_with('>') || is_indented_code {
            continue;
        }
        if tags.is_empty() && SPEAKERS.iter().any(|speaker| start.starts_with(speaker)) {
            break;
        }
        if !split_at_tags(line, &mut tags, &mut lines) {
            break;
        }
    }
    lines
}

/// Splits a line at tags. Returns false if tags are nested too deeply to continue.
fn split_at_tags<'t>(line: &'t str, tags: &mut Vec<&'t str>, lines: &mut Vec<Line<'t>>) -> bool {
    let mut rest = line;
    while let Some((before, tag, after)) = next_tag(rest) {
        // The tag of a note that the agent itself added is at the beginning of a line. A tag after other text is only a
        // mention of the tag.
        if tags.is_empty() && !before.trim().is_empty() {
            return true;
        }
        push(before, tags, lines);
        rest = after;
        match tag {
            Tag::Opening(name) => {
                if tags.len() == DEPTH_LIMIT {
                    return false;
                }
                tags.push(name);
            }
            Tag::Closing(name) => {
                if let Some(index) = tags.iter().rposition(|open| *open == name) {
                    tags.truncate(index);
                }
            }
        }
    }
    push(rest, tags, lines);
    true
}

fn push<'t>(text: &'t str, tags: &[&'t str], lines: &mut Vec<Line<'t>>) {
    if !text.trim().is_empty() {
        lines.push(Line { text, tags: tags.to_vec() });
    }
}

enum Tag<'t> {
    Opening(&'t str),
    Closing(&'t str),
}

/// The next tag, with the text before and after the tag. `a < b` and `<br/>` are not tags. `None` if there is no
/// further tag.
fn next_tag(text: &str) -> Option<(&str, Tag<'_>, &str)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('<').map(|offset| from + offset) {
        let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
        let closing = after.strip_prefix('/');
        let inside = closing.unwrap_or(after);
        let length =
            inside.find(|character: char| !character.is_ascii_alphanumeric() && !matches!(character, '_' | '-'));
        let (name, behind) = inside.split_at(length.unwrap_or(inside.len()));
        let end = behind.find('>');
        let is_named = name.starts_with(|first: char| first.is_ascii_alphabetic());
        if let (true, Some(end)) = (is_named && behind.starts_with(['>', ' ', '/']), end) {
            let is_empty = behind.get(..end)?.ends_with('/');
            if !is_empty {
                let tag = if closing.is_some() { Tag::Closing(name) } else { Tag::Opening(name) };
                return Some((before, tag, behind.get(end + 1..)?));
            }
        }
        from = at + 1;
    }
    None
}
