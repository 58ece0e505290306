//! Errors and warnings about policy files, each with its span and perhaps a suggestion.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use crate::text::source::{Source, SourcePosition};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub kind: DiagnosticKind,
    /// Starts in lower case and ends without a full stop. Quotes from the file are in backticks.
    pub message: String,
    pub source: Source,
    /// In bytes; `None` for the whole file.
    pub span: Option<Range<usize>>,
    /// The span of everything that the diagnostic applies to, if that is more than `span`.
    pub full_span: Option<Range<usize>>,
    pub help: Option<String>,
    /// The id of the rule with the problem, if any.
    pub rule: Option<String>,
    /// The workflow node with the problem, if any.
    pub node: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Warning,
    Error,
}

/// The kinds of errors and warnings: the values of `kind` in JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum DiagnosticKind {
    /// The file cannot be read.
    Unreadable,
    /// The file is too large, or has too many items of one kind.
    TooLarge,
    /// A YAML syntax error.
    InvalidYaml,
    /// A mapping has the key twice.
    DuplicateKey,
    /// A Markdown rule has no frontmatter, or its frontmatter has no end.
    InvalidFrontmatter,
    UnknownKey,
    MissingKey,
    InvalidValue,
    UnknownEvent,
    /// An invalid path pattern.
    PatternError,
    /// An invalid regex.
    InvalidRulePattern,
    /// An invalid number in a pace rule.
    InvalidRuleThreshold,
    UnknownRuleType,
    InvalidExpression,
    UnknownRule,
    /// Two rules of one tier have the same id.
    DuplicateRule,
    /// An imported rule library does not exist.
    MissingImport,
    /// Rule libraries that import each other.
    ImportCycle,
    /// An earlier tier locks the rule.
    LockedRule,
    /// The policy requires a newer Linchpin.
    UnsupportedVersion,
    /// A part of the format that this version does not implement.
    Unsupported,
    /// The project's policy makes a rule or setting milder, or starts a program, and no person has trusted that part.
    Untrusted,
    /// A setting of the project that would override one of the user, and is ignored.
    Overruled,
    /// The id of a new rule is taken.
    RuleExists,
    /// A configuration still names the rule.
    RuleInUse,
    /// The file cannot be edited automatically without changing anything else.
    NotEditable,
    /// A workflow names a node that it does not have.
    NodeNotFound,
    /// No workflow is active, or the active one cannot be read.
    NoWorkflowLoaded,
    /// The node cannot be reached from the start node.
    UnreachableNode,
    /// The end cannot be reached from the node.
    NoWayToDone,
    MissingGuide,
    /// Guides that include each other, or that are nested too deeply.
    GuideCycle,
    /// An old syntax that is still accepted.
    Deprecated,
    NotFound,
    Io,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderStyle {
    Plain,
    Coloured,
}

/// Replaces control characters, including line breaks, by spaces. Messages quote policy files, which can contain
/// escape sequences for the terminal.
pub fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

impl Diagnostic {
    pub fn error(
        kind: DiagnosticKind,
        message: impl Into<String>,
        source: &Source,
        span: Option<Range<usize>>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            kind,
            message: one_line(&message.into()),
            source: source.clone(),
            span,
            full_span: None,
            help: None,
            rule: None,
            node: None,
        }
    }

    pub fn warning(
        kind: DiagnosticKind,
        message: impl Into<String>,
        source: &Source,
        span: Option<Range<usize>>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(kind, message, source, span) }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(one_line(&help.into()));
        self
    }

    #[must_use]
    pub fn maybe_help(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    #[must_use]
    pub fn with_full_span(mut self, full_span: Range<usize>) -> Self {
        self.full_span = Some(full_span);
        self
    }

    #[must_use]
    pub fn of_rule(mut self, id: &str) -> Self {
        self.rule = Some(id.to_owned());
        self
    }

    /// Appends in parentheses where the problem is: the node of a workflow, and `item` of a list in it.
    #[must_use]
    pub fn in_workflow(self, node: Option<&str>, item: Option<String>) -> Self {
        let context = node.map(|node| format!("node `{node}`"));
        Self { node: node.map(str::to_owned), ..self.in_context(context, item) }
    }

    /// Appends in parentheses where the problem is: `part` of the file, such as a hat, and `item` of a list in it.
    #[must_use]
    pub fn in_context(mut self, part: Option<String>, item: Option<String>) -> Self {
        let part = part.filter(|part| !self.message.contains(part));
        let context: Vec<String> = part.into_iter().chain(item).collect();
        if !context.is_empty() {
            self.message = format!("{} ({})", self.message, context.join(", "));
        }
        self
    }

    pub fn position(&self) -> Option<SourcePosition> {
        self.span.as_ref().map(|span| self.source.position(span.start))
    }

    /// `file:line:column: message`
    pub fn line(&self) -> String {
        match self.position() {
            Some(position) => format!("{}:{position}: {}", self.source.name, self.message),
            None => format!("{}: {}", self.source.name, self.message),
        }
    }

    /// The message with an excerpt of the source.
    pub fn render(&self, style: RenderStyle) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut snippet = Snippet::source(&*self.source.text).path(&self.source.name);
        if let Some(span) = &self.span {
            snippet = snippet.annotation(AnnotationKind::Primary.span(self.underlined_span(span)));
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
            RenderStyle::Plain => Renderer::plain(),
            RenderStyle::Coloured => Renderer::styled(),
        };
        renderer.render(&[group])
    }

    /// The span without trailing white space, at least one character long.
    fn underlined_span(&self, span: &Range<usize>) -> Range<usize> {
        let text = &self.source.text;
        let trimmed = text.get(span.clone()).unwrap_or_default().trim_end();
        let end = (span.start + trimmed.len()).max(text.ceil_char_boundary(span.start + 1)).min(text.len());
        span.start.min(end)..end
    }
}
