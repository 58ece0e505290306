//! Compiles patterns to instructions, and matches paths by executing the instructions with bounded backtracking.
//!
//! A choice that was tried at a position is never tried there again, because it would fail again. So the number of
//! steps is at most choices × positions. Backtracking uses a list instead of the call stack, which could overflow.

use std::ops::Range;

use super::parse::{CharSet, Node};

#[derive(Debug, Clone)]
pub(super) struct CompiledPattern {
    instructions: Vec<Instruction>,
    choice_count: usize,
    variable_count: usize,
    /// Every match starts with one of the prefixes and ends with one of the suffixes, so most paths can be rejected
    /// without executing the instructions.
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

#[derive(Debug, Clone)]
enum Instruction {
    Literal(String),
    AnyCharExceptSlash,
    /// One character, which may be `/`.
    AnyChar,
    CharSet(CharSet),
    /// As many characters as possible, and fewer after backtracking. The characters include `/` only if
    /// `crosses_directories` is set.
    CharRun {
        crosses_directories: bool,
        choice_id: usize,
        run_end: RunEnd,
    },
    /// Continues at the instruction `first`, and if that fails, at `second`.
    Choice {
        first: usize,
        second: usize,
        choice_id: usize,
    },
    Jump(usize),
    /// The index of the variable.
    BeginCapture(usize),
    /// The index of the variable.
    EndCapture(usize),
    Match,
}

/// The positions at which an [`Instruction::CharRun`] may end so that the next instruction can match. The matcher skips
/// all other positions.
#[derive(Debug, Clone, Copy)]
enum RunEnd {
    Anywhere,
    Before(u8),
    AtEndOfPath,
}

impl CompiledPattern {
    pub(super) fn compile(nodes: &[Node]) -> Self {
        let mut compiler = Compiler::default();
        compiler.compile_nodes(nodes);
        compiler.instructions.push(Instruction::Match);
        compiler.set_run_ends();
        Self {
            instructions: compiler.instructions,
            choice_count: compiler.choice_count,
            variable_count: compiler.variable_count,
            prefixes: nodes.first().and_then(literal_alternatives).unwrap_or_else(|| vec![String::new()]),
            suffixes: nodes.last().and_then(literal_alternatives).unwrap_or_else(|| vec![String::new()]),
        }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.execute(path, &mut [])
    }

    /// True if a longer path that begins with `path_start` could match. `path_start` must be empty or end with `/`.
    ///
    /// It could if the instructions can match all of `path_start` and reach an instruction that consumes characters:
    /// some continuation of the path matches that instruction and those after it.
    pub(super) fn may_match_longer_path(&self, path_start: &str) -> bool {
        let is_compatible = |prefix: &String| path_start.starts_with(prefix.as_str()) || prefix.starts_with(path_start);
        if !self.prefixes.iter().any(is_compatible) {
            return false;
        }
        let position_count = path_start.len() + 1;
        let mut visited = BitSet::new(self.instructions.len() * position_count);
        let mut unvisited = vec![(0, 0)];
        while let Some((index, position)) = unvisited.pop() {
            if !visited.insert(index * position_count + position) {
                continue;
            }
            let rest = path_start.get(position..).unwrap_or_default();
            let first = rest.chars().next();
            let next_position = first.map(|character| position + character.len_utf8());
            let mut next_if = |index: usize, accepted: bool| {
                unvisited.extend(next_position.filter(|_| accepted).map(|next_position| (index, next_position)));
            };
            match self.instructions.get(index) {
                Some(Instruction::Literal(text)) => {
                    // No segment is empty, so the path cannot continue with another slash.
                    let continues = |remaining: &str| !remaining.is_empty() && !remaining.starts_with('/');
                    if text.strip_prefix(rest).is_some_and(continues) {
                        return true;
                    }
                    unvisited.extend(rest.starts_with(text.as_str()).then_some((index + 1, position + text.len())));
                }
                Some(
                    Instruction::AnyCharExceptSlash
                    | Instruction::AnyChar
                    | Instruction::CharSet(_)
                    | Instruction::CharRun { .. },
                ) if rest.is_empty() => {
                    return true;
                }
                Some(Instruction::AnyCharExceptSlash) => next_if(index + 1, first != Some('/')),
                Some(Instruction::AnyChar) => next_if(index + 1, true),
                Some(Instruction::CharSet(set)) => {
                    next_if(index + 1, first.is_some_and(|character| set.contains(character)));
                }
                Some(Instruction::CharRun { crosses_directories, .. }) => {
                    next_if(index, *crosses_directories || first != Some('/'));
                    unvisited.push((index + 1, position));
                }
                Some(Instruction::Choice { first, second, .. }) => {
                    unvisited.extend([(*first, position), (*second, position)]);
                }
                Some(Instruction::Jump(target)) => unvisited.push((*target, position)),
                Some(Instruction::BeginCapture(_) | Instruction::EndCapture(_)) => {
                    unvisited.push((index + 1, position));
                }
                Some(Instruction::Match) | None => {}
            }
        }
        false
    }

    /// Returns the range of each variable's value in the path.
    pub(super) fn captures(&self, path: &str) -> Option<Vec<Range<usize>>> {
        let mut captures = vec![0..0; self.variable_count];
        self.execute(path, &mut captures).then_some(captures)
    }

    /// Executes the instructions on a path, and writes the ranges of the variables' values to `captures`.
    ///
    /// INVARIANT: backtracking need not restore captures. A variable is never in a loop or an alternative, so the
    /// instructions after a capture never execute the capture again, and backtracking to an instruction before the
    /// capture overwrites it.
    fn execute(&self, path: &str, captures: &mut [Range<usize>]) -> bool {
        let has_prefix = self.prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()));
        if !has_prefix || !self.suffixes.iter().any(|suffix| path.ends_with(suffix.as_str())) {
            return false;
        }
        let tried_choices = BitSet::new(self.choice_count * (path.len() + 1));
        Matcher { pattern: self, path, captures, backtrack_stack: Vec::new(), tried_choices }.execute()
    }
}

/// The state while the instructions of a pattern are executed on a path.
struct Matcher<'p> {
    pattern: &'p CompiledPattern,
    path: &'p str,
    captures: &'p mut [Range<usize>],
    /// Instructions and positions to backtrack to, the last one first.
    backtrack_stack: Vec<(usize, usize)>,
    /// The combinations of a choice and a position that were tried.
    tried_choices: BitSet,
}

impl Matcher<'_> {
    fn execute(mut self) -> bool {
        let (mut index, mut position) = (0, 0);
        loop {
            (index, position) = match self.step(index, position) {
                Step::Continue(index, position) => (index, position),
                Step::Matched => return true,
                Step::Fail => match self.backtrack_stack.pop() {
                    Some(next) => next,
                    None => return false,
                },
            };
        }
    }

    fn step(&mut self, index: usize, position: usize) -> Step {
        let pattern = self.pattern;
        let rest = self.path.get(position..).unwrap_or_default();
        let first = rest.chars().next();
        let next_if = |accepted: bool| match first {
            Some(character) if accepted => Step::Continue(index + 1, position + character.len_utf8()),
            _ => Step::Fail,
        };
        match pattern.instructions.get(index) {
            Some(Instruction::Literal(text)) if rest.starts_with(text.as_str()) => {
                Step::Continue(index + 1, position + text.len())
            }
            Some(Instruction::AnyCharExceptSlash) => next_if(first != Some('/')),
            Some(Instruction::AnyChar) => next_if(true),
            Some(Instruction::CharSet(set)) => next_if(first.is_some_and(|character| set.contains(character))),
            Some(Instruction::CharRun { crosses_directories, choice_id, run_end }) => {
                self.match_char_run(index + 1, position, *choice_id, *crosses_directories, *run_end)
            }
            Some(Instruction::Choice { first, second, choice_id }) => {
                if self.try_choice(*choice_id, position) {
                    self.backtrack_stack.push((*second, position));
                    Step::Continue(*first, position)
                } else {
                    Step::Fail
                }
            }
            Some(Instruction::Jump(target)) => Step::Continue(*target, position),
            Some(Instruction::BeginCapture(variable)) => {
                if let Some(span) = self.captures.get_mut(*variable) {
                    span.start = position;
                }
                Step::Continue(index + 1, position)
            }
            Some(Instruction::EndCapture(variable)) => {
                if let Some(span) = self.captures.get_mut(*variable) {
                    span.end = position;
                }
                Step::Continue(index + 1, position)
            }
            Some(Instruction::Match) if rest.is_empty() => Step::Matched,
            _ => Step::Fail,
        }
    }

    /// Matches as many characters as possible, and continues with the instruction `next`. Pushes every earlier position
    /// where `run_end` allows an end to the backtrack stack.
    fn match_char_run(
        &mut self,
        next: usize,
        start: usize,
        choice_id: usize,
        crosses_directories: bool,
        run_end: RunEnd,
    ) -> Step {
        let bytes = self.path.as_bytes();
        let mut end = start;
        while self.try_choice(choice_id, end) {
            let byte = bytes.get(end).copied();
            let can_end = match run_end {
                RunEnd::Anywhere => true,
                RunEnd::Before(expected) => byte == Some(expected),
                RunEnd::AtEndOfPath => byte.is_none(),
            };
            match byte {
                Some(byte) if crosses_directories || byte != b'/' => {
                    if can_end {
                        self.backtrack_stack.push((next, end));
                    }
                    end += 1;
                    // Skips the remaining bytes of a UTF-8 character.
                    while bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
                        end += 1;
                    }
                }
                _ if can_end => return Step::Continue(next, end),
                _ => return Step::Fail,
            }
        }
        Step::Fail
    }

    /// Marks a choice as tried at a position. Returns false if it was marked before.
    fn try_choice(&mut self, choice_id: usize, position: usize) -> bool {
        self.tried_choices.insert(choice_id * (self.path.len() + 1) + position)
    }
}

/// Returns the strings that a node matches; `None` if the node or one of its alternatives is not a literal.
fn literal_alternatives(node: &Node) -> Option<Vec<String>> {
    match node {
        Node::Literal(text) => Some(vec![text.clone()]),
        Node::Alternatives(alternatives) => alternatives
            .iter()
            .map(|alternative| match alternative.as_slice() {
                [] => Some(String::new()),
                [Node::Literal(text)] => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// The result of one instruction.
enum Step {
    /// The next instruction and position.
    Continue(usize, usize),
    Fail,
    Matched,
}

/// A set of numbers. Small sets, which are the common case, need no allocation.
enum BitSet {
    Inline([u64; 16]),
    Heap(Vec<u64>),
}

impl BitSet {
    fn new(size: usize) -> Self {
        if size <= 16 * 64 { Self::Inline([0; 16]) } else { Self::Heap(vec![0; size / 64 + 1]) }
    }

    /// Adds a number. Returns true if it was new.
    fn insert(&mut self, member: usize) -> bool {
        let words = match self {
            Self::Inline(words) => words.as_mut_slice(),
            Self::Heap(words) => words.as_mut_slice(),
        };
        let Some(word) = words.get_mut(member / 64) else { return false };
        let bit = 1 << (member % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

#[derive(Default)]
struct Compiler {
    instructions: Vec<Instruction>,
    choice_count: usize,
    variable_count: usize,
}

impl Compiler {
    fn compile_nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.compile_node(node);
        }
    }

    fn compile_node(&mut self, node: &Node) {
        match node {
            Node::Literal(text) => self.push(Instruction::Literal(text.clone())),
            Node::AnyCharExceptSlash => self.push(Instruction::AnyCharExceptSlash),
            Node::CharSet(set) => self.push(Instruction::CharSet(set.clone())),
            Node::Star => self.push_char_run(false),
            Node::DirectoriesThenSlash => self.push_loop(|compiler| {
                compiler.push_segment();
                compiler.push(Instruction::Literal("/".into()));
            }),
            Node::SlashThenSegments => self.push_slash_then_segments(),
            Node::Segments => {
                self.push_segment();
                self.push_slash_then_segments();
            }
            Node::AnyPath => {
                let choice = self.open_choice();
                self.compile_node(&Node::Segments);
                self.close_choice(choice);
            }
            Node::Alternatives(alternatives) => self.compile_alternatives(alternatives),
            Node::Variable { crosses_directories } => self.push_variable(*crosses_directories),
        }
    }

    fn push(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    fn push_segment(&mut self) {
        self.push(Instruction::AnyCharExceptSlash);
        self.push_char_run(false);
    }

    fn push_char_run(&mut self, crosses_directories: bool) {
        self.push(Instruction::CharRun {
            crosses_directories,
            choice_id: self.choice_count,
            run_end: RunEnd::Anywhere,
        });
        self.choice_count += 1;
    }

    fn set_run_ends(&mut self) {
        let run_ends: Vec<_> = (0..self.instructions.len()).map(|index| self.run_end_before(index + 1)).collect();
        for (instruction, end) in self.instructions.iter_mut().zip(run_ends) {
            if let Instruction::CharRun { run_end, .. } = instruction {
                *run_end = end;
            }
        }
    }

    /// Returns where an [`Instruction::CharRun`] may end if the instruction at `index` follows it.
    fn run_end_before(&self, index: usize) -> RunEnd {
        let is_capture = |instruction: &Instruction| {
            matches!(instruction, Instruction::BeginCapture(_) | Instruction::EndCapture(_))
        };
        match self.instructions.iter().skip(index).find(|instruction| !is_capture(instruction)) {
            Some(Instruction::Literal(text)) => text.bytes().next().map_or(RunEnd::Anywhere, RunEnd::Before),
            Some(Instruction::Match) => RunEnd::AtEndOfPath,
            _ => RunEnd::Anywhere,
        }
    }

    fn push_slash_then_segments(&mut self) {
        self.push_loop(|compiler| {
            compiler.push(Instruction::Literal("/".into()));
            compiler.push_segment();
        });
    }

    fn push_variable(&mut self, crosses_directories: bool) {
        let variable = self.variable_count;
        self.variable_count += 1;
        let first = if crosses_directories { Instruction::AnyChar } else { Instruction::AnyCharExceptSlash };
        self.push(Instruction::BeginCapture(variable));
        self.push(first);
        self.push_char_run(crosses_directories);
        self.push(Instruction::EndCapture(variable));
    }

    fn compile_alternatives(&mut self, alternatives: &[Vec<Node>]) {
        let mut jumps = Vec::new();
        for (index, alternative) in alternatives.iter().enumerate() {
            let is_last = index + 1 == alternatives.len();
            let choice = (!is_last).then(|| self.open_choice());
            self.compile_nodes(alternative);
            if let Some(choice) = choice {
                jumps.push(self.instructions.len());
                self.push(Instruction::Jump(usize::MAX));
                self.close_choice(choice);
            }
        }
        let end = self.instructions.len();
        for jump in jumps {
            if let Some(Instruction::Jump(target)) = self.instructions.get_mut(jump) {
                *target = end;
            }
        }
    }

    /// Compiles a loop that matches the body as often as possible. The body must match at least one character.
    fn push_loop(&mut self, body: impl FnOnce(&mut Self)) {
        let choice = self.open_choice();
        body(self);
        self.push(Instruction::Jump(choice));
        self.close_choice(choice);
    }

    /// Starts a choice between the instructions that follow and those after `close_choice`. Returns the index of the
    /// choice.
    fn open_choice(&mut self) -> usize {
        let choice = self.instructions.len();
        self.push(Instruction::Choice { first: choice + 1, second: usize::MAX, choice_id: self.choice_count });
        self.choice_count += 1;
        choice
    }

    fn close_choice(&mut self, choice: usize) {
        let end = self.instructions.len();
        if let Some(Instruction::Choice { second, .. }) = self.instructions.get_mut(choice) {
            *second = end;
        }
    }
}
