//! A Markdown file's two parts: YAML between `---` lines, and the body after it.

use std::ops::Range;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

pub struct MarkdownParts<'a> {
    pub yaml: Range<usize>,
    pub body: &'a str,
}

pub fn split(source: &Source) -> Result<MarkdownParts<'_>, Box<Diagnostic>> {
    let text = &*source.text;
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut lines = Lines { text, offset: start };
    let opening = lines.next();
    if opening.as_ref().is_none_or(|line| text.get(line.clone()).unwrap_or_default().trim_end() != "---") {
        let span = start..opening.map_or(start, |line| line.end);
        return Err(Box::new(
            Diagnostic::error(
                DiagnosticKind::InvalidFrontmatter,
                "a rule must start with a `---` line",
                source,
                Some(span),
            )
            .help("put the rule's fields between two `---` lines, and its reason below them"),
        ));
    }
    let yaml_start = lines.offset;
    for line in lines.by_ref() {
        if text.get(line.clone()).unwrap_or_default().trim_end() == "---" {
            let body = text.get(line.end..).unwrap_or_default();
            let body = body.strip_prefix('\r').unwrap_or(body);
            return Ok(MarkdownParts { yaml: yaml_start..line.start, body: body.trim() });
        }
    }
    Err(Box::new(
        Diagnostic::error(
            DiagnosticKind::InvalidFrontmatter,
            "the frontmatter is not closed",
            source,
            opening.map(|line| line.start..line.end),
        )
        .help("add another `---` line after the rule's fields"),
    ))
}

/// The ranges of lines, without their line feeds.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.offset..)?;
        if rest.is_empty() {
            return None;
        }
        let start = self.offset;
        let length = rest.find('\n').unwrap_or(rest.len());
        self.offset = (start + length + 1).min(self.text.len());
        Some(start..start + length)
    }
}
