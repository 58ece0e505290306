//! What is wrong with a policy file: what, where, why, and what to do.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use crate::text::source::{Source, SourcePosition};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub kind: ErrorKind,
    /// Lower case, no final stop, what the user wrote in backticks.
    pub message: String,
    pub source: Source,
    /// In bytes; `None` where the whole file is meant.
    pub span: Option<Range<usize>>,
    /// The text that it is about, where that is more than its place.
    pub part: Option<Range<usize>>,
    pub help: Option<String>,
    /// The rule's id, where one is meant.
    pub rule: Option<String>,
    /// The node of a workflow that it is in.
    pub node: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Warning,
    Error,
}

/// The closed list of `kind` in every error that Linchpin prints as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ErrorKind {
    /// The file cannot be read.
    Unreadable,
    /// The file is larger than Linchpin reads.
    TooLarge,
    /// The YAML itself is broken.
    InvalidYaml,
    /// A Markdown rule without frontmatter, or whose frontmatter does not end.
    InvalidFrontmatter,
    UnknownKey,
    MissingKey,
    InvalidValue,
    UnknownEvent,
    /// A glob.
    PatternError,
    /// A regex.
    InvalidRulePattern,
    /// A number of a pace rule.
    InvalidRuleThreshold,
    UnknownRuleType,
    InvalidExpression,
    UnknownRule,
    /// The same name twice in one tier.
    DuplicateRule,
    /// A rule library that is not there.
    MissingImport,
    /// Rule libraries that import each other.
    ImportCycle,
    /// Something a farther tier has locked.
    LockedRule,
    /// Written for a newer Linchpin.
    UnsupportedVersion,
    /// Part of the language, but not of this version.
    Unsupported,
    /// Weakens a guard, and no person has accepted it.
    Untrusted,
    /// Would change what is the user's own.
    Overruled,
    /// A new rule's name is taken.
    RuleExists,
    /// Something still names the rule.
    RuleInUse,
    /// The text is such that a command would do more than it was asked.
    NotEditable,
    /// A workflow names a node that it does not have.
    NodeNotFound,
    /// No workflow is active, or the one that is cannot be read.
    NoWorkflowLoaded,
    /// No way from the start leads to the node.
    UnreachableNode,
    /// No way from the node leads to the end.
    NoWayToDone,
    MissingGuide,
    /// Guides that hold each other, or too many of them one in another.
    GuideCycle,
    /// Still read, and better written in another way.
    Deprecated,
    NotFound,
    Io,
}

/// How to render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

/// Messages quote what somebody wrote, which may be anything.
pub fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

impl Diagnostic {
    pub fn error(kind: ErrorKind, message: impl Into<String>, source: &Source, span: Option<Range<usize>>) -> Self {
        Self {
            severity: Severity::Error,
            kind,
            message: one_line(&message.into()),
            source: source.clone(),
            span,
            part: None,
            help: None,
            rule: None,
            node: None,
        }
    }

    pub fn warning(kind: ErrorKind, message: impl Into<String>, source: &Source, span: Option<Range<usize>>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(kind, message, source, span) }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    #[must_use]
    pub fn about(mut self, part: Range<usize>) -> Self {
        self.part = Some(part);
        self
    }

    #[must_use]
    pub fn of_rule(mut self, id: &str) -> Self {
        self.rule = Some(id.to_owned());
        self
    }

    /// In a node of a workflow, or in an entry of its rules, which the message then names.
    #[must_use]
    pub fn in_workflow(self, node: Option<&str>, entry: Option<String>) -> Self {
        let place = node.map(|node| format!("node `{node}`"));
        Self { node: node.map(str::to_owned), ..self.in_place(place, entry) }
    }

    /// In an entry of a part of a file, both as people call them.
    #[must_use]
    pub fn in_place(mut self, part: Option<String>, entry: Option<String>) -> Self {
        let part = part.filter(|part| !self.message.contains(part));
        let place: Vec<String> = part.into_iter().chain(entry).collect();
        if !place.is_empty() {
            self.message = format!("{} ({})", self.message, place.join(", "));
        }
        self
    }

    pub fn position(&self) -> Option<SourcePosition> {
        self.span.as_ref().map(|span| self.source.position(span.start))
    }

    /// `file:line:column: message`, for a single line.
    pub fn line(&self) -> String {
        match self.position() {
            Some(position) => format!("{}:{position}: {}", self.source.name, self.message),
            None => format!("{}: {}", self.source.name, self.message),
        }
    }

    /// The message with the lines it is about.
    pub fn render(&self, style: Style) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut snippet = Snippet::source(&*self.source.text).path(&self.source.name);
        if let Some(span) = &self.span {
            snippet = snippet.annotation(AnnotationKind::Primary.span(self.marked(span)));
        }
        let title = level.primary_title(self.message.as_str());
        let mut group = if self.span.is_some() {
            title.element(snippet)
        } else {
            Group::with_title(title).element(annotate_snippets::Origin::path(self.source.name.as_str()))
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        renderer.render(&[group])
    }

    /// At least one character, and no white space behind what is meant.
    fn marked(&self, span: &Range<usize>) -> Range<usize> {
        let text = &self.source.text;
        let meant = text.get(span.clone()).unwrap_or_default().trim_end();
        let end = (span.start + meant.len()).max(text.ceil_char_boundary(span.start + 1)).min(text.len());
        span.start.min(end)..end
    }
}
