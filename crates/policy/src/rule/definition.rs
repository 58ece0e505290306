//! A rule as it is written down, whether or not it is in force.

use std::ops::Range;

use engine::rules::{Rule, Tier};

use crate::case::Cases;
use crate::text::source::Source;
use crate::text::yaml::YamlNode;

#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub rule: Rule,
    pub form: Form,
    /// Whose file it lies in. A rule of the local tier is the project's or the user's, as its file is.
    pub owner: Tier,
    pub enabled: bool,
    /// Its file is broken now; this is how it last was.
    pub is_last_good: bool,
    pub source: Source,
    /// The part of the file that is this rule.
    pub text: Range<usize>,
    /// The cases that it carries.
    pub tests: Option<YamlNode>,
}

/// In what kind of place a rule is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A Markdown file: in force by being there.
    Markdown,
    /// An entry of a rule library: in force where something names it.
    Library,
    /// Under `rule_definitions`: in force where the same file names it.
    Local,
    /// An item of a `rules` list.
    Inline,
    /// In the box.
    Bundled,
}

impl Definition {
    /// The text that the rule was made from, and that its digest is of.
    pub fn text(&self) -> &str {
        self.source.text.get(self.text.clone()).unwrap_or_default()
    }

    /// A rule whose text cannot be used now, as it last was.
    pub fn last_good(rule: &Rule, form: Form, owner: Tier) -> Self {
        let (source, text) = (Source::new(&rule.source, ""), 0..0);
        Self { rule: rule.clone(), form, owner, enabled: true, is_last_good: true, source, text, tests: None }
    }

    /// The cases that it carries, read.
    pub fn cases(&self) -> Cases {
        let mut kinds = self.rule.on.iter();
        // An event need not say its kind where the rule leaves no choice.
        let kind = kinds.next().filter(|_| kinds.next().is_none());
        Cases::of_rule(&self.rule.id, self.tests.as_ref(), &self.source, kind)
    }

    /// Takes over what the rule leaves to the configuration. `max_holds`: what that says for the rule's tier.
    pub fn complete(&mut self, max_holds: Option<u32>) {
        self.rule.max_holds = self.rule.max_holds.or(max_holds);
    }

    /// Whether both are the same part of the same file.
    pub fn is_same_text(&self, other: &Self) -> bool {
        self.source.name == other.source.name && self.text == other.text && self.rule.id == other.rule.id
    }

    /// `file:line` where a file holds several rules, else the file.
    pub fn shown_place(&self) -> String {
        match self.form {
            Form::Markdown | Form::Bundled => self.source.name.clone(),
            Form::Library | Form::Local | Form::Inline => {
                format!("{}:{}", self.source.name, self.source.position(self.text.start).line)
            }
        }
    }
}
