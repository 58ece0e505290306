//! How deep the parser will go into a list of tokens.
//!
//! Compound commands are followed as the parser will see them. Where that is not certain they are counted as open, and
//! only what certainly closes the innermost one closes it: the count is never too low.

use brush_parser::Token;

use super::Gap;

const MAX_CASES: usize = 8;
/// Where parentheses may be retried as plain tokens.
const MAX_RETRIED: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nested {
    Parenthesis,
    Brace,
    If,
    Loop,
    Case,
    Test,
}

#[derive(Default)]
struct Nesting<'a> {
    open: Vec<Nested>,
    /// How many are open around the outermost place where parentheses may be retried: `((` or `[[`.
    retried_from: Option<usize>,
    /// What nests without an end of its own: the operators of one test, and all coprocesses.
    test_operators: usize,
    coprocesses: usize,
    before_last: Option<&'a Token>,
    last: Option<&'a Token>,
}

pub(super) fn check(tokens: &[Token], limit: usize) -> Result<(), Gap> {
    let mut nesting = Nesting::default();
    for token in tokens {
        nesting.follow(token);
        if nesting.exceeds(limit) {
            return Err(Gap::TooDeep);
        }
    }
    Ok(())
}

impl<'a> Nesting<'a> {
    fn follow(&mut self, token: &'a Token) {
        match token {
            Token::Operator(operator, _) => self.operator(operator),
            Token::Word(word, _) if self.starts_command() => {
                self.opens(word);
                self.closes(word);
            }
            // A test is closed by a word that follows a word.
            Token::Word(word, _) if word == "]]" => self.closes(word),
            Token::Word(..) => {}
        }
        let text = token.to_str();
        if !self.open.contains(&Nested::Test) {
            self.test_operators = 0;
        } else if matches!(text, "!" | "&&" | "||") {
            self.test_operators += 1;
        }
        self.coprocesses += usize::from(text == "coproc");
        if self.retried_from.is_some_and(|from| self.open.len() <= from) {
            self.retried_from = None;
        }
        (self.before_last, self.last) = (self.last, Some(token));
    }

    fn exceeds(&self, limit: usize) -> bool {
        let cases = self.open.iter().filter(|nested| **nested == Nested::Case).count();
        let retried = self.retried_from.map_or(0, |from| self.open.len() - from);
        let depth = self.open.len() + self.test_operators + self.coprocesses;
        depth > limit || cases > MAX_CASES || retried > MAX_RETRIED
    }

    /// Whether the parser may look for a command here.
    fn starts_command(&self) -> bool {
        match self.last {
            None | Some(Token::Operator(..)) => true,
            Some(Token::Word(word, _)) => precedes_command(word) || self.before_last.is_some_and(introduces_name),
        }
    }

    fn operator(&mut self, operator: &str) {
        match operator {
            "(" => {
                if matches!(self.last, Some(Token::Operator(last, _)) if last == "(") {
                    self.retried_from.get_or_insert(self.open.len());
                }
                self.open.push(Nested::Parenthesis);
            }
            // In a `case` it ends a pattern.
            ")" if self.open.last() == Some(&Nested::Parenthesis) => _ = self.open.pop(),
            _ => {}
        }
    }

    fn opens(&mut self, word: &str) {
        let nested = match word {
            "{" => Nested::Brace,
            "if" => Nested::If,
            "for" | "while" | "until" => Nested::Loop,
            "case" => Nested::Case,
            "[[" => Nested::Test,
            _ => return,
        };
        if nested == Nested::Test {
            self.retried_from.get_or_insert(self.open.len());
        }
        self.open.push(nested);
    }

    fn closes(&mut self, word: &str) {
        let nested = match word {
            "}" => Nested::Brace,
            "fi" => Nested::If,
            "done" => Nested::Loop,
            "esac" => Nested::Case,
            "]]" => Nested::Test,
            _ => return,
        };
        if self.open.last() == Some(&nested) {
            self.open.pop();
        }
    }
}

/// Words behind which the parser looks for a command.
fn precedes_command(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "elif"
            | "else"
            | "fi"
            | "while"
            | "until"
            | "do"
            | "done"
            | "esac"
            | "in"
            | "{"
            | "}"
            | "!"
            | "time"
            | "-p"
            | "coproc"
            | "function"
            | "]]"
    )
}

/// `function f {` and `coproc n {`.
fn introduces_name(token: &Token) -> bool {
    matches!(token, Token::Word(word, _) if matches!(word.as_str(), "function" | "coproc"))
}
