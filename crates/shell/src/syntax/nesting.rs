//! Limits how deep the parser recurses into a list of tokens.
//!
//! Tracks the compound commands that the parser would see. A token that may open a command counts as opening it. A
//! command only counts as closed if it is the innermost command and the token certainly closes it. So the count of open
//! commands is never too low.

use brush_parser::Token;

use crate::limits::Gap;

/// The maximum number of nested `case` commands.
const MAX_CASES: usize = 8;
/// The maximum number of levels that the parser may parse twice, each of which doubles the time: `case`, parentheses in
/// `((` and `[[`, and process substitutions, which the parser tries with and without the number in `2>`.
const MAX_RETRIED: usize = 10;

/// A construct that nests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nested {
    Parenthesis,
    ProcessSubstitution,
    Brace,
    If,
    Loop,
    Case,
    Test,
}

/// The open constructs at the current token.
#[derive(Default)]
struct Nesting<'a> {
    open: Vec<Nested>,
    /// The number of open levels at the outermost `((` or `[[`, inside which parentheses may be parsed twice.
    retried_from: Option<usize>,
    /// The number of operators (`!`, `&&`, `||`) in the open `[[`. These operators nest without a closing token, as do
    /// coprocesses.
    test_operators: usize,
    coprocesses: usize,
    before_last: Option<&'a Token>,
    last: Option<&'a Token>,
    /// True if the last token closed one of the open constructs.
    last_closed: bool,
}

/// Rejects tokens that nest deeper than the limit.
pub(crate) fn check(tokens: &[Token], limit: usize) -> Result<(), Gap> {
    let mut nesting = Nesting::default();
    for (token, next) in tokens.iter().zip(tokens.iter().skip(1).map(Some).chain([None])) {
        nesting.follow(token, next);
        if nesting.exceeds(limit) {
            return Err(Gap::TooDeep);
        }
    }
    Ok(())
}

impl<'a> Nesting<'a> {
    fn follow(&mut self, token: &'a Token, next: Option<&Token>) {
        let open_before = self.open.len();
        match token {
            Token::Operator(operator, _) => self.follow_operator(operator),
            Token::Word(word, _) => {
                if self.starts_command() {
                    self.open_command(word);
                }
                self.close_command(word, next);
            }
        }
        self.last_closed = self.open.len() < open_before;
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
        let processes = self.open.iter().filter(|nested| **nested == Nested::ProcessSubstitution).count();
        let retried = self.retried_from.map_or(0, |from| self.open.len() - from) + cases + processes;
        let depth = self.open.len() + self.test_operators + self.coprocesses;
        depth > limit || cases > MAX_CASES || retried > MAX_RETRIED
    }

    /// True if the parser may expect a command at the current token.
    fn starts_command(&self) -> bool {
        match self.last {
            None | Some(Token::Operator(..)) => true,
            Some(Token::Word(word, _)) => precedes_command(word) || self.before_last.is_some_and(introduces_name),
        }
    }

    fn follow_operator(&mut self, operator: &str) {
        match operator {
            "(" => {
                let last = self.last.map(Token::to_str);
                if last == Some("(") {
                    self.retried_from.get_or_insert(self.open.len());
                }
                let is_process_substitution = matches!(last, Some("<" | ">"));
                self.open.push(if is_process_substitution { Nested::ProcessSubstitution } else { Nested::Parenthesis });
            }
            // In a `case`, this parenthesis ends a pattern instead.
            ")" if matches!(self.open.last(), Some(Nested::Parenthesis | Nested::ProcessSubstitution)) => {
                self.open.pop();
            }
            _ => {}
        }
    }

    fn open_command(&mut self, word: &str) {
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

    fn close_command(&mut self, word: &str, next: Option<&Token>) {
        let follows_end = self.last_closed || self.last.is_some_and(ends_command);
        let (nested, is_certain) = match word {
            "}" => (Nested::Brace, follows_end),
            "fi" => (Nested::If, follows_end),
            "done" => (Nested::Loop, follows_end),
            // Before `)` and `|`, the parser first reads `esac` as a pattern.
            "esac" => {
                let is_pattern = matches!(next, Some(Token::Operator(next, _)) if matches!(next.as_str(), ")" | "|"));
                let follows_in = matches!(self.last, Some(Token::Word(last, _)) if last == "in");
                (Nested::Case, (follows_end || follows_in) && !is_pattern)
            }
            // Before a word, `]]` may be an operand.
            "]]" => (Nested::Test, !matches!(next, Some(Token::Word(..)))),
            _ => return,
        };
        if is_certain && self.open.last() == Some(&nested) {
            self.open.pop();
        }
    }
}

/// True if the token ends a command, so that the next token is not an argument.
fn ends_command(token: &Token) -> bool {
    matches!(token, Token::Operator(operator, _) if matches!(operator.as_str(), ";" | "\n" | "&" | ";;" | ";&" | ";;&" | ")"))
}

/// Words after which the parser expects a command.
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

/// True for the keyword in `function f {` or `coproc n {`.
fn introduces_name(token: &Token) -> bool {
    matches!(token, Token::Word(word, _) if matches!(word.as_str(), "function" | "coproc"))
}
