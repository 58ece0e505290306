//! Rule definitions: rules as files define them, in force or not.

use std::ops::Range;

use engine::rules::{Rule, Tier};

use crate::case::Cases;
use crate::text::source::Source;
use crate::text::yaml::YamlNode;

#[derive(Debug, Clone, PartialEq)]
pub struct RuleDefinition {
    pub rule: Rule,
    pub origin: RuleOrigin,
    /// The tier of the file that defines the rule. It differs from `rule.tier` for inline and local rules, for which
    /// that is `Local`.
    pub file_tier: Tier,
    pub enabled: bool,
    /// True if the current file has errors, and this is the last good version of the rule.
    pub is_last_good: bool,
    pub source: Source,
    /// The span of the definition in the file.
    pub span: Range<usize>,
    /// The rule's cases, not yet parsed.
    pub tests: Option<YamlNode>,
}

/// The kind of file or list that defines a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOrigin {
    /// A Markdown file. In force without being named.
    Markdown,
    /// An entry of a rule library. In force if something names it.
    Library,
    /// An entry of `rule_definitions`. In force if the same file names it.
    Local,
    /// An item of a `rules` list.
    Inline,
    /// Shipped with Linchpin.
    Bundled,
}

impl RuleDefinition {
    /// The text of the definition, from which the rule's digest is computed.
    pub fn text(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// The definition of a rule's last good version, which has no text.
    pub fn last_good(rule: &Rule, origin: RuleOrigin, file_tier: Tier) -> Self {
        let (source, span) = (Source::new(&rule.source, ""), 0..0);
        Self { rule: rule.clone(), origin, file_tier, enabled: true, is_last_good: true, source, span, tests: None }
    }

    /// Parses the rule's cases.
    pub fn cases(&self) -> Cases {
        let mut kinds = self.rule.on.iter();
        // If the rule is judged on a single kind of event, its cases need not give the kind.
        let kind = kinds.next().filter(|_| kinds.next().is_none());
        Cases::of_rule(&self.rule.id, self.tests.as_ref(), &self.source, kind)
    }

    /// Sets `max_holds` to the configuration's value for the rule's tier, unless the rule sets it itself.
    pub fn set_default_max_holds(&mut self, max_holds: Option<u32>) {
        self.rule.max_holds = self.rule.max_holds.or(max_holds);
    }

    /// True if both have the same id and the same span in the same file.
    pub fn is_same_definition(&self, other: &Self) -> bool {
        self.source.name == other.source.name && self.span == other.span && self.rule.id == other.rule.id
    }

    /// `file:line` for files with several rules, otherwise only the file.
    pub fn display_location(&self) -> String {
        match self.origin {
            RuleOrigin::Markdown | RuleOrigin::Bundled => self.source.name.clone(),
            RuleOrigin::Library | RuleOrigin::Local | RuleOrigin::Inline => {
                format!("{}:{}", self.source.name, self.source.position(self.span.start).line)
            }
        }
    }
}
