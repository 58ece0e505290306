//! Compiled rules: bytes in which an event finds the few rules that may speak of it.
//!
//! Every hook reads all of a project's rules, and nearly none of them matters to one event. So each rule has a small
//! head that can be judged without decoding the rule, by what every match of it needs: the event's kind, a tool's
//! name, a text in the command, a text in a path. A head never passes over a rule that could match.
//!
//! Two versions of a policy differ in a rule or two, so sets are compared and changed without decoding the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tool_rule::PathPattern;
use super::{Detect, Rule, ToolRule};
use crate::event::EventKinds;
use crate::shell::SimpleCommand;
use crate::situation::Situation;

/// Rules in byte order of their ids, each with another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// Anything, then the length of the heads, the heads, and the bodies. A body begins with its rule's id.
    bytes: Arc<Vec<u8>>,
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
    /// Of the body.
    length: u32,
}

/// A rule as it lies in a set.
struct Packed<'a> {
    head: Head<'a>,
    head_bytes: &'a [u8],
    body: &'a [u8],
}

/// What a set is put together from.
#[derive(Default)]
struct Packing {
    heads: Vec<u8>,
    bodies: Vec<u8>,
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
    /// The rules are in byte order of their ids.
    pub fn pack(rules: &[Rule]) -> Result<Self, RuleSetError> {
        let mut packing = Packing::default();
        rules.iter().try_for_each(|rule| packing.add(rule))?;
        packing.finish()
    }

    /// The same set with these rules: each in the place of the one with its id, if there is one.
    pub fn with(&self, rules: &[Rule]) -> Result<Self, RuleSetError> {
        let mut added: BTreeMap<&str, &Rule> = rules.iter().map(|rule| (rule.id.as_str(), rule)).collect();
        let mut packing = Packing::default();
        for packed in self.packed()? {
            let packed = packed?;
            let id = packed.id();
            while let Some(earlier) = added.first_entry().filter(|first| *first.key() < id) {
                packing.add(earlier.remove())?;
            }
            match added.remove(id) {
                Some(rule) => packing.add(rule)?,
                None => packing.copy(&packed),
            }
        }
        added.into_values().try_for_each(|rule| packing.add(rule))?;
        packing.finish()
    }

    /// Whether every rule is there. What is in them is seen when they are decoded.
    pub fn is_whole(&self) -> bool {
        self.packed().is_ok_and(|mut packed| packed.all(|packed| packed.is_ok()))
    }

    pub fn get(&self, id: &str) -> Result<Option<Rule>, RuleSetError> {
        for packed in self.packed()? {
            let packed = packed?;
            if packed.id() == id {
                return packed.rule().map(Some);
            }
        }
        Ok(None)
    }

    /// The rules of this set that are no longer so in a later one, and those of the later one that were not so in this.
    pub fn differences(&self, later: &Self) -> Result<(Vec<Rule>, Vec<Rule>), RuleSetError> {
        let later: Vec<Packed> = later.packed()?.collect::<Result<_, _>>()?;
        let mut later = later.into_iter().peekable();
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for own in self.packed()? {
            let own = own?;
            while let Some(added) = later.next_if(|rule| rule.body != own.body && rule.id() < own.id()) {
                new.push(added.rule()?);
            }
            match later.next_if(|rule| rule.body == own.body || rule.id() == own.id()) {
                Some(same) if same.body == own.body => {}
                Some(changed) => {
                    gone.push(own.rule()?);
                    new.push(changed.rule()?);
                }
                None => gone.push(own.rule()?),
            }
        }
        for added in later {
            new.push(added.rule()?);
        }
        Ok((gone, new))
    }

    /// Rules that were packed into the bytes from `start` on. Nothing is copied.
    pub fn from_bytes(bytes: Arc<Vec<u8>>, start: usize) -> Self {
        Self { bytes, start }
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// The rules that may match, in order.
    pub fn candidates(&self, situation: &Situation) -> Result<Vec<Rule>, RuleSetError> {
        let wanted =
            self.packed()?.filter(|packed| packed.as_ref().map_or(true, |rule| rule.head.may_match(situation)));
        wanted.map(|packed| packed?.rule()).collect()
    }

    pub fn all(&self) -> Result<Vec<Rule>, RuleSetError> {
        self.packed()?.map(|packed| packed?.rule()).collect()
    }

    /// Ends with the first that cannot be read.
    fn packed(&self) -> Result<impl Iterator<Item = Result<Packed<'_>, RuleSetError>>, RuleSetError> {
        let (length, rest) = self.as_bytes().split_first_chunk::<4>().ok_or(RuleSetError)?;
        let (mut heads, mut bodies) =
            rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(RuleSetError)?;
        Ok(std::iter::from_fn(move || {
            (!heads.is_empty()).then(|| Packed::take(&mut heads, &mut bodies).ok_or(RuleSetError))
        }))
    }
}

impl<'a> Packed<'a> {
    /// The first of these; the others stay.
    fn take(heads: &mut &'a [u8], bodies: &mut &'a [u8]) -> Option<Self> {
        // If it cannot be read, what follows it cannot either.
        let all = std::mem::take(heads);
        let (head, later_heads) = postcard::take_from_bytes::<Head>(all).ok()?;
        let head_bytes = all.get(..all.len() - later_heads.len())?;
        let (body, later_bodies) = bodies.split_at_checked(head.length as usize)?;
        (*heads, *bodies) = (later_heads, later_bodies);
        Some(Self { head, head_bytes, body })
    }

    /// Empty where the rule cannot be read.
    fn id(&self) -> &'a str {
        postcard::take_from_bytes(self.body).map_or("", |(id, _)| id)
    }

    fn rule(&self) -> Result<Rule, RuleSetError> {
        postcard::from_bytes(self.body).map_err(|_| RuleSetError)
    }
}

impl Packing {
    fn add(&mut self, rule: &Rule) -> Result<(), RuleSetError> {
        let body = postcard::to_stdvec(rule).map_err(|_| RuleSetError)?;
        let length = u32::try_from(body.len()).map_err(|_| RuleSetError)?;
        let head = postcard::to_stdvec(&Head::of(rule, length)).map_err(|_| RuleSetError)?;
        self.heads.extend(head);
        self.bodies.extend(body);
        Ok(())
    }

    fn copy(&mut self, packed: &Packed) {
        self.heads.extend(packed.head_bytes);
        self.bodies.extend(packed.body);
    }

    fn finish(self) -> Result<RuleSet, RuleSetError> {
        let length = u32::try_from(self.heads.len()).map_err(|_| RuleSetError)?;
        let bytes = [length.to_le_bytes().as_slice(), &self.heads, &self.bodies].concat();
        Ok(RuleSet { bytes: Arc::new(bytes), start: 0 })
    }
}

impl Head<'_> {
    fn of(rule: &Rule, length: u32) -> Self {
        let mut head = Self {
            on: rule.on,
            tools: None,
            or_mcp: false,
            is_about_commands: false,
            command: None,
            path: None,
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
