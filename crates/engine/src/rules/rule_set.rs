//! The compiled form of rules: bytes that can be filtered by an event without decoding every rule.
//!
//! Every hook reads all rules of a project, but few rules apply to a given event. Each rule therefore has a small
//! header with conditions that every match meets: the event kind, a tool name, a literal in the command, a literal in a
//! path. A header never excludes a rule that matches the event, but may fail to exclude a rule that does not match.
//!
//! Two versions of a policy differ in few rules, so sets are compared and changed without decoding the rules that stay
//! the same.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CommandMatcher, Detector, PathPattern, Rule, ToolRule};
use crate::event::EventKinds;
use crate::file_rules::Baseline;
use crate::situation::{Situation, UnknownPath};
use path::Access;
use shell::{REWRITE_WORDS, SimpleCommand};

/// Rules with distinct ids, in byte order of the ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// From `start` on, the bytes contain, in this order: the number of rules, the length of all headers, the headers,
    /// and the bodies. Each body is preceded by its length, and begins with the rule's id.
    bytes: Arc<Vec<u8>>,
    start: usize,
}

/// The error for bytes that [`RuleSet::pack`] did not produce.
#[derive(Debug, thiserror::Error)]
#[error("invalid cache of compiled rules")]
pub struct RuleSetError;

#[derive(Serialize, Deserialize)]
struct RuleHeader<'a> {
    on: EventKinds,
    /// Exact tool names, one of which the call must have; `None` if a call of any tool can match.
    #[serde(borrow)]
    tools: Option<AnyOf<'a>>,
    /// True if every call that reaches an MCP tool can match, whatever the name of the called tool is.
    or_mcp_call: bool,
    /// True if the rule applies to shell calls only.
    applies_to_commands: bool,
    /// Literals, one of which a command must contain; `None` if any command can match.
    #[serde(borrow)]
    command: Option<AnyOf<'a>>,
    /// Literals, one of which a path must contain; `None` if any path can match.
    #[serde(borrow)]
    path: Option<AnyOf<'a>>,
    /// The baseline, if the rule is a file rule.
    compare_to: Option<Baseline>,
}

/// The encoded form of one rule.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Body<'a>(&'a [u8]);

/// Builds a [`RuleSet`] rule by rule.
#[derive(Default)]
struct RuleSetBuilder {
    count: u32,
    headers: Vec<u8>,
    bodies: Vec<u8>,
}

/// Alternative literals, joined in one string, because decoding a thousand small lists would take too long.
#[derive(Serialize, Deserialize)]
struct AnyOf<'a>(#[serde(borrow)] Cow<'a, str>);

/// A literal that contains the separator is split into two alternatives, which makes the header less selective, but has
/// no other effect.
const SEPARATOR: char = '\0';

impl AnyOf<'_> {
    fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let texts: Vec<&str> = texts.into_iter().collect();
        (!texts.is_empty()).then(|| Self(Cow::Owned(texts.join(&SEPARATOR.to_string()))))
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(SEPARATOR)
    }

    /// True if one of the literals occurs in the text.
    fn occurs_in(&self, text: &str) -> bool {
        self.iter().any(|part| text.contains(part))
    }
}

impl RuleSet {
    /// Creates a set. `rules` must be in byte order of their ids.
    pub fn pack(rules: &[Rule]) -> Result<Self, RuleSetError> {
        let mut builder = RuleSetBuilder::default();
        rules.iter().try_for_each(|rule| builder.add(rule))?;
        builder.finish()
    }

    /// Returns a set with these rules added. Added rules replace rules with the same ids.
    pub fn with_rules(&self, rules: &[Rule]) -> Result<Self, RuleSetError> {
        let mut added: BTreeMap<&str, &Rule> = rules.iter().map(|rule| (rule.id.as_str(), rule)).collect();
        let mut builder = RuleSetBuilder::default();
        let mut headers = self.headers()?;
        for body in self.bodies()? {
            let (body, remaining) = (body?, headers);
            headers = postcard::take_from_bytes::<RuleHeader>(remaining).map_err(|_| RuleSetError)?.1;
            while let Some(earlier) = added.first_entry().filter(|first| *first.key() < body.id()) {
                builder.add(earlier.remove())?;
            }
            if let Some(rule) = added.remove(body.id()) {
                builder.add(rule)?;
            } else {
                let header = remaining.get(..remaining.len() - headers.len()).unwrap_or_default();
                builder.add_encoded(header, body.0)?;
            }
        }
        added.into_values().try_for_each(|rule| builder.add(rule))?;
        builder.finish()
    }

    /// True if all bodies are present. Damaged content of a body is only found when the body is decoded.
    pub fn is_complete(&self) -> bool {
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

    /// Compares two versions of a set. Returns the old versions of the rules that were removed or changed in `later`,
    /// and the new versions of the rules that were added or changed.
    pub fn differences(&self, later: &Self) -> Result<(Vec<Rule>, Vec<Rule>), RuleSetError> {
        let later: Vec<Body> = later.bodies()?.collect::<Result<_, _>>()?;
        let mut later = later.into_iter().peekable();
        let (mut old_versions, mut new_versions) = (Vec::new(), Vec::new());
        for own in self.bodies()? {
            let own = own?;
            while let Some(added) = later.next_if(|rule| *rule != own && rule.id() < own.id()) {
                new_versions.push(added.rule()?);
            }
            match later.next_if(|rule| *rule == own || rule.id() == own.id()) {
                Some(same) if same == own => {}
                Some(changed) => {
                    old_versions.push(own.rule()?);
                    new_versions.push(changed.rule()?);
                }
                None => old_versions.push(own.rule()?),
            }
        }
        for added in later {
            new_versions.push(added.rule()?);
        }
        Ok((old_versions, new_versions))
    }

    /// Creates a set from the packed rules that begin at the index `start` of `bytes`, without copying them.
    pub fn from_bytes(bytes: Arc<Vec<u8>>, start: usize) -> Self {
        Self { bytes, start }
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Decodes the rules that can match the event according to their headers, in the order of the set.
    pub fn candidates(&self, situation: &Situation) -> Result<Vec<Rule>, RuleSetError> {
        let mut rules = Vec::new();
        let mut headers = self.headers()?;
        for body in self.bodies()? {
            let (header, rest) = postcard::take_from_bytes::<RuleHeader>(headers).map_err(|_| RuleSetError)?;
            headers = rest;
            if header.may_match(situation) {
                rules.push(body?.rule()?);
            }
        }
        Ok(rules)
    }

    /// The baselines of all file rules.
    pub fn baselines(&self) -> Result<BTreeSet<Baseline>, RuleSetError> {
        let mut baselines = BTreeSet::new();
        let mut headers = self.headers()?;
        while !headers.is_empty() {
            let (header, rest) = postcard::take_from_bytes::<RuleHeader>(headers).map_err(|_| RuleSetError)?;
            headers = rest;
            baselines.extend(header.compare_to);
        }
        Ok(baselines)
    }

    pub fn all(&self) -> Result<Vec<Rule>, RuleSetError> {
        self.bodies()?.map(|body| body?.rule()).collect()
    }

    fn headers(&self) -> Result<&[u8], RuleSetError> {
        self.parts().map(|(_, headers, _)| headers).ok_or(RuleSetError)
    }

    /// Iterates over the bodies. Yields an error if the number of bodies differs from the number of rules in the set.
    fn bodies(&self) -> Result<impl Iterator<Item = Result<Body<'_>, RuleSetError>>, RuleSetError> {
        let (count, _, mut bodies) = self.parts().ok_or(RuleSetError)?;
        let mut remaining = count;
        Ok(std::iter::from_fn(move || {
            let is_end = remaining == 0;
            remaining = remaining.saturating_sub(1);
            match Body::take(&mut bodies) {
                None if is_end && bodies.is_empty() => None,
                Some(body) if !is_end => Some(Ok(body)),
                _ => {
                    (remaining, bodies) = (0, &[]);
                    Some(Err(RuleSetError))
                }
            }
        }))
    }

    /// Splits the bytes into the number of rules, the headers, and the bodies.
    fn parts(&self) -> Option<(u32, &[u8], &[u8])> {
        let (count, rest) = self.as_bytes().split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (headers, bodies) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((u32::from_le_bytes(*count), headers, bodies))
    }
}

impl<'a> Body<'a> {
    /// Removes the first body from `bodies`, and returns it.
    fn take(bodies: &mut &'a [u8]) -> Option<Self> {
        let (length, rest) = bodies.split_first_chunk::<4>()?;
        let (body, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        *bodies = rest;
        Some(Self(body))
    }

    /// The id of the rule; empty if the body cannot be decoded.
    fn id(self) -> &'a str {
        postcard::take_from_bytes(self.0).map_or("", |(id, _)| id)
    }

    fn rule(self) -> Result<Rule, RuleSetError> {
        postcard::from_bytes(self.0).map_err(|_| RuleSetError)
    }
}

impl RuleSetBuilder {
    fn add(&mut self, rule: &Rule) -> Result<(), RuleSetError> {
        let header = postcard::to_stdvec(&RuleHeader::of(rule)).map_err(|_| RuleSetError)?;
        let body = postcard::to_stdvec(rule).map_err(|_| RuleSetError)?;
        self.add_encoded(&header, &body)
    }

    fn add_encoded(&mut self, header: &[u8], body: &[u8]) -> Result<(), RuleSetError> {
        self.count += 1;
        self.headers.extend(header);
        self.bodies.extend(encoded_length(body)?);
        self.bodies.extend(body);
        Ok(())
    }

    fn finish(self) -> Result<RuleSet, RuleSetError> {
        let (count, headers) = (self.count.to_le_bytes(), encoded_length(&self.headers)?);
        Ok(RuleSet { bytes: Arc::new([&count, &headers, self.headers.as_slice(), &self.bodies].concat()), start: 0 })
    }
}

/// Returns literals, at least one of which occurs in every matching command.
fn command_literals(tool: &ToolRule) -> Option<AnyOf<'static>> {
    if let Some(pattern) = &tool.command_regex.pattern {
        return AnyOf::new(pattern.hints.required_literals.iter().map(String::as_str));
    }
    let programs: Option<Vec<Vec<&str>>> = tool.matchers.iter().map(CommandMatcher::programs).collect();
    let programs: Vec<&str> = programs.into_iter().flatten().flatten().collect();
    let rewrite_words = tool.rewrites.iter().flat_map(|_| REWRITE_WORDS);
    AnyOf::new(if programs.is_empty() { rewrite_words.copied().collect() } else { programs })
}

fn encoded_length(bytes: &[u8]) -> Result<[u8; 4], RuleSetError> {
    u32::try_from(bytes.len()).map(u32::to_le_bytes).map_err(|_| RuleSetError)
}

impl RuleHeader<'_> {
    fn of(rule: &Rule) -> Self {
        let mut header = Self {
            on: rule.on,
            tools: None,
            or_mcp_call: false,
            applies_to_commands: false,
            command: None,
            path: None,
            compare_to: rule.as_file_rule().map(|file| file.scope.compare_to),
        };
        if let Detector::Tool(tool) = &rule.detect {
            header.narrow_by(tool);
        }
        header
    }

    fn narrow_by(&mut self, tool: &ToolRule) {
        let names_tools = !tool.tools.is_empty() || !tool.mcp_tools.is_empty();
        if names_tools && tool.tools.iter().all(super::ToolName::is_exact) {
            // A rule with only MCP patterns gets an empty name, which no tool has.
            self.tools = AnyOf::new(tool.tools.iter().map(|name| name.0.as_str())).or(Some(AnyOf(Cow::Borrowed(""))));
            self.or_mcp_call = !tool.mcp_tools.is_empty();
        }
        self.applies_to_commands = tool.applies_to_commands();
        self.command = command_literals(tool);
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
            (self.or_mcp_call && !call.mcp.is_empty()) || tools.iter().any(|tool| call.names().any(|name| name == tool))
        })
    }

    fn may_match_command(&self, situation: &Situation) -> bool {
        if !self.applies_to_commands {
            return true;
        }
        let (Some(script), Some(literals)) = (situation.script(), &self.command) else {
            return situation.script().is_some();
        };
        !script.complete
            || script.commands.iter().any(|command| !command.is_known())
            || situation.command_texts().iter().any(|text| literals.occurs_in(text))
            || situation.wrapper_texts().iter().any(|text| literals.occurs_in(text))
    }

    fn may_match_path(&self, situation: &Situation) -> bool {
        let Some(literals) = &self.path else { return true };
        // Any path may occur in a command that cannot be parsed or has unknown words.
        let is_known = situation.script().is_none_or(|script| {
            script.complete && (!self.applies_to_commands || script.commands.iter().all(SimpleCommand::is_known))
        });
        // An access to an unknown path can match only if the rule also matches commands, or if the access is a
        // deletion.
        let may_match_unknown = |touch: &UnknownPath| self.applies_to_commands || touch.access == Some(Access::Delete);
        if !is_known || situation.unknown_paths().iter().any(may_match_unknown) {
            return true;
        }
        // A recursive access includes files below the path. Their paths can contain literals that the path itself does
        // not contain.
        situation.touched_paths().iter().any(|touch| {
            let spellings = [touch.in_project.as_deref(), Some(touch.absolute.as_str()), touch.in_home.as_deref()];
            touch.is_recursive || spellings.into_iter().flatten().any(|text| literals.occurs_in(text))
        })
    }
}
