//! Compiled rules: bytes in which an event finds the few rules that may speak of it.
//!
//! Every hook reads all of a project's rules, and nearly none of them matters to one event. So each rule has a small
//! head that can be judged without decoding the rule, by what every match of it needs: the event's kind, a tool's
//! name, a text in the command, a text in a path. A head never passes over a rule that could match.

use serde::{Deserialize, Serialize};

use super::tool_rule::{PathPattern, TextSearch};
use super::{Detect, Rule, ToolRule};
use crate::event::{EventKinds, ShellText};
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
    tools: Option<Vec<&'a str>>,
    /// A call that reaches an MCP tool will do as well.
    or_mcp: bool,
    /// The rule is about shell calls only; one of the texts is in a command; none: any command.
    #[serde(borrow)]
    command: Option<Vec<&'a str>>,
    /// One of the texts is in a path; none: any.
    #[serde(borrow)]
    paths: Vec<&'a str>,
    start: u32,
    length: u32,
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
            heads.push(Head::of(rule, start, length));
        }
        let heads = postcard::to_stdvec(&heads).map_err(|_| RuleSetError)?;
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
        let heads: Vec<Head> = postcard::from_bytes(heads).map_err(|_| RuleSetError)?;
        let body = |head: &Head| {
            let start = head.start as usize;
            let bytes = bodies.get(start..start + head.length as usize).ok_or(RuleSetError)?;
            postcard::from_bytes(bytes).map_err(|_| RuleSetError)
        };
        heads.iter().filter(|head| wanted(head)).map(body).collect()
    }
}

impl<'a> Head<'a> {
    fn of(rule: &'a Rule, start: u32, length: u32) -> Self {
        let mut head = Self { on: rule.on, tools: None, or_mcp: false, command: None, paths: Vec::new(), start, length };
        if let Detect::Tool(tool) = &rule.detect {
            head.narrow_by(tool);
        }
        head
    }

    fn narrow_by(&mut self, tool: &'a ToolRule) {
        let is_narrow = !tool.tools.is_empty() || !tool.mcp_tools.is_empty();
        if is_narrow && tool.tools.iter().all(super::ToolName::is_exact) {
            self.tools = Some(tool.tools.iter().map(|name| name.0.as_str()).collect());
            self.or_mcp = !tool.mcp_tools.is_empty();
        }
        if tool.command.is_some() {
            let needs = |search: &'a TextSearch| search.hints.needs.iter().map(String::as_str).collect();
            self.command = Some(tool.command.pattern.as_ref().map_or_else(Vec::new, needs));
        }
        if let Some(clause) = tool.paths.first() {
            let literals = clause.patterns.iter().map(|pattern| match pattern {
                PathPattern::Glob { literal, .. } if !literal.is_empty() => Some(literal.as_str()),
                _ => None,
            });
            self.paths = literals.collect::<Option<_>>().unwrap_or_default();
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
            (self.or_mcp && !call.mcp.is_empty()) || call.names().any(|name| tools.contains(&name))
        })
    }

    fn may_match_command(&self, situation: &Situation) -> bool {
        let Some(needs) = &self.command else { return true };
        let Some(ShellText::Command(_)) = situation.event.tool.as_ref().and_then(|call| call.shell.as_ref()) else {
            return situation.event.tool.as_ref().is_some_and(|call| call.shell.is_some());
        };
        let Some(script) = situation.script() else { return true };
        needs.is_empty()
            || !script.complete
            || script.commands.iter().any(|command| !command.is_known())
            || situation.texts().iter().any(|text| needs.iter().any(|need| text.contains(need)))
    }

    fn may_match_path(&self, situation: &Situation) -> bool {
        self.paths.is_empty()
            || situation.touches().iter().any(|touch| {
                let spellings = [touch.inside.as_deref(), Some(touch.absolute.as_str()), touch.in_home.as_deref()];
                spellings.into_iter().flatten().any(|text| self.paths.iter().any(|literal| text.contains(literal)))
            })
    }
}
