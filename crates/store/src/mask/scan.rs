//! Finds the secrets in a string, in one pass from left to right.
//!
//! At `=`, `:`, white space and the starts of words, the scan looks at the bytes before and after its position. It
//! never looks inside a secret that it has found, so it never mistakes a piece of a secret for a name, and its time
//! stays linear.
//!
//! INVARIANT: every span starts and ends next to an ASCII byte, so its ends are character boundaries.

use std::ops::Range;

use super::MASK;
use super::secret_names::{SecretLikelihood, likelihood_of};
use super::token_shapes::{self, is_token_byte, looks_random};

/// Longer names are ignored.
const MAX_NAME_BYTES: usize = 64;

/// Returns the spans of secrets: in order, not overlapping, without those that are masked already.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut scanner = Scan { text, at: 0, found_until: 0, quote: None, programs: Programs::default() };
    let mut spans = Vec::new();
    while scanner.at < text.len() {
        let Some(secret) = scanner.secret_here() else {
            scanner.step();
            continue;
        };
        // There may be a token before the secret, such as a user name before a password.
        while scanner.at < secret.start {
            match scanner.token_before(secret.start) {
                Some(token) => spans.push(scanner.skip(token)),
                None => scanner.step(),
            }
        }
        spans.push(scanner.skip(secret));
    }
    spans.retain(|span| text.get(span.clone()) != Some(MASK));
    spans
}

/// True if the value of a field is a secret, judged by the field's name and the form of the value.
pub(super) fn is_secret_value(name: &str, value: &str) -> bool {
    match likelihood_of(name) {
        SecretLikelihood::Certain => is_literal(value, false),
        SecretLikelihood::Possible => looks_random(value),
        SecretLikelihood::None => false,
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// The end of the last secret found. A name cannot start before it.
    found_until: usize,
    /// The open quote at `at`, if any.
    quote: Option<u8>,
    programs: Programs,
}

/// Which programs with a special form of password arguments the text has named so far.
#[derive(Default)]
struct Programs {
    curl: bool,
    /// A `login` command, or `sshpass`.
    login: bool,
    /// Also `mariadb`.
    mysql: bool,
}

impl Programs {
    /// Notes the program whose name is at the start of `text`, if any.
    fn detect_at_start(&mut self, text: &str) {
        self.curl |= text.starts_with("curl");
        self.login |= text.starts_with("login") || text.starts_with("sshpass");
        self.mysql |= text.starts_with("mysql") || text.starts_with("mariadb");
    }
}

impl Scan<'_> {
    /// Returns the span of the secret that is recognized by the bytes at and around `at`, if any. The span may start
    /// later than `at`.
    fn secret_here(&mut self) -> Option<Range<usize>> {
        match self.byte(self.at) {
            b'=' => self.after_equals(),
            b':' if self.rest(self.at).starts_with("://") => self.in_url(),
            b':' => self.after_colon(),
            b' ' | b'\t' | b'\n' => self.after_flag(),
            b'-' if self.rest(self.at).starts_with("-----BEGIN ") => self.in_pem(),
            b'-' if self.is_at_word_start() => self.attached_to_flag(),
            byte if byte.is_ascii_alphabetic() && self.is_at_word_start() => {
                self.programs.detect_at_start(self.text.get(self.at..).unwrap_or_default());
                self.token_here()
            }
            _ => None,
        }
    }

    fn step(&mut self) {
        self.update_quote(self.at);
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        self.at += width;
    }

    /// Continues after `span`, and returns it.
    fn skip(&mut self, span: Range<usize>) -> Range<usize> {
        self.at = span.end;
        self.found_until = span.end;
        span
    }

    fn update_quote(&mut self, at: usize) {
        let byte = self.byte(at);
        let is_escaped = at > 0 && self.byte(at - 1) == b'\\';
        if is_escaped || !is_quote(byte) {
            return;
        }
        match self.quote {
            None => self.quote = Some(byte),
            Some(open) if open == byte => self.quote = None,
            Some(_) => {}
        }
    }

    // --- the bytes at a position -----------------------------------------------------------------------------------

    /// The byte at `at`; 0 beyond the end.
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or_default()
    }

    fn is_at_word_start(&self) -> bool {
        self.at == self.found_until || !is_token_byte(self.byte(self.at - 1))
    }

    /// The name that ends at `end`, without its quotes.
    fn name_before(&self, end: usize) -> Name<'_> {
        let mut stop = end;
        while stop > self.found_until && self.byte(stop - 1) == b' ' {
            stop -= 1;
        }
        let is_spaced = stop < end;
        let mut is_quoted = false;
        if stop > self.found_until && is_quote(self.byte(stop - 1)) {
            is_quoted = true;
            stop -= 1;
            if stop > self.found_until && self.byte(stop - 1) == b'\\' {
                stop -= 1;
            }
        }
        let mut start = stop;
        while start > self.found_until && stop - start < MAX_NAME_BYTES && is_name_byte(self.byte(start - 1)) {
            start -= 1;
        }
        let preceding_byte = if start > self.found_until { self.byte(start - 1) } else { b' ' };
        Name { text: self.text.get(start..stop).unwrap_or_default(), preceding_byte, is_quoted, is_spaced }
    }

    /// The value that starts at `from` or after the blanks there.
    fn value_at(&self, from: usize) -> Option<Word> {
        let mut start = from;
        while self.byte(start) == b' ' || self.byte(start) == b'\t' {
            start += 1;
        }
        let is_spaced = start > from;
        let escape = usize::from(self.byte(start) == b'\\' && is_quote(self.byte(start + 1)));
        let quote = self.byte(start + escape);
        if is_quote(quote) {
            if escape == 0 && self.quote == Some(quote) {
                return None;
            }
            let inner = start + escape + 1;
            let end = self.closing_quote(inner, quote, escape == 1)?;
            return Some(Word { span: inner..end, quote: Some(quote), is_spaced });
        }
        Some(Word { span: start..self.end_of_word(start), quote: None, is_spaced })
    }

    fn closing_quote(&self, from: usize, quote: u8, escaped: bool) -> Option<usize> {
        let mut at = from;
        while at < self.text.len() {
            match self.byte(at) {
                b'\\' if escaped && self.byte(at + 1) == quote => return Some(at),
                b'\\' if quote == b'"' => at += 2,
                byte if byte == quote && !escaped => return Some(at),
                byte if byte == quote => return None,
                _ => at += 1,
            }
        }
        None
    }

    /// Returns where the shell would end a word that starts at `from`, or where the surrounding quote ends if that is
    /// earlier.
    fn end_of_word(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.text.len() {
            match self.byte(at) {
                byte if byte.is_ascii_whitespace()
                    || matches!(byte, b';' | b'|' | b'&' | b')' | b'<' | b'>' | b'`') =>
                {
                    break;
                }
                b'\\' if is_quote(self.byte(at + 1)) => break,
                quote if is_quote(quote) => {
                    if self.quote == Some(quote) || at == from {
                        break;
                    }
                    match self.closing_quote(at + 1, quote, false) {
                        Some(close) => at = close + 1,
                        None => break,
                    }
                }
                _ => at += 1,
            }
        }
        at
    }

    fn literal_span(&self, word: Word) -> Option<Range<usize>> {
        let value = self.text.get(word.span.clone())?;
        is_literal(value, word.quote == Some(b'\'')).then_some(word.span)
    }

    fn random_span(&self, word: Word) -> Option<Range<usize>> {
        looks_random(self.text.get(word.span.clone())?).then_some(word.span)
    }

    fn span_by_likelihood(&self, likelihood: SecretLikelihood, word: Word) -> Option<Range<usize>> {
        match likelihood {
            SecretLikelihood::Certain => self.literal_span(word),
            SecretLikelihood::Possible => self.random_span(word),
            SecretLikelihood::None => None,
        }
    }

    // --- the forms of secrets ---------------------------------------------------------------------------------------

    /// `NAME=value`, `--name=value`, `?name=value`, `name = "value"`.
    fn after_equals(&self) -> Option<Range<usize>> {
        if matches!(self.byte(self.at + 1), b'=' | b'~' | b'>') {
            return None;
        }
        let name = self.name_before(self.at);
        let likelihood = likelihood_of(name.text);
        if likelihood == SecretLikelihood::None {
            return None;
        }
        let word = self.value_at(self.at + 1)?;
        let looks_like_code = (name.is_spaced || word.is_spaced) && word.quote.is_none();
        let is_uncertain = looks_like_code || name.preceding_byte == b'$';
        self.span_by_likelihood(if is_uncertain { SecretLikelihood::Possible } else { likelihood }, word)
    }

    /// `"name": "value"`, `Name: value`.
    fn after_colon(&self) -> Option<Range<usize>> {
        let name = self.name_before(self.at);
        if name.text.is_empty() || name.preceding_byte == b'/' {
            return None;
        }
        if ["authorization", "proxy-authorization"].iter().any(|header| name.text.eq_ignore_ascii_case(header)) {
            return self.after_authorization();
        }
        if ["cookie", "set-cookie"].iter().any(|header| name.text.eq_ignore_ascii_case(header)) && self.quote.is_some()
        {
            return self
                .line_from(self.at + 1)
                .filter(|line| is_literal(self.text.get(line.clone()).unwrap_or(""), false));
        }
        let likelihood = likelihood_of(name.text);
        if likelihood == SecretLikelihood::None {
            return None;
        }
        let word = self.value_at(self.at + 1)?;
        if likelihood == SecretLikelihood::Certain && word.quote.is_none() && word.is_spaced && !name.is_quoted {
            let value = self.text.get(word.span.clone())?;
            return looks_like_password(value).then_some(word.span);
        }
        let is_uncertain = word.quote.is_none();
        self.span_by_likelihood(if is_uncertain { SecretLikelihood::Possible } else { likelihood }, word)
    }

    /// Returns the span of the secret in an `Authorization` header: the word after a scheme such as `Basic`, or a
    /// single word that looks random.
    fn after_authorization(&self) -> Option<Range<usize>> {
        let mut line = self.line_from(self.at + 1)?;
        let text = self.text.get(line.clone())?;
        if let Some((scheme, credentials)) = text.split_once(' ') {
            let credentials = credentials.trim_start();
            let may_have_spaces = scheme.eq_ignore_ascii_case("digest") || scheme.starts_with("AWS4-");
            if !may_have_spaces && credentials.contains(' ') {
                return None;
            }
            line.start = line.end - credentials.len();
            return is_literal(credentials, false).then_some(line);
        }
        self.random_span(Word { span: line, quote: None, is_spaced: true })
    }

    /// Returns the span from `from`, without leading blanks and an opening quote, to the end of the quote or the line.
    fn line_from(&self, from: usize) -> Option<Range<usize>> {
        let mut start = from;
        while self.byte(start) == b' ' || (is_quote(self.byte(start)) && self.quote != Some(self.byte(start))) {
            start += 1;
        }
        let rest = self.text.get(start..)?;
        let length = rest.find(['"', '\'', '\n', '\r', '\\']).unwrap_or(rest.len());
        let line = rest.get(..length)?.trim_end();
        (!line.is_empty()).then_some(start..start + line.len())
    }

    /// `--password value`, `--token value`; `-u user:value` of curl, `-p value` of `login` commands.
    fn after_flag(&self) -> Option<Range<usize>> {
        let flag_end = self.at;
        let mut start = flag_end;
        while start > self.found_until && flag_end - start < MAX_NAME_BYTES && is_name_byte(self.byte(start - 1)) {
            start -= 1;
        }
        let flag = self.text.get(start..flag_end)?;
        if !flag.starts_with('-') {
            return None;
        }
        let is_user = matches!(flag, "-u" | "--user" | "--proxy-user");
        let is_password = flag == "-p";
        let likelihood = if flag.len() > 3 { likelihood_of(flag) } else { SecretLikelihood::None };
        if !is_user && !is_password && likelihood == SecretLikelihood::None {
            return None;
        }
        let word = self.value_at(self.skip_line_continuation(flag_end))?;
        let value = self.text.get(word.span.clone())?;
        if value.starts_with('-') || ["id=", "type=", "src="].iter().any(|part| value.starts_with(part)) {
            return None;
        }
        if is_user {
            return if self.programs.curl { self.password_of(word) } else { None };
        }
        if is_password {
            return if self.programs.login { self.literal_span(word) } else { None };
        }
        self.span_by_likelihood(likelihood, word)
    }

    /// Skips a backslash and newline, by which a command continues on the next line.
    fn skip_line_continuation(&self, from: usize) -> usize {
        let blanks = self.rest(from).bytes().take_while(|byte| *byte == b' ').count();
        if self.rest(from + blanks).starts_with("\\\n") { from + blanks + 2 } else { from }
    }

    /// `-uuser:value` of curl, `-pvalue` of mysql.
    fn attached_to_flag(&self) -> Option<Range<usize>> {
        let flag = self.byte(self.at + 1);
        if !matches!(flag, b'u' | b'p') || matches!(self.byte(self.at + 2), b' ' | b'\n' | b'-' | 0) {
            return None;
        }
        let start = self.at + 2;
        let word = Word { span: start..self.end_of_word(start), quote: None, is_spaced: false };
        if flag == b'u' && self.programs.curl {
            return self.password_of(word);
        }
        if flag == b'p' && self.programs.mysql && !word.span.is_empty() {
            return self.literal_span(word);
        }
        None
    }

    /// The password in `user:password`.
    fn password_of(&self, mut word: Word) -> Option<Range<usize>> {
        let colon = self.text.get(word.span.clone())?.find(':')?;
        word.span.start += colon + 1;
        self.literal_span(word)
    }

    /// `scheme://user:password@host`, `scheme://token@host`.
    fn in_url(&self) -> Option<Range<usize>> {
        let start = self.at + "://".len();
        let rest = self.text.get(start..)?;
        let length = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\'))
            .unwrap_or(rest.len());
        let user = rest.get(..length)?.rfind('@')?;
        let word = Word { span: start..start + user, quote: None, is_spaced: false };
        if rest.get(..user)?.contains(':') { self.password_of(word) } else { self.random_span(word) }
    }

    /// The body of a private key, up to the end of the string if the key is truncated.
    fn in_pem(&self) -> Option<Range<usize>> {
        const MIN_LENGTH: usize = 32;
        let rest = self.text.get(self.at..)?;
        let header = rest.get("-----BEGIN ".len()..)?.find("-----")? + "-----BEGIN -----".len();
        if header > MAX_NAME_BYTES || !rest.get(..header)?.contains("PRIVATE KEY") {
            return None;
        }
        let body = rest.get(header..)?;
        let length = body.find("-----END").unwrap_or(body.len());
        let is_body =
            |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:,-".contains(byte);
        let looks_like_key = body.bytes().take(MIN_LENGTH).take_while(is_body).count() == MIN_LENGTH;
        (length >= MIN_LENGTH && looks_like_key).then(|| self.at + header..self.at + header + length)
    }

    /// A token of a known shape that starts here and ends before `end`.
    fn token_before(&self, end: usize) -> Option<Range<usize>> {
        if !self.is_at_word_start() {
            return None;
        }
        let length = token_shapes::token_length(self.text.get(self.at..end)?)?;
        Some(self.at..self.at + length)
    }

    /// A token of a known shape, or a random word after `Bearer`.
    fn token_here(&self) -> Option<Range<usize>> {
        const BEARER: &str = "bearer ";
        let rest = self.text.get(self.at..)?;
        if let Some(length) = token_shapes::token_length(rest) {
            return Some(self.at..self.at + length);
        }
        if !rest.get(..BEARER.len())?.eq_ignore_ascii_case(BEARER) {
            return None;
        }
        let start = self.at + BEARER.len();
        self.random_span(Word { span: start..self.end_of_word(start), quote: None, is_spaced: true })
    }
}

/// A name before `=` or `:`.
struct Name<'t> {
    text: &'t str,
    /// The byte before the name; a blank at the start of the string.
    preceding_byte: u8,
    is_quoted: bool,
    /// True if blanks follow the name.
    is_spaced: bool,
}

/// A value after `=`, `:` or a flag, without its quotes.
struct Word {
    span: Range<usize>,
    quote: Option<u8>,
    /// True if blanks precede the value.
    is_spaced: bool,
}

fn is_quote(byte: u8) -> bool {
    byte == b'"' || byte == b'\''
}

fn is_name_byte(byte: u8) -> bool {
    is_token_byte(byte) || byte == b'.'
}

/// True for a value that is not empty, not a reference such as `$TOKEN`, and not a keyword such as `true`.
fn is_literal(value: &str, single_quoted: bool) -> bool {
    let mut start = value.chars();
    let is_reference = match (start.next(), start.next()) {
        (Some('$'), Some(next)) => !single_quoted && (next.is_ascii_alphabetic() || matches!(next, '_' | '{' | '(')),
        (None | Some('<' | '`'), _) | (Some('{'), Some('{')) => true,
        (Some('%'), _) => value.len() > 1 && value.ends_with('%'),
        _ => false,
    };
    let keywords = ["true", "false", "null", "none", "nil", "undefined", "yes", "no"];
    !is_reference && !keywords.iter().any(|keyword| value.eq_ignore_ascii_case(keyword))
}

/// True if an unquoted value after `name:` looks like a password and not like prose: it has letters and digits, and is
/// neither a version nor a path.
fn looks_like_password(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= 6 && letters > 1 && digits > 0 && !value.contains('/') && is_literal(value, false)
}
