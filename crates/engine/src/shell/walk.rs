//! Over the syntax tree, in the order of the text, to every simple command in it.
//!
//! INVARIANT: recursion is bounded. `door` lets no tree through whose nesting, together with what is around it, exceeds
//! the limit, and everything that nests passes it: a substitution is parsed one level deeper than its word.

use std::ops::Range;

use brush_parser::ast::{
    AndOr, AndOrList, ArithmeticForClauseCommand, Assignment as AssignmentNode, AssignmentValue, CaseClauseCommand,
    Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, ExtendedTestExpr, ForClauseCommand,
    IfClauseCommand, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, ProcessSubstitutionKind,
    RedirectList, SeparatorOperator, SimpleCommand as SimpleCommandNode, SubshellCommand, UnexpandedArithmeticExpr,
    Word as WordNode,
};

use super::brace;
use super::command::{Assignment, Redirect, RedirectKind, SimpleCommand, Word};
use super::hidden::Hidden;
use super::through::{Runs, Through, through};
use super::word::{self, Context, Scanned, Unit};
use super::{Gap, MAX_NESTING, Script, door, doubtful};
use crate::programs::Role;

/// Words that brace expansion may add, over the whole text.
const MAX_EXPANDED_WORDS: usize = 4096;

pub(super) fn walk(text: &str) -> Script {
    let mut walker = Walker {
        script: Script { complete: true, scopes: vec![None], ..Script::default() },
        depth: 0,
        scope: 0,
        piped_from: 0..0,
        expanded_words: 0,
        hidden: Hidden::default(),
        via: Vec::new(),
        is_remote: false,
    };
    walker.text(text);
    walker.script
}

struct Walker {
    script: Script,
    /// How many compound commands and substitutions are around.
    depth: usize,
    scope: usize,
    piped_from: Range<usize>,
    expanded_words: usize,
    /// Of the text that is being walked.
    hidden: Hidden,
    /// The programs through which what is walked would be run, outermost first.
    via: Vec<String>,
    is_remote: bool,
}

/// Substitutions found in a command's words: their commands follow the command.
type Inner = Vec<Substitution>;

enum Substitution {
    Text(String),
    Process(SubshellCommand),
}

impl Walker {
    fn gap(&mut self, gap: Gap) {
        self.script.complete = false;
        if !self.script.gaps.contains(&gap) {
            self.script.gaps.push(gap);
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(doubt) = doubtful::in_text(text) {
            self.gap(Gap::Doubtful(doubt));
        }
        let (text, hidden) = Hidden::hide(text);
        let around = std::mem::replace(&mut self.hidden, hidden);
        match door::parse(&text, self.depth) {
            Ok(program) => {
                for list in &program.complete_commands {
                    self.list(list);
                }
            }
            Err(gap) => self.gap(gap),
        }
        self.hidden = around;
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        // The door has checked it; this only keeps a mistake there from becoming an overflow.
        if self.depth > MAX_NESTING {
            self.gap(Gap::TooDeep);
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn in_new_scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let parent = self.scope;
        self.script.scopes.push(Some(parent));
        self.scope = self.script.scopes.len() - 1;
        visit(self);
        self.scope = parent;
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Sequence => self.and_or(&item.0),
                SeparatorOperator::Async => self.in_new_scope(|walker| walker.and_or(&item.0)),
            }
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for AndOr::And(pipeline) | AndOr::Or(pipeline) in &list.additional {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [command] = pipeline.seq.as_slice() {
            return self.command(command);
        }
        let around = self.piped_from.clone();
        for command in &pipeline.seq {
            let first = self.script.commands.len();
            self.in_new_scope(|walker| walker.command(command));
            self.piped_from = first..self.script.commands.len();
        }
        self.piped_from = around;
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.redirects_of_compound(redirects.as_ref());
                self.deeper(|walker| walker.compound(compound));
            }
            Command::Function(function) => {
                self.script.functions.push(function.fname.value.clone());
                self.redirects_of_compound(function.body.1.as_ref());
                self.deeper(|walker| walker.compound(&function.body.0));
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirects_of_compound(redirects.as_ref());
                self.deeper(|walker| walker.test(&test.expr));
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                // `( (a) )` is parsed as this too, and is a command in a subshell.
                self.gap(Gap::Doubtful("double parentheses"));
                self.arithmetic(&arithmetic.expr);
            }
            CompoundCommand::ArithmeticForClause(clause) => self.arithmetic_for(clause),
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.in_new_scope(|walker| walker.list(&subshell.list)),
            CompoundCommand::ForClause(clause) => self.for_clause(clause),
            CompoundCommand::CaseClause(clause) => self.case(clause),
            CompoundCommand::IfClause(clause) => self.if_clause(clause),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => self.in_new_scope(|walker| walker.command(&coprocess.body)),
        }
    }

    fn if_clause(&mut self, clause: &IfClauseCommand) {
        self.list(&clause.condition);
        self.list(&clause.then);
        for branch in clause.elses.iter().flatten() {
            if let Some(condition) = &branch.condition {
                self.list(condition);
            }
            self.list(&branch.body);
        }
    }

    fn for_clause(&mut self, clause: &ForClauseCommand) {
        for value in clause.values.iter().flatten() {
            self.substitutions_of(&value.value, Context::Word);
            self.script.loose.push(value.value.clone());
        }
        self.list(&clause.body.list);
    }

    fn arithmetic_for(&mut self, clause: &ArithmeticForClauseCommand) {
        for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
            self.arithmetic(expression);
        }
        self.list(&clause.body.list);
    }

    fn case(&mut self, clause: &CaseClauseCommand) {
        self.substitutions_of(&clause.value.value, Context::Word);
        for item in &clause.cases {
            for pattern in &item.patterns {
                self.substitutions_of(&pattern.value, Context::Word);
            }
            if let Some(list) = &item.cmd {
                self.list(list);
            }
        }
    }

    fn arithmetic(&mut self, expression: &UnexpandedArithmeticExpr) {
        self.substitutions_of(&expression.value, Context::Text);
    }

    /// Iterative: a chain of `&&` or `!` is as deep as it is long.
    fn test(&mut self, test: &ExtendedTestExpr) {
        let mut pending = vec![test];
        while let Some(test) = pending.pop() {
            match test {
                ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                    pending.extend([&**right, left]);
                }
                ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => pending.push(inner),
                ExtendedTestExpr::UnaryTest(_, word) => self.substitutions_of(&word.value, Context::Word),
                ExtendedTestExpr::BinaryTest(_, left, right) => {
                    self.substitutions_of(&left.value, Context::Word);
                    self.substitutions_of(&right.value, Context::Word);
                }
            }
        }
    }

    fn simple(&mut self, node: &SimpleCommandNode) {
        let mut command = SimpleCommand::default();
        let mut inner = Inner::new();
        for item in node.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    command.assignments.push(self.assignment(assignment, &mut inner));
                }
                other => self.item(other, &mut command, &mut inner),
            }
        }
        if let Some(program) = &node.word_or_name {
            self.words(&program.value, &mut command.words, &mut inner);
        }
        for item in node.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut command, &mut inner);
        }
        self.emit(command);
        self.run_inner(inner);
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, command: &mut SimpleCommand, inner: &mut Inner) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => command.redirects.push(self.redirect(redirect, inner)),
            // An argument may look like an assignment, as of `env` or `export`.
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                self.words(&word.value, &mut command.words, inner);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                command.words.push(process_word(kind));
                inner.push(Substitution::Process(subshell.clone()));
            }
        }
    }

    /// Every command passes here. Those that it runs come in its place, or behind it.
    fn emit(&mut self, mut command: SimpleCommand) {
        command.scope = self.scope;
        command.piped_from = self.piped_from.clone();
        command.via.clone_from(&self.via);
        command.is_remote = self.is_remote;
        command.mark_data();
        if let Some(doubt) = doubtful::in_command(&command) {
            self.gap(Gap::Doubtful(doubt));
        }
        match through(&command) {
            None => self.script.commands.push(command),
            Some(through) => self.see_through(through, command),
        }
    }

    fn see_through(&mut self, through: Through, command: SimpleCommand) {
        let Through { name, is_transparent, is_remote, runs } = through;
        let (mut redirects, mut assignments) = (Vec::new(), Vec::new());
        if is_transparent {
            (redirects, assignments) = (command.redirects, command.assignments);
        } else {
            self.script.commands.push(command);
        }
        let around = self.is_remote;
        self.is_remote |= is_remote;
        self.via.push(name.clone());
        for runs in runs {
            self.deeper(|walker| match runs {
                Runs::Command { words, assignments: more } => {
                    assignments.extend(more);
                    let (assignments, redirects) = (std::mem::take(&mut assignments), std::mem::take(&mut redirects));
                    walker.emit(SimpleCommand { words, assignments, redirects, ..SimpleCommand::default() });
                }
                Runs::Text { text: None, .. } => walker.gap(Gap::Unknown(name.clone())),
                Runs::Text { text: Some(text), in_own_shell: true } => walker.in_new_scope(|walker| walker.text(&text)),
                Runs::Text { text: Some(text), in_own_shell: false } => walker.text(&text),
            });
        }
        self.via.pop();
        self.is_remote = around;
        if !redirects.is_empty() || !assignments.is_empty() {
            let rest = SimpleCommand { assignments, redirects, ..SimpleCommand::default() };
            self.script.commands.push(SimpleCommand { scope: self.scope, via: self.via.clone(), ..rest });
        }
    }

    fn run_inner(&mut self, inner: Inner) {
        for substitution in inner {
            self.in_new_scope(|walker| {
                walker.deeper(|walker| match substitution {
                    Substitution::Text(text) => walker.text(&text),
                    Substitution::Process(subshell) => walker.list(&subshell.list),
                });
            });
        }
    }

    /// The redirections of a compound command are those of a command without words.
    fn redirects_of_compound(&mut self, redirects: Option<&RedirectList>) {
        let Some(redirects) = redirects else { return };
        let mut inner = Inner::new();
        let redirects = redirects.0.iter().map(|redirect| self.redirect(redirect, &mut inner)).collect();
        self.emit(SimpleCommand { redirects, ..SimpleCommand::default() });
        self.run_inner(inner);
    }

    fn redirect(&mut self, redirect: &IoRedirect, inner: &mut Inner) -> Redirect {
        match redirect {
            IoRedirect::File(descriptor, kind, target) => {
                let target = match target {
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                        self.single_word(&word.value, inner)
                    }
                    IoFileRedirectTarget::Fd(number) => known_word(number.to_string()),
                    IoFileRedirectTarget::ProcessSubstitution(kind, subshell) => {
                        inner.push(Substitution::Process(subshell.clone()));
                        process_word(kind)
                    }
                };
                Redirect { descriptor: *descriptor, kind: file_redirect_kind(kind), target }
            }
            IoRedirect::OutputAndError(word, appends) => {
                let kind = if *appends { RedirectKind::AppendAll } else { RedirectKind::WriteAll };
                Redirect { descriptor: None, kind, target: self.single_word(&word.value, inner) }
            }
            IoRedirect::HereString(descriptor, word) => {
                let target = Word { role: Role::Data, ..self.single_word(&word.value, inner) };
                Redirect { descriptor: *descriptor, kind: RedirectKind::HereString, target }
            }
            IoRedirect::HereDocument(descriptor, document) => {
                let body = &document.doc.value;
                let target = if document.requires_expansion {
                    let scanned = self.scan(body, Context::Text, inner);
                    word_of(body.clone(), &scanned)
                } else {
                    known_word(body.clone())
                };
                let target = Word { role: Role::Data, ..target };
                Redirect { descriptor: *descriptor, kind: RedirectKind::HereDocument, target }
            }
        }
    }

    fn assignment(&mut self, node: &AssignmentNode, inner: &mut Inner) -> Assignment {
        let name = node.name.to_string();
        self.scan(&name, Context::Text, inner);
        let value = match &node.value {
            AssignmentValue::Scalar(word) => {
                let word = self.single_word(&word.value, inner);
                if node.append { Word { value: None, shown: word.raw.clone(), ..word } } else { word }
            }
            AssignmentValue::Array(elements) => {
                let words: Vec<&WordNode> =
                    elements.iter().flat_map(|(key, value)| key.iter().chain([value])).collect();
                for word in words {
                    self.scan(&word.value, Context::Word, inner);
                }
                let raw = node.value.to_string();
                Word { shown: raw.clone(), raw, ..Word::default() }
            }
        };
        Assignment { name, value }
    }

    fn scan(&mut self, raw: &str, context: Context, inner: &mut Inner) -> Vec<Unit> {
        let Scanned { units, scripts, gap } = word::scan(&self.hidden.restore(raw), context);
        inner.extend(scripts.into_iter().map(Substitution::Text));
        if let Some(gap) = gap {
            self.gap(gap);
        }
        units
    }

    /// Text that is no word of a command, only for what its substitutions run.
    fn substitutions_of(&mut self, raw: &str, context: Context) {
        let raw = self.hidden.restore(raw).into_owned();
        if !word::is_plain(&raw) {
            let mut inner = Inner::new();
            self.scan(&raw, context, &mut inner);
            self.run_inner(inner);
        }
    }

    /// A word that brace expansion leaves one.
    fn single_word(&mut self, raw: &str, inner: &mut Inner) -> Word {
        let raw = self.hidden.restore(raw).into_owned();
        if word::is_plain(&raw) {
            return plain_word(raw);
        }
        let units = self.scan(&raw, Context::Word, inner);
        word_of(raw, &units)
    }

    fn words(&mut self, raw: &str, words: &mut Vec<Word>, inner: &mut Inner) {
        let raw = self.hidden.restore(raw).into_owned();
        if word::is_plain(&raw) {
            words.push(plain_word(raw));
            return;
        }
        let units = self.scan(&raw, Context::Word, inner);
        match brace::expand(units) {
            Ok(expanded) if self.expanded_words + expanded.len() - 1 <= MAX_EXPANDED_WORDS => {
                self.expanded_words += expanded.len() - 1;
                words.extend(expanded.iter().map(|units| word_of(raw.clone(), units)));
            }
            _ => {
                self.gap(Gap::TooManyWords);
                words.push(Word { shown: raw.clone(), raw, ..Word::default() });
            }
        }
    }
}

fn plain_word(raw: String) -> Word {
    Word { glob: raw.contains(['*', '?', '[']), tilde: raw.starts_with('~'), ..known_word(raw) }
}

fn known_word(text: String) -> Word {
    Word { value: Some(text.clone()), raw: text, ..Word::default() }
}

/// `<(…)` is the name of a pipe that nobody knows beforehand.
fn process_word(kind: &ProcessSubstitutionKind) -> Word {
    let text = match kind {
        ProcessSubstitutionKind::Read => "<(…)",
        ProcessSubstitutionKind::Write => ">(…)",
    };
    Word { raw: text.to_owned(), shown: text.to_owned(), ..Word::default() }
}

fn word_of(raw: String, units: &[Unit]) -> Word {
    let mut text = String::with_capacity(raw.len());
    let mut known = true;
    let mut glob = false;
    for unit in units {
        match unit {
            Unit::Bare(character) => {
                glob |= matches!(character, '*' | '?' | '[');
                text.push(*character);
            }
            Unit::Quoted(character) => text.push(*character),
            Unit::Unknown(raw) => {
                known = false;
                text.push_str(raw);
            }
        }
    }
    let tilde = units.first() == Some(&Unit::Bare('~'));
    let (value, shown) = if known { (Some(text), String::new()) } else { (None, text) };
    Word { raw, value, glob, tilde, shown, ..Word::default() }
}

fn file_redirect_kind(kind: &IoFileRedirectKind) -> RedirectKind {
    match kind {
        IoFileRedirectKind::Read => RedirectKind::Read,
        IoFileRedirectKind::Write => RedirectKind::Write,
        IoFileRedirectKind::Append => RedirectKind::Append,
        IoFileRedirectKind::ReadAndWrite => RedirectKind::ReadWrite,
        IoFileRedirectKind::Clobber => RedirectKind::Clobber,
        IoFileRedirectKind::DuplicateInput => RedirectKind::DuplicateInput,
        IoFileRedirectKind::DuplicateOutput => RedirectKind::DuplicateOutput,
    }
}
