//! A rule as it is written down, whether or not it is in force.

use std::ops::Range;

use engine::rules::{Rule, Tier};

use crate::config::Config;
use crate::text::source::Source;
use crate::text::yaml::Node;

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
    pub tests: Option<Node>,
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

    /// Fills in what the rule leaves to the configuration.
    pub fn complete(&mut self, config: &Config) {
        self.rule.max_holds = self.rule.max_holds.or(config.max_holds(self.owner));
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
