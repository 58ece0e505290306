//! Calls the parser, but only for scripts that it can parse in bounded time and with a bounded stack.
//!
//! Measured with brush-parser 0.4.0, release build, 8 MiB of stack:
//! - each nested `case` whose last item lacks `;;` doubles the time (26 of them: 20 s);
//! - each open parenthesis inside `((` or `[[ … =~` doubles the time if none is closed (22: 0.6 s);
//! - each process substitution after a numbered redirection (`2> <(`) doubles the time if none is closed;
//! - compound commands overflow the stack at about 1,600 levels, as do chains of `coproc` and of `!` in `[[`; `$(`,
//!   `${` and `$[` overflow the stack at some thousands of levels;
//! - an array index is parsed by recursion, and overflows the stack as well (`a[a[a[…`);
//! - after an empty heredoc tag (`cat <<'' `), the parser never finds the end of the script, and exhausts the memory;
//! - a file descriptor greater than `i32::MAX` (`99999999999>x`) causes a panic;
//! - an expansion after `<<TAG` on the same line is split: `a <<E $(b)` becomes the words `a b $()`.
//!
//! The parser's word grammar (`brush_parser::word`) and its global caches are not used at all.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::Program;
use brush_parser::{ParserOptions, Token, parse_tokens, uncached_tokenize_str};

use crate::limits::{Gap, MAX_BYTES, MAX_NESTING};
use crate::syntax::{double_parentheses, nesting, parse_errors, select};

/// The maximum number of open expansions, as [`open_expansions`] counts them. The maximum is higher than the nesting
/// limit, because the count may be too high, but low enough for the stack.
const MAX_OPEN_EXPANSIONS: usize = 100;
/// The maximum number of double parentheses in a script that start two subshells instead of arithmetic.
const MAX_SPLITS: usize = 16;
/// The maximum number of brackets, quotes and expansions in an array index.
const MAX_INDEX_PARTS: usize = 32;

/// Parses a script that is nested `depth` levels deep in another script.
pub(crate) fn parse(text: &str, depth: usize) -> Result<Program, Gap> {
    if text.len() > MAX_BYTES {
        return Err(Gap::TooLong);
    }
    if text.contains('\0') {
        return Err(Gap::Nul);
    }
    if depth >= MAX_NESTING || open_expansions(text) > MAX_OPEN_EXPANSIONS {
        return Err(Gap::TooDeep);
    }
    let text = with_final_newline(text)?;
    // Extended globs are off unless a script turns them on. If `!(rm x)` were read as an extended glob, the command
    // `rm x` would not be found.
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    // The parser is a dependency with assertions. A panic counts as a rejected script.
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut text = text;
        for _ in 0..MAX_SPLITS {
            let tokens = uncached_tokenize_str(&text, &options.tokenizer_options())
                .map_err(|error| Gap::Rejected(parse_errors::message_of_token_error(&error)))?;
            let without_select = select::select_as_for(&text, &tokens);
            let grammar = without_select.as_deref().unwrap_or(&tokens);
            nesting::check(grammar, MAX_NESTING - depth)?;
            let Some(index) = double_parentheses::subshell_split(&text, &tokens)? else {
                return check_and_parse(&text, &tokens, grammar, &options);
            };
            let offset = text.char_indices().nth(index).map_or(text.len(), |(offset, _)| offset);
            text.to_mut().insert(offset, '\n');
        }
        Err(Gap::Doubtful("many double parentheses"))
    }));
    result.unwrap_or_else(|_| Err(Gap::Rejected("the parser failed".to_owned())))
}

/// Appends a newline, because the tokenizer expects a newline after the tag of a heredoc.
fn with_final_newline(text: &str) -> Result<Cow<'_, str>, Gap> {
    if !text.contains("<<") {
        return Ok(Cow::Borrowed(text));
    }
    let trailing_backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if trailing_backslashes % 2 == 1 {
        return Err(Gap::Rejected("it ends with a backslash".to_owned()));
    }
    Ok(Cow::Owned(format!("{text}\n")))
}

/// Checks the tokens of the text, and then parses `grammar`: the tokens with `for` in place of `select`.
fn check_and_parse(text: &str, tokens: &[Token], grammar: &[Token], options: &ParserOptions) -> Result<Program, Gap> {
    check_words(tokens)?;
    check_heredocs(text, tokens)?;
    check_nothing_lost(text, tokens)?;
    parse_tokens(grammar, options).map_err(|error| Gap::Rejected(parse_errors::message_of_grammar_error(text, &error)))
}

/// Returns the maximum number of `$(`, `${` and `$[` that the tokenizer, which is recursive, may have open at the same
/// time. The number is never too low: an expansion only counts as closed if nothing in it could change how the
/// tokenizer reads the closing character.
fn open_expansions(text: &str) -> usize {
    let bytes = text.as_bytes();
    // Expansions whose end is not certain, and that count as open to the end of the script.
    let mut never_closed = 0;
    let mut most = 0;
    let mut open: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let opened: Option<(usize, &[u8])> = match rest {
            [b'$', b'(', b'(', ..] => Some((3, b"))")),
            [b'$', b'(', ..] => Some((2, b")")),
            [b'$', b'{', ..] => Some((2, b"}")),
            [b'$', b'[', ..] => Some((2, b"]")),
            _ => None,
        };
        if let Some((length, closing)) = opened {
            open.push(closing);
            most = most.max(never_closed + open.len());
            at += length;
            continue;
        }
        match open.last() {
            Some(closing) if rest.starts_with(closing) => {
                at += closing.len();
                open.pop();
                continue;
            }
            Some(_) if matches!(rest, [b'\'' | b'"' | b'\\' | b'`' | b'#' | b'<' | b'(' | b')' | b'\n', ..]) => {
                never_closed += open.len();
                open.clear();
            }
            _ => {}
        }
        at += 1;
    }
    most
}

/// Rejects words that would make the parser recurse too deeply or panic.
fn check_words(tokens: &[Token]) -> Result<(), Gap> {
    let too_deep = |token: &Token| matches!(token, Token::Word(word, _) if index_parts(word) > MAX_INDEX_PARTS);
    if tokens.iter().any(too_deep) {
        return Err(Gap::TooDeep);
    }
    let panics = |pair: (&Token, &Token)| match pair {
        (Token::Word(number, number_at), Token::Operator(operator, operator_at)) => {
            operator.starts_with(['<', '>'])
                && number_at.end.index == operator_at.start.index
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && number.parse::<i32>().is_err()
        }
        _ => false,
    };
    if tokens.iter().zip(tokens.iter().skip(1)).any(panics) {
        return Err(Gap::Rejected("file descriptor out of range".to_owned()));
    }
    Ok(())
}

/// Rejects lines with `<<` that the tokenizer splits incorrectly. The tokens of such lines are unreliable, so this
/// function looks at the text at the positions of the tokens.
fn check_heredocs(text: &str, tokens: &[Token]) -> Result<(), Gap> {
    if !text.contains("<<") || !has_expansion(text) {
        return Ok(());
    }
    let offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
    let source = |from: usize, to: usize| {
        let (from, to) = (offsets.get(from).copied()?, offsets.get(to).copied()?);
        text.get(from..to)
    };
    // A here-string has no body.
    let after_tag = |line: &str| line.replace("<<<", "   ").split_once("<<").map(|(_, after)| after.to_owned());
    let is_split_incorrectly = |line: &str| after_tag(line).is_some_and(|after| has_expansion(&after));
    let rejection = || Gap::Rejected("an expansion after `<<` on the same line".to_owned());
    // The tokens contain no comments. So if the text contains `#`, `check_nothing_lost` cannot tell whether anything
    // else is missing.
    if text.contains('#') && text.split('\n').any(is_split_incorrectly) {
        return Err(rejection());
    }
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        let location = token.location();
        let is_split = match token {
            Token::Operator(operator, _) if operator == "<<" || operator == "<<-" => {
                // Skips the tag, the body and the closing tag, which contain no commands for the parser.
                let _ = rest.nth(2);
                let after = source(location.end.index, offsets.len() - 1).unwrap_or(text);
                has_expansion(after.split('\n').next().unwrap_or_default())
            }
            Token::Operator(..) => false,
            // In a substitution, the tokenizer does not find the end of arithmetic, and reads a later `<<` as part of
            // the arithmetic.
            Token::Word(word, _) if has_arithmetic_command(word) => return Err(Gap::Doubtful(ARITHMETIC)),
            Token::Word(word, _) => {
                let written = source(location.start.index, location.end.index).unwrap_or(word);
                has_substitution(written) && written.split('\n').any(is_split_incorrectly)
            }
        };
        if is_split {
            return Err(rejection());
        }
    }
    Ok(())
}

const ARITHMETIC: &str = "arithmetic in a substitution, and a heredoc";

/// True if the word contains a command substitution, and `((` where a command may start.
fn has_arithmetic_command(word: &str) -> bool {
    let begins = |before: &str| {
        let before = before.trim_end_matches([' ', '\t']);
        let last = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        before.ends_with(['(', ';', '\n', '&', '|', '{', '!', '`'])
            || matches!(last, "for" | "if" | "elif" | "while" | "until" | "then" | "do" | "else" | "time")
    };
    let mut commands = word.match_indices("((").filter_map(|(index, _)| word.get(..index)).filter(|text| begins(text));
    commands.next().is_some() && has_unquoted_substitution(word)
}

/// True if the word contains a command substitution outside of single quotes.
fn has_unquoted_substitution(word: &str) -> bool {
    let (mut is_single, mut is_double) = (false, false);
    let mut rest = word;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\'' if !is_double => is_single = !is_single,
            _ if is_single => {}
            '"' => is_double = !is_double,
            '\\' => rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default(),
            '`' => return true,
            '$' if rest.starts_with('(') && !rest.starts_with("((") => return true,
            _ => {}
        }
    }
    false
}

/// Checks that the tokens contain the whole text except whitespace and comments. Otherwise a command may be missing.
/// Only the tokenizer knows which `#` starts a comment, so text with a `#` is not checked.
fn check_nothing_lost(text: &str, tokens: &[Token]) -> Result<(), Gap> {
    if text.contains('#') {
        return Ok(());
    }
    let visible = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
    let kept: usize = tokens.iter().map(|token| visible(token.to_str())).sum();
    let continued_lines = text.matches("\\\n").count();
    if (kept..=kept + continued_lines).contains(&visible(text)) {
        Ok(())
    } else {
        Err(Gap::Rejected("the parser skipped part of it".to_owned()))
    }
}

fn has_expansion(text: &str) -> bool {
    ["$(", "${", "$["].iter().any(|opening| text.contains(opening))
}

/// True if the word contains `$(`. Does not count `$((`, in which `<<` is an operator.
fn has_substitution(word: &str) -> bool {
    word.split("$(").skip(1).any(|after| !after.starts_with('('))
}

/// Returns the number of brackets, quotes and expansions in `name[index]`, which the parser reads as the start of an
/// assignment.
fn index_parts(word: &str) -> usize {
    let name = word.find(|character: char| !character.is_ascii_alphanumeric() && character != '_').unwrap_or(0);
    let Some(index) = word.get(name..).filter(|index| name > 0 && index.starts_with('[')) else { return 0 };
    let index = index.split_once("]=").map_or(index, |(index, _)| index);
    index.bytes().filter(|byte| b"[({$`\"'".contains(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heredoc_with_an_empty_tag_ends() {
        for text in [
            "cat <<'' ",
            "cat <<\"\" x ",
            "$(cat <<  ",
            "cat <<'' \\\n",
            "cat <<'' \"a\nb\" ",
            "cat <<'' << ",
            "a <<'' #\\",
        ] {
            let _ = parse(text, 0);
        }
        assert!(parse("cat <<''\nx\n\n", 0).is_ok());
    }

    #[test]
    fn closed_expansions_do_not_count_as_nesting() {
        assert_eq!(open_expansions(&"${a} $(b c) $((1+2)) $[3] ".repeat(500)), 1);
        assert_eq!(open_expansions("${a:-${b:-$(c)}}"), 3);
        assert_eq!(open_expansions(&"\"${a}\"'$b' ".repeat(500)), 1);
        assert_eq!(open_expansions(&"$( ')' ".repeat(500)), 500);
        assert_eq!(open_expansions(&"$(a <<E\n)".repeat(500)), 500);
    }
}
