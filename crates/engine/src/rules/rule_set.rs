//! Compiled rules: bytes in which an event finds the few rules that may speak of it.
//!
//! Every hook reads all of a project's rules, and nearly none of them matters to one event. So each rule has a small
//! head that can be judged without decoding the rule, by what every match of it needs: the event's kind, a tool's
//! name, a text in the command, a text in a path. A head never passes over a rule that could match.
//!
//! Two versions of a policy differ in a rule or two, so sets are compared and changed without decoding the others.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CommandMatcher, Detector, PathPattern, Rule, ToolRule};
use crate::event::EventKinds;
use crate::file_rules::Baseline;
use crate::situation::{Situation, UnknownPath};
use path::Access;
use shell::SimpleCommand;

/// Rules in byte order of their ids, each with another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// Anything, then how many rules there are, the length of all heads, the heads, and the bodies, each behind its
    /// length. A body begins with its rule's id.
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
    /// What changes of files are compared with, where the rule is about those.
    compare_to: Option<Baseline>,
}

/// A rule as it lies in a set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Body<'a>(&'a [u8]);

/// What a set is put together from.
#[derive(Default)]
struct Packing {
    count: u32,
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
        let mut heads = self.heads()?;
        for body in self.bodies()? {
            let (body, all) = (body?, heads);
            heads = postcard::take_from_bytes::<Head>(all).map_err(|_| RuleSetError)?.1;
            while let Some(earlier) = added.first_entry().filter(|first| *first.key() < body.id()) {
                packing.add(earlier.remove())?;
            }
            match added.remove(body.id()) {
                Some(rule) => packing.add(rule)?,
                None => packing.put(all.get(..all.len() - heads.len()).unwrap_or_default(), body.0)?,
            }
        }
        added.into_values().try_for_each(|rule| packing.add(rule))?;
        packing.finish()
    }

    /// Whether every rule is there. What is in them is seen when they are decoded.
    pub fn is_whole(&self) -> bool {
        self.bodies().is_ok_and(|mut bodies| bodies.all(|body| body.is_ok()))
    }

    pub fn get(&self, id: &str) -> Result<Option<Rule>, RuleSetError> {
        for body in self.bodies()? {
            let body = body?;
            if body.id() == id {
                return body.rule().map(Some);
            }
        }
        Ok(None)
    }

    /// The rules of this set that are no longer so in a later one, and those of the later one that were not so in this.
    pub fn differences(&self, later: &Self) -> Result<(Vec<Rule>, Vec<Rule>), RuleSetError> {
        let later: Vec<Body> = later.bodies()?.collect::<Result<_, _>>()?;
        let mut later = later.into_iter().peekable();
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for own in self.bodies()? {
            let own = own?;
            while let Some(added) = later.next_if(|rule| *rule != own && rule.id() < own.id()) {
                new.push(added.rule()?);
            }
            match later.next_if(|rule| *rule == own || rule.id() == own.id()) {
                Some(same) if same == own => {}
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
        let mut rules = Vec::new();
        let mut heads = self.heads()?;
        for body in self.bodies()? {
            let (head, rest) = postcard::take_from_bytes::<Head>(heads).map_err(|_| RuleSetError)?;
            heads = rest;
            if head.may_match(situation) {
                rules.push(body?.rule()?);
            }
        }
        Ok(rules)
    }

    /// What the file rules compare with; nothing where there are none.
    pub fn baselines(&self) -> Result<BTreeSet<Baseline>, RuleSetError> {
        let mut baselines = BTreeSet::new();
        let mut heads = self.heads()?;
        while !heads.is_empty() {
            let (head, rest) = postcard::take_from_bytes::<Head>(heads).map_err(|_| RuleSetError)?;
            heads = rest;
            baselines.extend(head.compare_to);
        }
        Ok(baselines)
    }

    pub fn all(&self) -> Result<Vec<Rule>, RuleSetError> {
        self.bodies()?.map(|body| body?.rule()).collect()
    }

    fn heads(&self) -> Result<&[u8], RuleSetError> {
        self.parts().map(|(_, heads, _)| heads).ok_or(RuleSetError)
    }

    /// As many as there are rules, and an error where there are more or fewer.
    fn bodies(&self) -> Result<impl Iterator<Item = Result<Body<'_>, RuleSetError>>, RuleSetError> {
        let (count, _, mut bodies) = self.parts().ok_or(RuleSetError)?;
        let mut left = count;
        Ok(std::iter::from_fn(move || {
            let is_over = left == 0;
            left = left.saturating_sub(1);
            match Body::take(&mut bodies) {
                None if is_over && bodies.is_empty() => None,
                Some(body) if !is_over => Some(Ok(body)),
                _ => {
                    (left, bodies) = (0, &[]);
                    Some(Err(RuleSetError))
                }
            }
        }))
    }

    /// How many rules there are, their heads, and their bodies.
    fn parts(&self) -> Option<(u32, &[u8], &[u8])> {
        let (count, rest) = self.as_bytes().split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (heads, bodies) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((u32::from_le_bytes(*count), heads, bodies))
    }
}

impl<'a> Body<'a> {
    /// The first of these; the others stay.
    fn take(bodies: &mut &'a [u8]) -> Option<Self> {
        let (length, rest) = bodies.split_first_chunk::<4>()?;
        let (body, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        *bodies = rest;
        Some(Self(body))
    }

    /// Empty where the rule cannot be read.
    fn id(self) -> &'a str {
        postcard::take_from_bytes(self.0).map_or("", |(id, _)| id)
    }

    fn rule(self) -> Result<Rule, RuleSetError> {
        postcard::from_bytes(self.0).map_err(|_| RuleSetError)
    }
}

impl Packing {
    fn add(&mut self, rule: &Rule) -> Result<(), RuleSetError> {
        let head = postcard::to_stdvec(&Head::of(rule)).map_err(|_| RuleSetError)?;
        let body = postcard::to_stdvec(rule).map_err(|_| RuleSetError)?;
        self.put(&head, &body)
    }

    fn put(&mut self, head: &[u8], body: &[u8]) -> Result<(), RuleSetError> {
        self.count += 1;
        self.heads.extend(head);
        self.bodies.extend(length(body)?);
        self.bodies.extend(body);
        Ok(())
    }

    fn finish(self) -> Result<RuleSet, RuleSetError> {
        let (count, heads) = (self.count.to_le_bytes(), length(&self.heads)?);
        Ok(RuleSet { bytes: Arc::new([&count, &heads, self.heads.as_slice(), &self.bodies].concat()), start: 0 })
    }
}

/// Texts of which every command that the rule speaks of has one.
fn needed_in_command(tool: &ToolRule) -> Option<AnyOf<'static>> {
    if let Some(search) = &tool.search.pattern {
        return AnyOf::new(search.hints.needs.iter().map(String::as_str));
    }
    let programs: Option<Vec<Vec<&str>>> = tool.matchers.iter().map(CommandMatcher::programs).collect();
    let programs: Vec<&str> = programs.into_iter().flatten().flatten().collect();
    let pushing = tool.rewrites.iter().flat_map(|_| PUSHING);
    AnyOf::new(if programs.is_empty() { pushing.copied().collect() } else { programs })
}

/// Words of which every command that rewrites a branch elsewhere has one: names of commands that push, and parts of the addresses
/// by which a host's API deletes or moves a branch.
const PUSHING: &[&str] = &["push", "send-pack", "api", "sync", "delete", "refs/heads", "branches"];

fn length(bytes: &[u8]) -> Result<[u8; 4], RuleSetError> {
    u32::try_from(bytes.len()).map(u32::to_le_bytes).map_err(|_| RuleSetError)
}

impl Head<'_> {
    fn of(rule: &Rule) -> Self {
        let mut head = Self {
            on: rule.on,
            tools: None,
            or_mcp: false,
            is_about_commands: false,
            command: None,
            path: None,
            compare_to: rule.as_file_rule().map(|file| file.reach.compare_to),
        };
        if let Detector::Tool(tool) = &rule.detect {
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
        self.is_about_commands = tool.is_about_commands();
        self.command = needed_in_command(tool);
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
            || script.commands.iter().flat_map(|command| &command.wrappers).any(|wrapper| needs.is_in(&wrapper.text()))
    }

    fn may_match_path(&self, situation: &Situation) -> bool {
        let Some(literals) = &self.path else { return true };
        // What cannot be read, or is not known, may name anything.
        let is_known = situation.script().is_none_or(|script| {
            script.complete && (!self.is_about_commands || script.commands.iter().all(SimpleCommand::is_known))
        });
        // A path that is not known may be any, for a rule that names commands and for one about deletions.
        let may_be_any = |touch: &UnknownPath| self.is_about_commands || touch.access == Some(Access::Delete);
        if !is_known || situation.unknown_touches().iter().any(may_be_any) {
            return true;
        }
        // What goes with a folder has other names.
        situation.touches().iter().any(|touch| {
            let spellings = [touch.inside.as_deref(), Some(touch.absolute.as_str()), touch.in_home.as_deref()];
            touch.is_recursive || spellings.into_iter().flatten().any(|text| literals.is_in(text))
        })
    }
}
