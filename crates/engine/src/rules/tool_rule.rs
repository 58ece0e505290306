//! Rules about a tool call that is about to run.
//!
//! Every clause is true, false or unknown; the rule is what all of its clauses together are. Unknown is what cannot be
//! said before a command runs: text that does not parse, a variable in a place that matters, a path that a command
//! names without it being known what the command does with it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Truth;
use crate::event::{Access, McpTool, ToolCall};
use crate::facts::EventPart;
use crate::pattern::Pattern;
use crate::search::{Hints, LazySearch, SearchError};
use crate::shell::SimpleCommand;
use crate::situation::{Situation, Touch, UnknownTouch};
use crate::verdict::Level;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRule {
    pub tools: Vec<ToolName>,
    pub mcp_tools: Vec<McpPattern>,
    pub command: CommandSearch,
    /// One clause for each of `paths`, `reads`, `writes` and `deletes` that the rule has.
    pub paths: Vec<PathClause>,
    /// What it means that no clause is false and one is unknown; `None`: as the rule's action implies.
    pub incomplete: Option<Level>,
}

/// One clause of a rule, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The key in the rule's file.
    pub key: &'static str,
    pub truth: Truth,
    /// What was compared with what, for people.
    pub shown: String,
}

/// A tool rule, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolMatch {
    pub clauses: Vec<Clause>,
    /// For each simple command, whether the rule's command clauses speak of it. Empty where the rule has none:
    /// it speaks of the whole call.
    pub commands: Vec<Truth>,
}

impl ToolMatch {
    pub fn truth(&self) -> Truth {
        self.clauses.iter().fold(Truth::True, |truth, clause| truth.and(clause.truth))
    }

    pub fn truth_but_for_paths(&self) -> Truth {
        let others = self.clauses.iter().filter(|clause| !clause.is_about_paths());
        others.fold(Truth::True, |truth, clause| truth.and(clause.truth))
    }
}

impl Clause {
    pub fn is_about_paths(&self) -> bool {
        PathKey::ALL.iter().any(|key| key.name() == self.key)
    }
}

impl ToolRule {
    /// Stops at the first false clause: a rule that cannot match should cost little. `thorough` judges them all.
    pub fn judge(&self, situation: &Situation, thorough: bool) -> Result<ToolMatch, SearchError> {
        let mut found = ToolMatch { clauses: Vec::new(), commands: Vec::new() };
        let Some(call) = &situation.event.tool else {
            found.clauses.push(Clause { key: "tools", truth: Truth::False, shown: "no tool call".to_owned() });
            return Ok(found);
        };
        if !self.tools.is_empty() || !self.mcp_tools.is_empty() {
            found.clauses.push(self.name_clause(call));
        }
        let done = |found: &ToolMatch| !thorough && found.truth() == Truth::False;
        if self.command.is_some() && !done(&found) {
            found.commands = self.command.truths(situation)?;
            found.clauses.push(self.command.clause(situation, &found.commands));
        }
        for clause in &self.paths {
            if !done(&found) {
                found.clauses.push(clause.judge(situation, &found.commands));
            }
        }
        Ok(found)
    }

    /// Whether the rule, where it matches, speaks of all that the call does. One about paths must know each of them,
    /// and of a shell call it never does.
    pub fn covers_whole_call(&self, situation: &Situation) -> bool {
        let is_shell = situation.event.tool.as_ref().is_some_and(|call| call.shell.is_some());
        self.paths.is_empty() || (!is_shell && self.paths.iter().all(|clause| clause.covers_all(situation)))
    }

    fn name_clause(&self, call: &ToolCall) -> Clause {
        let named = self.tools.iter().any(|tool| call.names().any(|name| tool.matches(name)));
        let reached = self.mcp_tools.iter().any(|pattern| call.mcp.iter().any(|tool| pattern.matches(tool)));
        let key = if self.tools.is_empty() { "mcp_tools" } else { "tools" };
        Clause { key, truth: (named || reached).into(), shown: call.names().collect::<Vec<_>>().join(", ") }
    }
}

/// A tool's name, with globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolName(pub String);

impl ToolName {
    /// Whether it is one name and no pattern.
    pub fn is_exact(&self) -> bool {
        !self.0.contains(['*', '?', '[', '{', '\\'])
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.is_exact() { self.0 == name } else { glob_matches(&self.0, name) }
    }
}

/// `server:tool`, either side with globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpPattern {
    pub server: String,
    pub tool: String,
}

impl McpPattern {
    pub(crate) fn matches(&self, tool: &McpTool) -> bool {
        glob_matches(&self.server, &tool.server) && glob_matches(&self.tool, &tool.tool)
    }
}

/// The patterns of a loaded rule parse: they were checked then.
fn glob_matches(glob: &str, name: &str) -> bool {
    glob == name || Pattern::parse(glob).is_ok_and(|pattern| pattern.matches(name))
}

/// `command_pattern` and `command_not_pattern`: both are about one simple command at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSearch {
    pub pattern: Option<TextSearch>,
    pub not_pattern: Option<TextSearch>,
}

/// A regex with what is known of it in advance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSearch {
    pub regex: String,
    pub hints: Hints,
}

impl TextSearch {
    pub fn new(regex: &str) -> Self {
        Self { regex: regex.to_owned(), hints: Hints::of(regex) }
    }
}

impl CommandSearch {
    pub fn is_some(&self) -> bool {
        self.pattern.is_some() || self.not_pattern.is_some()
    }

    pub(crate) fn truths(&self, situation: &Situation) -> Result<Vec<Truth>, SearchError> {
        let Some(script) = situation.script() else { return Ok(Vec::new()) };
        let pattern = self.pattern.as_ref().map(CommandTruths::of);
        let not_pattern = self.not_pattern.as_ref().map(CommandTruths::of);
        script
            .commands
            .iter()
            .map(|command| {
                // One that only assigns or redirects runs no program to speak of.
                if command.words.is_empty() {
                    return Ok(Truth::False);
                }
                let meant = pattern.as_ref().map_or(Ok(Truth::True), |search| search.truth(command))?;
                if meant == Truth::False {
                    return Ok(meant);
                }
                let excepted = not_pattern.as_ref().map_or(Ok(Truth::False), |search| search.truth(command))?;
                Ok(meant.and(!excepted))
            })
            .collect()
    }

    fn clause(&self, situation: &Situation, truths: &[Truth]) -> Clause {
        let key = if self.pattern.is_some() { "command_pattern" } else { "command_not_pattern" };
        let (truth, shown) = match situation.script() {
            Some(script) => {
                let found = truths.iter().copied().fold(Truth::False, Truth::or);
                // What the parser could not read may hold anything.
                let truth = if script.complete { found } else { found.or(Truth::Unknown) };
                let speaking = situation.texts().iter().zip(truths).filter(|(_, command)| **command == truth);
                let texts: Vec<&str> = speaking.map(|(text, _)| text.as_str()).collect();
                let shown =
                    if texts.is_empty() { "a command that cannot be read".to_owned() } else { texts.join("; ") };
                (truth, if truth == Truth::False { situation.texts().join("; ") } else { shown })
            }
            // A shell call without a command is asked about whatever the rules say.
            None => (Truth::False, "not a shell call with a command".to_owned()),
        };
        Clause { key, truth, shown }
    }
}

/// One search over the simple commands of a call.
struct CommandTruths<'a> {
    search: LazySearch<'a>,
    pieces: Option<&'a [String]>,
}

/// Stands for a part of a word that cannot be known; no rule is about it.
const UNKNOWN: &str = "\u{FFFC}";

impl<'a> CommandTruths<'a> {
    fn of(text: &'a TextSearch) -> Self {
        Self {
            search: LazySearch::new(text.regex.as_str(), Cow::Borrowed(&text.hints)),
            pieces: text.hints.pieces.as_deref(),
        }
    }

    /// True where the expression is found whatever the unknown words turn out to be; unknown where its own constant
    /// pieces in their place would make it found. Only a program can be unknown *and* an option: an unknown operand is
    /// taken to be an operand, or every `git push origin "$branch"` would be asked about.
    fn truth(&self, command: &SimpleCommand) -> Result<Truth, SearchError> {
        let count = command.unknown_words();
        if self.search.found_in(&command.text_if(&vec![UNKNOWN; count]))? {
            return Ok(Truth::True);
        }
        if count == 0 {
            return Ok(Truth::False);
        }
        let Some(pieces) = self.pieces else { return Ok(Truth::Unknown) };
        let operands: Vec<&str> =
            pieces.iter().filter(|piece| !piece.starts_with('-')).map(String::as_str).chain([UNKNOWN, ""]).collect();
        let programs: Vec<&str> = pieces.iter().map(String::as_str).chain([UNKNOWN, ""]).collect();
        let mut choices = vec![operands.as_slice(); count];
        if let (Some(first), None) = (choices.first_mut(), command.program()) {
            *first = &programs;
        }
        let combinations = choices.iter().try_fold(1_usize, |product, choice| product.checked_mul(choice.len()));
        // More than are worth trying could be anything.
        let Some(combinations) = combinations.filter(|count| *count <= COMBINATIONS_LIMIT) else {
            return Ok(Truth::Unknown);
        };
        for combination in 0..combinations {
            if self.search.found_in(&command.text_if(&combination_of(&choices, combination)))? {
                return Ok(Truth::Unknown);
            }
        }
        Ok(Truth::False)
    }
}

const COMBINATIONS_LIMIT: usize = 1024;

/// The combination of this number: one of each choice.
fn combination_of<'a>(choices: &[&[&'a str]], mut number: usize) -> Vec<&'a str> {
    let mut combination = Vec::with_capacity(choices.len());
    for choice in choices {
        combination.extend(choice.get(number % choice.len()));
        number /= choice.len();
    }
    combination
}

/// One of `paths`, `reads`, `writes`, `deletes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathClause {
    pub about: PathKey,
    pub patterns: Vec<PathPattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathKey {
    Paths,
    Reads,
    Writes,
    Deletes,
}

impl PathKey {
    pub const ALL: [Self; 4] = [Self::Paths, Self::Reads, Self::Writes, Self::Deletes];

    pub fn name(self) -> &'static str {
        match self {
            Self::Paths => "paths",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
        }
    }

    fn covers(self, access: Access) -> bool {
        match self {
            Self::Paths => true,
            Self::Reads => access == Access::Read,
            // To delete a file is to change it.
            Self::Writes => matches!(access, Access::Write | Access::Delete),
            Self::Deletes => access == Access::Delete,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathPattern {
    /// `outside_project`: outside of the root and of the temporary folder.
    OutsideProject,
    Glob {
        source: String,
        /// A text that every matching path holds; empty: none is known.
        literal: String,
    },
}

impl PathPattern {
    pub const OUTSIDE_PROJECT: &str = "outside_project";

    fn matches(&self, touch: &Touch, situation: &Situation) -> bool {
        match self {
            Self::OutsideProject => touch.inside.is_none() && !in_temp(touch, situation),
            Self::Glob { source, literal } => {
                let text = if source.starts_with('/') {
                    Some(touch.absolute.as_str())
                } else if source.starts_with("~/") {
                    touch.in_home.as_deref()
                } else {
                    touch.inside.as_deref()
                };
                text.is_some_and(|text| {
                    text.contains(literal.as_str())
                        && Pattern::parse_anywhere(source).is_ok_and(|pattern| pattern.matches(text))
                })
            }
        }
    }
}

fn in_temp(touch: &Touch, situation: &Situation) -> bool {
    let Some(temp) = &situation.place.temp else { return false };
    let project_is_there = crate::paths::below(&situation.place.root, temp).is_some();
    !project_is_there && crate::paths::below(&touch.absolute, temp).is_some()
}

impl PathClause {
    /// `commands`: of which simple commands the rule's other clauses speak; empty: of all.
    pub(crate) fn judge(&self, situation: &Situation, commands: &[Truth]) -> Clause {
        situation.facts.asked(EventPart::Paths);
        // What cannot be read may name anything.
        let is_read = situation.script().is_none_or(|script| script.complete);
        let mut truth = if is_read { Truth::False } else { Truth::Unknown };
        let mut shown = Vec::new();
        for touch in situation.touches() {
            let named_by_others = touch.command.and_then(|place| commands.get(place)) == Some(&Truth::False);
            let here = match touch.access {
                _ if named_by_others => Truth::False,
                Some(access) if self.about.covers(access) => Truth::True,
                Some(_) => Truth::False,
                None => Truth::Unknown,
            };
            if here > Truth::False && self.matches(touch, situation) {
                truth = truth.or(here);
                shown.push(touch.inside.as_deref().unwrap_or(&touch.absolute).to_owned());
            }
        }
        for touch in situation.unknown_touches().iter().filter(|touch| self.may_be_about(touch, commands)) {
            truth = truth.or(Truth::Unknown);
            shown.push(touch.shown.clone());
        }
        if shown.is_empty() {
            shown.push(
                if is_read { "none of the paths that the call names" } else { "a command that cannot be read" }
                    .to_owned(),
            );
        }
        Clause { key: self.about.name(), truth, shown: shown.join(", ") }
    }

    /// A path that is not known may be any. That counts for a rule that names commands, and for what is deleted; else every
    /// variable that is read from would be asked about.
    fn may_be_about(&self, touch: &UnknownTouch, commands: &[Truth]) -> bool {
        let names_commands = !commands.is_empty();
        let is_meant = touch.command.and_then(|place| commands.get(place)) != Some(&Truth::False);
        let is_deleted = touch.access == Some(Access::Delete);
        is_meant && (names_commands || is_deleted) && touch.access.is_none_or(|access| self.about.covers(access))
    }

    /// Whether it speaks of every path that the call names, in all that each of them leads to.
    fn covers_all(&self, situation: &Situation) -> bool {
        let touches = situation.touches();
        !touches.is_empty()
            && touches.iter().all(|touch| {
                touch.access.is_some_and(|access| self.about.covers(access)) && self.matches(touch, situation)
            })
    }

    fn matches(&self, touch: &Touch, situation: &Situation) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(touch, situation))
    }
}
