//! Patterns compiled to small programs, and the machine that runs them.
//!
//! Bounded backtracking: a choice that was taken at a position is never taken there again, because it would fail the
//! same way. The work is at most choices × positions, on an explicit stack.

use std::ops::Range;

use super::parse::{CharSet, Node};

#[derive(Debug, Clone)]
pub(super) struct Program {
    instructions: Vec<Instruction>,
    choices: usize,
    slots: usize,
    /// Every match starts with one of the prefixes and ends with one of the suffixes. They reject most paths before the
    /// machine starts.
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

#[derive(Debug, Clone)]
enum Instruction {
    Literal(String),
    /// One character other than `/`.
    CharInSegment,
    /// One character, including `/`.
    AnyChar,
    CharSet(CharSet),
    /// As many characters as possible, then fewer. Without `crosses_folders`, only within the segment.
    Repeat {
        crosses_folders: bool,
        choice_number: usize,
        exit: Exit,
    },
    /// Goes to `first`, and if that fails to `second`. `choice_number` is the number of the choice.
    Choice {
        first: usize,
        second: usize,
        choice_number: usize,
    },
    Jump(usize),
    BeginCapture(usize),
    EndCapture(usize),
    Match,
}

/// The positions at which a run of characters can end, as determined by the next instruction. Most positions are
/// skipped without trying them.
#[derive(Debug, Clone, Copy)]
enum Exit {
    Anywhere,
    Before(u8),
    AtEnd,
}

impl Program {
    pub(super) fn compile(nodes: &[Node]) -> Self {
        let mut compiler = Compiler::default();
        compiler.sequence(nodes);
        compiler.instructions.push(Instruction::Match);
        compiler.find_exits();
        Self {
            instructions: compiler.instructions,
            choices: compiler.choices,
            slots: compiler.slots,
            prefixes: nodes.first().and_then(literals_of).unwrap_or_else(|| vec![String::new()]),
            suffixes: nodes.last().and_then(literals_of).unwrap_or_else(|| vec![String::new()]),
        }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.run(path, &mut [])
    }

    /// True if a longer path that begins with this string could match. The string must end with a complete segment.
    /// Whatever remains of a program, some path matches it.
    pub(super) fn may_begin_with(&self, start: &str) -> bool {
        let could_begin = |prefix: &String| start.starts_with(prefix.as_str()) || prefix.starts_with(start);
        if !self.prefixes.iter().any(could_begin) {
            return false;
        }
        let positions = start.len() + 1;
        let mut taken = BitSet::new(self.instructions.len() * positions);
        let mut untried = vec![(0, 0)];
        while let Some((counter, position)) = untried.pop() {
            if !taken.set(counter * positions + position) {
                continue;
            }
            let rest = start.get(position..).unwrap_or_default();
            let first = rest.chars().next();
            let behind = first.map(|letter| position + letter.len_utf8());
            let mut next_if = |counter: usize, accepted: bool| {
                untried.extend(behind.filter(|_| accepted).map(|behind| (counter, behind)));
            };
            match self.instructions.get(counter) {
                Some(Instruction::Literal(text)) => {
                    // Segments are not empty.
                    let more = text.strip_prefix(rest).filter(|more| !more.is_empty() && !more.starts_with('/'));
                    if more.is_some() {
                        return true;
                    }
                    untried.extend(rest.starts_with(text.as_str()).then_some((counter + 1, position + text.len())));
                }
                Some(
                    Instruction::CharInSegment
                    | Instruction::AnyChar
                    | Instruction::CharSet(_)
                    | Instruction::Repeat { .. },
                ) if rest.is_empty() => {
                    return true;
                }
                Some(Instruction::CharInSegment) => next_if(counter + 1, first != Some('/')),
                Some(Instruction::AnyChar) => next_if(counter + 1, true),
                Some(Instruction::CharSet(set)) => {
                    next_if(counter + 1, first.is_some_and(|letter| set.contains(letter)));
                }
                Some(Instruction::Repeat { crosses_folders, .. }) => {
                    next_if(counter, *crosses_folders || first != Some('/'));
                    untried.push((counter + 1, position));
                }
                Some(Instruction::Choice { first, second, .. }) => {
                    untried.extend([(*first, position), (*second, position)]);
                }
                Some(Instruction::Jump(target)) => untried.push((*target, position)),
                Some(Instruction::BeginCapture(_) | Instruction::EndCapture(_)) => {
                    untried.push((counter + 1, position));
                }
                Some(Instruction::Match) | None => {}
            }
        }
        false
    }

    /// Returns the range of each variable, by slot.
    pub(super) fn captures(&self, path: &str) -> Option<Vec<Range<usize>>> {
        let mut slots = vec![0..0; self.slots];
        self.run(path, &mut slots).then_some(slots)
    }

    /// INVARIANT: slots need not be restored on backtracking. Variables are in no loop and no alternative, so
    /// everything that is tried after writing a slot comes later in the program, and backtracking to an earlier
    /// instruction writes the slot again.
    fn run(&self, path: &str, slots: &mut [Range<usize>]) -> bool {
        let starts = self.prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()));
        if !starts || !self.suffixes.iter().any(|suffix| path.ends_with(suffix.as_str())) {
            return false;
        }
        let taken = BitSet::new(self.choices * (path.len() + 1));
        Machine { program: self, path, slots, untried: Vec::new(), taken }.run()
    }
}

/// One run of a program on a path.
struct Machine<'p> {
    program: &'p Program,
    path: &'p str,
    slots: &'p mut [Range<usize>],
    /// Instructions and positions to backtrack to, the last one first.
    untried: Vec<(usize, usize)>,
    /// Choices that were taken, by their number and position.
    taken: BitSet,
}

impl Machine<'_> {
    fn run(mut self) -> bool {
        let (mut counter, mut position) = (0, 0);
        loop {
            (counter, position) = match self.step(counter, position) {
                Step::Go(counter, position) => (counter, position),
                Step::Done => return true,
                Step::Fail => match self.untried.pop() {
                    Some(next) => next,
                    None => return false,
                },
            };
        }
    }

    fn step(&mut self, counter: usize, position: usize) -> Step {
        let program = self.program;
        let rest = self.path.get(position..).unwrap_or_default();
        let first = rest.chars().next();
        let next_if = |accepted: bool| match first {
            Some(character) if accepted => Step::Go(counter + 1, position + character.len_utf8()),
            _ => Step::Fail,
        };
        match program.instructions.get(counter) {
            Some(Instruction::Literal(text)) if rest.starts_with(text.as_str()) => {
                Step::Go(counter + 1, position + text.len())
            }
            Some(Instruction::CharInSegment) => next_if(first != Some('/')),
            Some(Instruction::AnyChar) => next_if(true),
            Some(Instruction::CharSet(set)) => next_if(first.is_some_and(|character| set.contains(character))),
            Some(Instruction::Repeat { crosses_folders, choice_number, exit }) => {
                self.characters(counter + 1, position, *choice_number, *crosses_folders, *exit)
            }
            Some(Instruction::Choice { first, second, choice_number }) => {
                if self.take_choice(*choice_number, position) {
                    self.untried.push((*second, position));
                    Step::Go(*first, position)
                } else {
                    Step::Fail
                }
            }
            Some(Instruction::Jump(target)) => Step::Go(*target, position),
            Some(Instruction::BeginCapture(slot)) => {
                if let Some(span) = self.slots.get_mut(*slot) {
                    span.start = position;
                }
                Step::Go(counter + 1, position)
            }
            Some(Instruction::EndCapture(slot)) => {
                if let Some(span) = self.slots.get_mut(*slot) {
                    span.end = position;
                }
                Step::Go(counter + 1, position)
            }
            Some(Instruction::Match) if rest.is_empty() => Step::Done,
            _ => Step::Fail,
        }
    }

    /// Matches as many characters as possible. Every earlier end that `exit` allows is pushed, to continue there with
    /// `next`.
    fn characters(
        &mut self,
        next: usize,
        start: usize,
        choice_number: usize,
        crosses_folders: bool,
        exit: Exit,
    ) -> Step {
        let bytes = self.path.as_bytes();
        let mut end = start;
        while self.take_choice(choice_number, end) {
            let byte = bytes.get(end).copied();
            let can_exit = match exit {
                Exit::Anywhere => true,
                Exit::Before(expected) => byte == Some(expected),
                Exit::AtEnd => byte.is_none(),
            };
            match byte {
                Some(byte) if crosses_folders || byte != b'/' => {
                    if can_exit {
                        self.untried.push((next, end));
                    }
                    end += 1;
                    // Skips the remaining bytes of a UTF-8 character.
                    while bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
                        end += 1;
                    }
                }
                _ if can_exit => return Step::Go(next, end),
                _ => return Step::Fail,
            }
        }
        Step::Fail
    }

    /// Marks a choice as taken at a position. Returns false if it already was.
    fn take_choice(&mut self, choice_number: usize, position: usize) -> bool {
        self.taken.set(choice_number * (self.path.len() + 1) + position)
    }
}

/// Returns the strings that a node matches if they are all literal.
fn literals_of(node: &Node) -> Option<Vec<String>> {
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

enum Step {
    Go(usize, usize),
    Fail,
    Done,
}

/// A set of numbers. Small sets, which are the common case, need no allocation.
enum BitSet {
    Few([u64; 16]),
    Many(Vec<u64>),
}

impl BitSet {
    fn new(size: usize) -> Self {
        if size <= 16 * 64 { Self::Few([0; 16]) } else { Self::Many(vec![0; size / 64 + 1]) }
    }

    /// Adds a number. Returns true if it was new.
    fn set(&mut self, number: usize) -> bool {
        let words = match self {
            Self::Few(words) => words.as_mut_slice(),
            Self::Many(words) => words.as_mut_slice(),
        };
        let Some(word) = words.get_mut(number / 64) else { return false };
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

#[derive(Default)]
struct Compiler {
    instructions: Vec<Instruction>,
    choices: usize,
    slots: usize,
}

impl Compiler {
    fn sequence(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Literal(text) => self.push(Instruction::Literal(text.clone())),
            Node::AnyChar => self.push(Instruction::CharInSegment),
            Node::CharSet(set) => self.push(Instruction::CharSet(set.clone())),
            Node::Star => self.run(false),
            Node::FoldersThenSlash => self.repeat(|compiler| {
                compiler.segment();
                compiler.push(Instruction::Literal("/".into()));
            }),
            Node::SlashThenSegments => self.slash_then_segments(),
            Node::Segments => {
                self.segment();
                self.slash_then_segments();
            }
            Node::AnyPath => {
                let choice = self.open_choice();
                self.node(&Node::Segments);
                self.close_choice(choice);
            }
            Node::Alternatives(alternatives) => self.alternatives(alternatives),
            Node::Variable { crosses_folders } => self.variable(*crosses_folders),
        }
    }

    fn push(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    fn segment(&mut self) {
        self.push(Instruction::CharInSegment);
        self.run(false);
    }

    fn run(&mut self, crosses_folders: bool) {
        self.push(Instruction::Repeat { crosses_folders, choice_number: self.choices, exit: Exit::Anywhere });
        self.choices += 1;
    }

    fn find_exits(&mut self) {
        let exits: Vec<_> = (0..self.instructions.len()).map(|place| self.exit_before(place + 1)).collect();
        for (instruction, found) in self.instructions.iter_mut().zip(exits) {
            if let Instruction::Repeat { exit, .. } = instruction {
                *exit = found;
            }
        }
    }

    fn exit_before(&self, place: usize) -> Exit {
        let takes_text = |instruction: &&Instruction| {
            !matches!(instruction, Instruction::BeginCapture(_) | Instruction::EndCapture(_))
        };
        match self.instructions.iter().skip(place).find(takes_text) {
            Some(Instruction::Literal(text)) => text.bytes().next().map_or(Exit::Anywhere, Exit::Before),
            Some(Instruction::Match) => Exit::AtEnd,
            _ => Exit::Anywhere,
        }
    }

    fn slash_then_segments(&mut self) {
        self.repeat(|compiler| {
            compiler.push(Instruction::Literal("/".into()));
            compiler.segment();
        });
    }

    fn variable(&mut self, crosses_folders: bool) {
        let slot = self.slots;
        self.slots += 1;
        let one = if crosses_folders { Instruction::AnyChar } else { Instruction::CharInSegment };
        self.push(Instruction::BeginCapture(slot));
        self.push(one);
        self.run(crosses_folders);
        self.push(Instruction::EndCapture(slot));
    }

    fn alternatives(&mut self, alternatives: &[Vec<Node>]) {
        let mut exits = Vec::new();
        for (place, alternative) in alternatives.iter().enumerate() {
            let is_last = place + 1 == alternatives.len();
            let choice = (!is_last).then(|| self.open_choice());
            self.sequence(alternative);
            if let Some(choice) = choice {
                exits.push(self.instructions.len());
                self.push(Instruction::Jump(usize::MAX));
                self.close_choice(choice);
            }
        }
        let end = self.instructions.len();
        for exit in exits {
            if let Some(Instruction::Jump(target)) = self.instructions.get_mut(exit) {
                *target = end;
            }
        }
    }

    /// Repeats the body as often as possible. The body must consume at least one character.
    fn repeat(&mut self, body: impl FnOnce(&mut Self)) {
        let choice = self.open_choice();
        body(self);
        self.push(Instruction::Jump(choice));
        self.close_choice(choice);
    }

    /// Starts a choice between two continuations: the instructions that follow, and those after `close_choice`.
    fn open_choice(&mut self) -> usize {
        let at = self.instructions.len();
        self.push(Instruction::Choice { first: at + 1, second: usize::MAX, choice_number: self.choices });
        self.choices += 1;
        at
    }

    fn close_choice(&mut self, choice: usize) {
        let end = self.instructions.len();
        if let Some(Instruction::Choice { second, .. }) = self.instructions.get_mut(choice) {
            *second = end;
        }
    }
}
