//! Compiled rules: bytes in which an event finds the few rules that may speak of it.
//!
//! Every hook reads all of a project's rules, and nearly none of them matters to one event. So each rule has a small
//! head that can be judged without decoding the rule, by what every match of it needs: the event's kind, a tool's
//! name, a text in the command, a text in a path. A head never passes over a rule that could match.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::tool_rule::PathPattern;
use super::{Detect, Rule, ToolRule};
use crate::event::EventKinds;
use crate::shell::SimpleCommand;
use crate::situation::Situation;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// Anything, then the length of the heads, the heads, and the bodies.
    bytes: Vec<u8>,
    start: usize,
}

/// The bytes are not what [`RuleSet::pack`] made.
#[derive(Debug, thiserror::Error)]
#[error("compiled rules cannot be read")]
pub struct RuleSetError;

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    on: EventKinds,
    /// Exact names of which the call must have one; none: any.
    #[serde(borrow)]
    tools: Option<AnyOf<'a>>,
    /// A call that reaches an MCP tool will do as well.
    or_mcp: bool,
    /// The rule is about shell calls only.
    is_about_commands: bool,
    /// One of the texts is in a command; none: any command.
    #[serde(borrow)]
    command: Option<AnyOf<'a>>,
    /// One of the texts is in a path; none: any.
    #[serde(borrow)]
    path: Option<AnyOf<'a>>,
    start: u32,
    length: u32,
}

/// Texts of which one will do. Joined, because a thousand small lists cost more than all else that is done with them.
#[derive(Serialize, Deserialize)]
struct AnyOf<'a>(#[serde(borrow)] Cow<'a, str>);

/// A text that contains it is cut in two, of which either will do: a head may be too wide, never too narrow.
const SEPARATOR: char = '\0';

impl AnyOf<'_> {
    fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let texts: Vec<&str> = texts.into_iter().collect();
        (!texts.is_empty()).then(|| Self(Cow::Owned(texts.join(&SEPARATOR.to_string()))))
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(SEPARATOR)
    }

    fn is_in(&self, text: &str) -> bool {
        self.iter().any(|part| text.contains(part))
    }
}

impl RuleSet {
    /// Keeps the order.
    pub fn pack(rules: &[Rule]) -> Result<Self, RuleSetError> {
        let mut bodies = Vec::new();
        let mut heads = Vec::new();
        for rule in rules {
            let body = postcard::to_stdvec(rule).map_err(|_| RuleSetError)?;
            let start = u32::try_from(bodies.len()).map_err(|_| RuleSetError)?;
            let length = u32::try_from(body.len()).map_err(|_| RuleSetError)?;
            bodies.extend(body);
            heads = postcard::to_extend(&Head::of(rule, start, length), heads).map_err(|_| RuleSetError)?;
        }
        let length = u32::try_from(heads.len()).map_err(|_| RuleSetError)?;
        Ok(Self { bytes: [length.to_le_bytes().as_slice(), &heads, &bodies].concat(), start: 0 })
    }

    /// Rules that were packed into the bytes from `start` on. Nothing is copied.
    pub fn from_bytes(bytes: Vec<u8>, start: usize) -> Self {
        Self { bytes, start }
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// The rules that may match, in order.
    pub fn candidates(&self, situation: &Situation) -> Result<Vec<Rule>, RuleSetError> {
        self.decode(|head| head.may_match(situation))
    }

    pub fn all(&self) -> Result<Vec<Rule>, RuleSetError> {
        self.decode(|_| true)
    }

    fn decode(&self, wanted: impl Fn(&Head) -> bool) -> Result<Vec<Rule>, RuleSetError> {
        let (length, rest) = self.as_bytes().split_first_chunk::<4>().ok_or(RuleSetError)?;
        let (heads, bodies) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(RuleSetError)?;
        let mut rules = Vec::new();
        let mut heads = heads;
        while !heads.is_empty() {
            let (head, rest) = postcard::take_from_bytes::<Head>(heads).map_err(|_| RuleSetError)?;
            heads = rest;
            if wanted(&head) {
                let start = head.start as usize;
                let body = bodies.get(start..start + head.length as usize).ok_or(RuleSetError)?;
                rules.push(postcard::from_bytes(body).map_err(|_| RuleSetError)?);
            }
        }
        Ok(rules)
    }
}

impl Head<'_> {
    fn of(rule: &Rule, start: u32, length: u32) -> Self {
        let mut head = Self {
            on: rule.on,
            tools: None,
            or_mcp: false,
            is_about_commands: false,
            command: None,
            path: None,
            start,
            length,
        };
        if let Detect::Tool(tool) = &rule.detect {
            head.narrow_by(tool);
        }
        head
    }

    fn narrow_by(&mut self, tool: &ToolRule) {
        let is_narrow = !tool.tools.is_empty() || !tool.mcp_tools.is_empty();
        if is_narrow && tool.tools.iter().all(super::ToolName::is_exact) {
            // No tool's name is empty, so a rule about MCP tools alone is about none of them.
            self.tools = AnyOf::new(tool.tools.iter().map(|name| name.0.as_str())).or(Some(AnyOf(Cow::Borrowed(""))));
            self.or_mcp = !tool.mcp_tools.is_empty();
        }
        self.is_about_commands = tool.command.is_some();
        self.command =
            tool.command.pattern.as_ref().and_then(|search| AnyOf::new(search.hints.needs.iter().map(String::as_str)));
        if let Some(clause) = tool.paths.first() {
            let literals = clause.patterns.iter().map(|pattern| match pattern {
                PathPattern::Glob { literal, .. } if !literal.is_empty() => Some(literal.as_str()),
                _ => None,
            });
            self.path = literals.collect::<Option<Vec<_>>>().and_then(AnyOf::new);
        }
    }

    fn may_match(&self, situation: &Situation) -> bool {
        self.on.contains(situation.event.kind)
            && self.may_match_tool(situation)
            && self.may_match_command(situation)
            && self.may_match_path(situation)
    }

    fn may_match_tool(&self, situation: &Situation) -> bool {
        let Some(tools) = &self.tools else { return true };
        situation.event.tool.as_ref().is_some_and(|call| {
            (self.or_mcp && !call.mcp.is_empty()) || tools.iter().any(|tool| call.names().any(|name| name == tool))
        })
    }

    fn may_match_command(&self, situation: &Situation) -> bool {
        if !self.is_about_commands {
            return true;
        }
        let (Some(script), Some(needs)) = (situation.script(), &self.command) else {
            return situation.script().is_some();
        };
        !script.complete
            || script.commands.iter().any(|command| !command.is_known())
            || situation.texts().iter().any(|text| needs.is_in(text))
    }

    fn may_match_path(&self, situation: &Situation) -> bool {
        let Some(literals) = &self.path else { return true };
        // What cannot be read, or is not known, may name anything.
        let is_known = situation.script().is_none_or(|script| {
            script.complete && (!self.is_about_commands || script.commands.iter().all(SimpleCommand::is_known))
        });
        if !is_known {
            return true;
        }
        situation.touches().iter().any(|touch| {
            let spellings = [touch.inside.as_deref(), Some(touch.absolute.as_str()), touch.in_home.as_deref()];
            spellings.into_iter().flatten().any(|text| literals.is_in(text))
        })
    }
}
