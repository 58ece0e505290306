//! Expands the words of commands, with known values in place of expansions.

use brush_parser::ast::{Assignment as AssignmentNode, AssignmentValue, ProcessSubstitutionKind};

use super::{MAX_EXPANDED_TEXT, MAX_EXPANDED_WORDS, Walker};
use crate::interpret::state::{Array, Expanded, Value, VariableName};
use crate::limits::{Gap, budget};
use crate::model::{Assignment, Word};
use crate::syntax::brace;
use crate::syntax::word_scan::{self, Context, Expansion, Scanned, Unit};

impl Walker<'_> {
    /// Expands an assignment. Also returns the elements of an array, if all of them are known.
    pub(super) fn expand_assignment(&mut self, node: &AssignmentNode) -> (Assignment, Option<Array>) {
        let name = node.name.to_string();
        self.scan(&name, Context::Text);
        let mut elements = None;
        let value = match &node.value {
            AssignmentValue::Scalar(word) => {
                let word = self.expand_to_single_word(&word.value);
                if node.append { self.appended_word(&name, word) } else { word }
            }
            AssignmentValue::Array(nodes) => {
                let mut words = Vec::new();
                let mut keys = Vec::new();
                for (key, value) in nodes {
                    keys.extend(key.as_ref().map(|key| self.expand_to_single_word(&key.value)));
                    self.expand_word(&value.value, &mut words);
                }
                let values = words.iter().map(Value::of).collect::<Option<Vec<_>>>();
                elements = values.and_then(|values| array_of(values, &keys));
                if node.append {
                    elements = elements.and_then(|more| self.state.appended_array(&name, more));
                }
                let raw = node.value.to_string();
                Word { shown: raw.clone(), raw, ..Word::default() }
            }
        };
        (Assignment { name, value }, elements)
    }

    /// Returns the value after `NAME+=more`.
    fn appended_word(&mut self, name: &str, more: Word) -> Word {
        let value = Value::of(&more).and_then(|more| self.state.appended_value(name, &more));
        self.effort.expanded_text += value.as_ref().map_or(0, |value| value.text.len());
        let value = value.filter(|_| self.effort.expanded_text <= MAX_EXPANDED_TEXT);
        let (known, placeholder) = match value.as_ref().map(|value| (value.text.to_string(), value.is_placeholder)) {
            Some((text, false)) => (Some(text), None),
            Some((text, true)) => (None, Some(text)),
            None => (None, None),
        };
        let (glob, tilde) = value.map_or((more.glob, more.tilde), |value| (value.glob, value.tilde));
        let shown = if known.is_none() { more.raw.clone() } else { String::new() };
        Word { value: known, placeholder, glob, tilde, shown, ..more }
    }

    /// Walks the substitutions in a word, and replaces its expansions with known values.
    pub(super) fn scan(&mut self, raw: &str, context: Context) -> Vec<Unit> {
        if !self.has_budget() {
            return Vec::new();
        }
        let Scanned { units, scripts, gap, length } = word_scan::scan(&self.hidden.restore(raw), context);
        self.spend(length);
        if let Some(gap) = gap {
            self.add_gap(gap);
        }
        for script in scripts {
            self.walk_command_substitution(&script);
        }
        let mut known = Vec::with_capacity(units.len());
        let mut units = units.into_iter().peekable();
        while let Some(unit) = units.next() {
            match unit {
                // Brace expansion comes first: `$a{b,c}` is `$ab $ac`.
                Unit::Expansion(expansion) if units.peek() == Some(&Unit::Bare('{')) && !expansion.is_closed() => {
                    known.push(Unit::Expansion(expansion));
                }
                Unit::Expansion(expansion) => self.expand(expansion, &mut known),
                other => known.push(other),
            }
        }
        known
    }

    /// Adds the value of an expansion to the units or, if the value is not known, the expansion itself.
    fn expand(&mut self, mut expansion: Box<Expansion>, units: &mut Vec<Unit>) {
        let value = self.value_of(&expansion);
        let fits = self.has_room_for(value.as_ref());
        let is_quoted = expansion.quoted;
        let separators = self.state.variables.field_separators();
        match value.filter(|_| fits) {
            Some(Expanded::One(value)) if value.is_placeholder => {
                expansion.placeholder = Some(value.text.to_string());
                units.push(Unit::Expansion(expansion));
            }
            Some(Expanded::One(value)) if is_quoted => {
                units.extend(value.text.is_empty().then_some(Unit::Empty));
                push_value(&value, None, units);
            }
            Some(Expanded::One(value)) if separators.is_some() => push_value(&value, separators.as_deref(), units),
            Some(Expanded::Several(_))
                if is_quoted && expansion.raw.contains('*') && self.state.variables.sets_separators() =>
            {
                units.push(Unit::Expansion(expansion));
            }
            Some(Expanded::Several(values))
                if separators.is_some() && (is_quoted || !values.iter().any(|value| value.is_placeholder)) =>
            {
                push_values(&values, &expansion, separators.as_deref().filter(|_| !is_quoted), units);
            }
            _ => {
                expansion.is_inherited = self.state.is_inherited_variable(&expansion.raw);
                units.push(Unit::Expansion(expansion));
            }
        }
    }

    /// Returns the value of an expansion. Walks its substitutions, and applies its assignments.
    fn value_of(&mut self, expansion: &Expansion) -> Option<Expanded> {
        if let Some(script) = &expansion.script {
            return self.walk_command_substitution(script).map(Expanded::One);
        }
        let raw = expansion.raw.as_str();
        if let Some(expression) = raw.strip_prefix("$((").and_then(|inside| inside.strip_suffix("))")) {
            let number = self.change_state(|state| state.evaluate(expression));
            let number = number.map_or_else(Value::unknown_number, |number| Value::literal(number.to_string()));
            return Some(Expanded::One(number));
        }
        let value = self.state.expand(raw).or_else(|| self.apply_default(raw));
        value.or_else(|| self.apply_alternative(raw))
    }

    /// True if the value may replace an expansion without exceeding the limit on added text.
    fn has_room_for(&mut self, value: Option<&Expanded>) -> bool {
        let (length, count) = match value {
            Some(Expanded::One(value)) => (value.text.len(), 1),
            Some(Expanded::Several(values)) => (values.iter().map(|value| value.text.len()).sum(), values.len()),
            None => (0, 1),
        };
        self.effort.expanded_text += length;
        self.effort.expanded_text <= MAX_EXPANDED_TEXT && self.spend(budget::WORD * count)
    }

    /// Returns the default in `${NAME:-default}` as a placeholder for the value, if the script does not set the
    /// variable. `${NAME:=default}` also assigns the default to the variable.
    fn apply_default(&mut self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix("${")?.strip_suffix('}')?;
        let (name, operator) = inside.split_at_checked(inside.find(['-', '=', ':'])?)?;
        let operator = operator.strip_prefix(':').unwrap_or(operator);
        if let Some(target) = name.strip_prefix('!').and_then(|name| self.state.target_name(name)) {
            let operator = inside.get(name.len()..)?;
            return self.apply_default(&format!("${{{target}{operator}}}"));
        }
        // `${!NAME:=…}` sets a variable whose name is not known.
        let set = if name.starts_with('!') { VariableName::StartsWith("") } else { VariableName::Known(name) };
        let name = name.strip_prefix('!').unwrap_or(name);
        let is_element = name.ends_with(']') && name.contains('[');
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (is_assigned, default) = match operator.split_at_checked(1)? {
            ("=", default) => (true, default),
            ("-", default) => (false, default),
            _ => return None,
        };
        if !is_name && !is_element && !matches!(name, "@" | "*") {
            return None;
        }
        let value = Value::of(&self.expand_to_single_word(default));
        if is_assigned {
            let plain = value.clone().map(|value| Value { is_placeholder: false, ..value });
            self.state.assign_default(set, plain.as_ref());
        }
        let value = value?;
        if self.state.variables.assumed_index.is_some() {
            return Some(Expanded::One(value));
        }
        if !value.text.is_empty() {
            self.alternatives.possible_count = self.alternatives.possible_count.max(1);
        }
        Some(Expanded::One(Value { is_placeholder: true, ..value }))
    }

    /// Returns the value of `${NAME:+other}`: `other`, or nothing if the variable is empty. Returns `None` if it is
    /// neither known nor assumed whether the variable is empty.
    fn apply_alternative(&mut self, raw: &str) -> Option<Expanded> {
        let inside = raw.strip_prefix("${")?.strip_suffix('}')?;
        let (name, other) = inside.split_once(":+").or_else(|| inside.split_once('+'))?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let word = self.expand_to_single_word(Some(other).filter(|_| is_name)?);
        let other = Value::of(&word)?;
        match self.state.expand(&format!("${name}")) {
            Some(Expanded::One(value)) if !value.text.is_empty() => Some(Expanded::One(other)),
            Some(Expanded::One(value)) if !value.is_placeholder => Some(Expanded::One(Value::literal(""))),
            _ if self.state.variables.assumed_index.is_some() => Some(Expanded::One(other)),
            _ => {
                self.alternatives.possible_count = self.alternatives.possible_count.max(1);
                None
            }
        }
    }

    /// Walks the substitutions in shell text that is not a word of a command.
    pub(super) fn walk_substitutions_in(&mut self, raw: &str, context: Context) {
        let raw = self.hidden.restore(raw).into_owned();
        if !word_scan::is_plain(&raw) {
            self.scan(&raw, context);
        }
    }

    /// Expands shell text into a single word, without field splitting.
    pub(super) fn expand_to_single_word(&mut self, raw: &str) -> Word {
        let raw = self.hidden.restore(raw).into_owned();
        if word_scan::is_plain(&raw) {
            return plain_word(raw);
        }
        let mut units = self.scan(&raw, Context::Word);
        for unit in &mut units {
            if *unit == Unit::Break {
                *unit = Unit::Quoted(' ');
            }
        }
        word_of(raw, &units)
    }

    /// Expands a word of a command, which may become several words or none.
    pub(super) fn expand_word(&mut self, raw: &str, words: &mut Vec<Word>) {
        if !self.spend(budget::WORD) {
            return;
        }
        let raw = self.hidden.restore(raw).into_owned();
        let first = words.len();
        if word_scan::is_plain(&raw) {
            words.push(plain_word(raw));
        } else {
            self.expand_special_word(raw, words);
        }
        if self.state.options.dotglob {
            let dotfiles: Vec<Word> = words.iter().skip(first).filter_map(matched_dotfile).collect();
            words.extend(dotfiles);
        }
    }

    /// Expands a word with quotes, expansions or braces.
    fn expand_special_word(&mut self, raw: String, words: &mut Vec<Word>) {
        let units = self.scan(&raw, Context::Word);
        match brace::expand(units) {
            Ok(expanded) if expanded.len() > 1 && !self.spend(expanded.iter().map(Vec::len).sum()) => {}
            Ok(expanded) if self.effort.expanded_words + expanded.len() - 1 <= MAX_EXPANDED_WORDS => {
                self.effort.expanded_words += expanded.len() - 1;
                let separate = expanded.iter().flat_map(|units| units.split(|unit| *unit == Unit::Break));
                // An unquoted expansion with an empty value leaves no word.
                words.extend(separate.filter(|units| !units.is_empty()).map(|units| word_of(raw.clone(), units)));
            }
            _ => {
                self.add_gap(Gap::TooManyWords);
                words.push(Word { shown: raw.clone(), raw, ..Word::default() });
            }
        }
    }
}

/// Makes an array of values and their keys. Returns `None` if only some values have keys, or a key is not known.
fn array_of(values: Vec<Value>, keys: &[Word]) -> Option<Array> {
    if keys.is_empty() {
        return Some(Array::List(values));
    }
    let keys: Vec<String> = keys.iter().map(|key| key.value.clone()).collect::<Option<_>>()?;
    (keys.len() == values.len()).then(|| Array::Map(keys.into_iter().zip(values).collect()))
}

/// Adds the values of `$@` or `${array[*]}` to the units. `separators`: the characters at which each value is split;
/// `None` in quotes.
fn push_values(values: &[Value], expansion: &Expansion, separators: Option<&str>, units: &mut Vec<Unit>) {
    // `"$*"` is one word.
    let is_joined = expansion.quoted && expansion.raw.contains('*');
    let between = if is_joined { Unit::Quoted(' ') } else { Unit::Break };
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            units.push(between.clone());
        }
        units.extend(expansion.quoted.then_some(Unit::Empty));
        if value.is_placeholder {
            let placeholder = Some(value.text.to_string());
            units.push(Unit::Expansion(Box::new(Expansion { placeholder, ..expansion.clone() })));
        } else {
            push_value(value, separators, units);
        }
    }
}

/// Adds a value to the units. `separators`: the characters at which the value is split; `None` in quotes.
fn push_value(value: &Value, separators: Option<&str>, units: &mut Vec<Unit>) {
    let is_first = units.iter().rev().take_while(|unit| **unit != Unit::Break).all(|unit| *unit == Unit::Empty);
    for (index, c) in value.text.chars().enumerate() {
        let is_glob = value.glob && matches!(c, '*' | '?' | '[');
        // If the value was joined from several words, it is not known which of the tildes in it were expanded. A tilde
        // that begins a word counts as expanded.
        let begins_word = index > 0 && units.last() == Some(&Unit::Break);
        let is_tilde = value.tilde && index == 0 && is_first || c == '~' && begins_word;
        match c {
            _ if is_glob || is_tilde => units.push(Unit::Bare(c)),
            '~' if value.tilde => units.push(Unit::Home),
            _ if separators.is_some_and(|separators| separators.contains(c)) => units.push(Unit::Break),
            '*' | '?' | '[' if separators.is_some() => units.push(Unit::Bare(c)),
            _ => units.push(Unit::Quoted(c)),
        }
    }
}

/// Returns a glob for the hidden names that the word, a glob, also matches under `shopt -s dotglob`.
fn matched_dotfile(word: &Word) -> Option<Word> {
    let text = word.value.as_deref().filter(|_| word.glob)?;
    let (directory, name) = text.rsplit_once('/').map_or(("", text), |(directory, name)| (directory, name));
    let between = if directory.is_empty() && !text.starts_with('/') { "" } else { "/" };
    let hidden = Some(format!("{directory}{between}.{name}")).filter(|_| name.starts_with(['*', '?', '[']));
    Some(Word { value: Some(hidden?), ..word.clone() })
}

fn plain_word(raw: String) -> Word {
    Word { glob: raw.contains(['*', '?', '[']), tilde: raw.starts_with('~'), ..known_word(raw) }
}

pub(super) fn known_word(text: String) -> Word {
    Word { value: Some(text.clone()), raw: text, ..Word::default() }
}

/// Returns the word for a process substitution. The shell replaces the substitution with the name of a pipe, which is
/// not known in advance.
pub(super) fn process_word(kind: &ProcessSubstitutionKind) -> Word {
    let text = match kind {
        ProcessSubstitutionKind::Read => "<(…)",
        ProcessSubstitutionKind::Write => ">(…)",
    };
    Word { raw: text.to_owned(), shown: text.to_owned(), ..Word::default() }
}

/// Makes a word of units.
pub(super) fn word_of(raw: String, units: &[Unit]) -> Word {
    let mut text = String::with_capacity(raw.len());
    let mut known = true;
    let mut glob = false;
    // True if the text since the last space is a path.
    let mut is_path = false;
    let ends_in_path = |before: bool, part: &str| match part.rsplit_once(char::is_whitespace) {
        Some((_, last)) => last.contains('/'),
        None => before || part.contains('/'),
    };
    let mut tilde = units.first() == Some(&Unit::Bare('~'));
    // Most words are known and need no placeholder.
    let is_unknown = units.iter().any(|unit| matches!(unit, Unit::Expansion(_)));
    let mut placeholder = is_unknown.then(String::new);
    let mut add_to_placeholder =
        |part: Option<&str>| placeholder = placeholder.take().zip(part).map(|(text, part)| text + part);
    let mut text_for_shell = is_unknown.then(String::new);
    let mut add_for_shell =
        |part: Option<&str>| text_for_shell = text_for_shell.take().zip(part).map(|(text, part)| text + part);
    for unit in units {
        match unit {
            Unit::Bare(character) | Unit::Quoted(character) => {
                glob |= matches!(unit, Unit::Bare('*' | '?' | '['));
                let mut bytes = [0; 4];
                let part: &str = character.encode_utf8(&mut bytes);
                is_path = ends_in_path(is_path, part);
                text.push_str(part);
                add_to_placeholder(Some(part));
                add_for_shell(Some(part));
            }
            Unit::Home => {
                tilde = true;
                text.push('~');
                add_to_placeholder(Some("~"));
                add_for_shell(Some("~"));
            }
            Unit::Expansion(expansion) => {
                known = false;
                // An unknown file name in a known directory may be any file in that directory.
                let something = is_path.then_some("*");
                let part = expansion.placeholder.as_deref().or(something);
                glob |= part.is_some_and(|part| part.contains('*'));
                is_path = ends_in_path(is_path, &expansion.raw);
                text.push_str(&expansion.raw);
                add_to_placeholder(part);
                let placeholder = expansion.placeholder.as_deref();
                add_for_shell(if expansion.is_inherited { Some(&expansion.raw) } else { placeholder });
            }
            Unit::Break => {
                is_path = false;
                text.push(' ');
            }
            Unit::Empty => {}
        }
    }
    let (value, shown) = if known { (Some(text), String::new()) } else { (None, text) };
    let (placeholder, text_for_shell) =
        (placeholder.filter(|_| !known), text_for_shell.filter(|_| !known && units.len() > 1));
    Word { raw, value, glob, tilde, placeholder, shown, text_for_shell, ..Word::default() }
}
