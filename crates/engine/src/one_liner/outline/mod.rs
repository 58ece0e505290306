//! Languages that are only looked over: strings and comments are told from code, and calls of the functions that a
//! table knows are looked for. What stands in the place of a constant is not known, but for variables that are nothing
//! else (`constant`).

mod callee;
mod constant;
mod renaming;
mod spelling;
mod token;
mod tongue;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use constant::Constants;
use spelling::spelled;
use token::{Token, Tokens, behind_print, tokens};
use tongue::{Deed, Tongue};

use super::{MAX_BYTES, OneLiner, Spawn};
use crate::event::Access;

/// Of longer calls, nobody knows the end.
const LONGEST_CALL: usize = 512;

pub(super) fn is_for(program: &str) -> bool {
    Tongue::of(program).is_some()
}

/// `None` for a program whose texts are not looked over.
pub(super) fn read(program: &str, text: &str) -> Option<OneLiner> {
    let tongue = Tongue::of(program)?;
    if text.len() > MAX_BYTES || text.contains('\0') {
        return Some(OneLiner::default());
    }
    let text = spelled(tongue.spelling, text);
    let mut outline = Outline {
        tongue,
        tokens: Vec::new(),
        aliases: Vec::new(),
        given: HashSet::new(),
        constants: Constants::new(),
        has_moved: false,
        found: OneLiner { complete: true, ..OneLiner::default() },
    };
    for code in readings(tongue, &text) {
        let Tokens { list, is_whole } = tokens(tongue, code);
        outline.found.complete &= is_whole;
        outline.tokens = list;
        outline.aliases = callee::aliases(&outline.tokens);
        outline.given = callee::given(&outline.tokens);
        outline.constants = constant::constants(tongue, &outline.tokens);
        outline.look_over();
    }
    // What is told from a folder that nobody followed is not where it seems to be.
    let mut touches = outline.found.touches.iter();
    let is_astray = !outline.found.spawns.is_empty() || touches.any(|(_, path)| !path.starts_with(['/', '~']));
    outline.found.complete &= !(outline.has_moved && is_astray);
    Some(outline.found)
}

/// Where the code of a text begins. Of a file, all before `<?` is printed; of an argument, nothing is. Only what begins
/// with a tag is surely a file, since no code does; all else with a `<?` in it may be either.
fn readings<'t>(tongue: &Tongue, text: &'t str) -> Vec<&'t str> {
    let Some(code) = behind_print(tongue, text) else { return vec![text] };
    let first_line = text.find('\n').filter(|_| text.starts_with("#!")).unwrap_or(0);
    let start = text.get(first_line..).unwrap_or(text).trim_start();
    if start.starts_with('<') && !start.starts_with("<<<") { vec![code] } else { vec![text, code] }
}

struct Outline<'t> {
    tongue: &'static Tongue,
    tokens: Vec<Token<'t>>,
    /// Names that the text gives to modules, with the modules.
    aliases: Vec<(&'t str, &'t str)>,
    /// Variables that the text gives a value.
    given: HashSet<&'t str>,
    /// Variables that are nothing else.
    constants: Constants<'t>,
    /// Whether it goes to another folder.
    has_moved: bool,
    found: OneLiner,
}

/// What an argument is worth.
enum Argument {
    Texts(Vec<String>),
    /// It ends like this.
    Ending(String),
    /// It is put together from texts, and perhaps more.
    Made,
    Unknown,
}

impl Outline<'_> {
    fn look_over(&mut self) {
        for place in 0..self.tokens.len() {
            self.found.complete &= !self.is_computed(place) && !self.renames(place);
            match self.tokens.get(place) {
                Some(Token::Command(Some(text))) => self.found.spawns.push(Spawn::Shell(text.clone())),
                Some(Token::Command(None)) => self.found.complete = false,
                Some(Token::Text(Some(_))) if self.tongue.names_are_callable => {
                    let deed = self.joined(place).and_then(|text| self.tongue.function(&text));
                    self.goes_elsewhere(deed);
                }
                Some(Token::Text(Some(text))) if self.tongue.texts_call && self.is_mark(place + 1, "(") => {
                    let name = text.clone();
                    self.name(&name, place);
                }
                Some(Token::Name(name)) => {
                    let name = *name;
                    self.name(name, place);
                }
                _ => {}
            }
        }
    }

    fn name(&mut self, name: &str, place: usize) {
        let before = place.checked_sub(1).and_then(|before| self.tokens.get(before));
        let before = match before {
            Some(Token::Name(name) | Token::Mark(name)) => Some(*name),
            _ => None,
        };
        // `options[:os]` is a key.
        let is_key = self.is_mark(place + 1, "]") && place.checked_sub(2).is_some_and(|open| self.is_mark(open, "["));
        let is_root = |root: &&str| match root.strip_prefix(':') {
            Some(root) => root == name && before == Some(":") && !is_key,
            None => *root == name && before != Some("."),
        };
        if self.tongue.roots.iter().any(is_root) {
            self.found.complete = false;
            return;
        }
        let deed = match before {
            Some("new") => {
                let last = name.rsplit('.').next().unwrap_or(name);
                self.tongue.function(&format!("new {last}"))
            }
            Some(before) if self.tongue.members.contains(&before) => None,
            _ => self.function(name),
        };
        let Some(deed) = deed else { return };
        let is_applied = !self.tongue.applies.is_empty() && self.is_mark(place + 1, self.tongue.applies);
        let Some(mut arguments) = self.arguments(place + 1 + usize::from(is_applied)) else {
            // Without a module before it, it may be a name of the text's own.
            let is_value = deed.deletes() || name.contains(self.tongue.joint) || self.is_value(place);
            return self.goes_elsewhere(Some(deed).filter(|_| is_value));
        };
        if before == Some("|>") {
            let given = place.checked_sub(2).and_then(|given| self.tokens.get(given));
            arguments.insert(0, given.map_or(Argument::Unknown, |given| self.worth(&[given])));
        }
        match deed {
            Deed::Statement => return self.statement(place + 1),
            Deed::DeletesOwner if arguments.is_empty() => return self.delete_owner(name, place),
            _ => {}
        }
        self.call(deed, &arguments);
    }

    /// The program, and all texts up to the end of the statement.
    fn statement(&mut self, from: usize) {
        let mut words: Vec<Option<String>> = Vec::new();
        let mut depth = 0_usize;
        let mut before: Option<&Token> = None;
        for (place, token) in self.tokens.iter().enumerate().skip(from).take(LONGEST_CALL) {
            match token {
                Token::Mark(";") => break,
                Token::Newline if depth == 0 && !self.is_mark(place + 1, ".") => break,
                Token::Mark("(" | "[" | "{") => depth += 1,
                Token::Mark(")" | "]" | "}") if depth == 0 => break,
                Token::Mark(")" | "]" | "}") => depth -= 1,
                Token::Text(text) => words.push(text.clone()),
                // Something else that is handed on.
                Token::Name(name)
                    if depth > 0
                        && before.is_some_and(|before| ["(", ",", "&", "["].iter().any(|mark| before.is(mark))) =>
                {
                    let known = self.constants.get(name).and_then(|texts| match texts.as_slice() {
                        [text] => Some(text.clone()),
                        _ => None,
                    });
                    words.push(known);
                }
                _ => {}
            }
            before = Some(token);
        }
        match words.first() {
            Some(Some(_)) => self.found.spawns.push(Spawn::Words(words)),
            _ => self.found.complete = false,
        }
    }

    /// `new File("x").delete()`, `file.delete()`. What has nothing to do with files deletes something else.
    fn delete_owner(&mut self, name: &str, place: usize) {
        let has_files =
            |token: &Token| matches!(token, Token::Name(name) if name.rsplit('.').any(|part| part == "File"));
        if !self.tokens.iter().any(has_files) {
            return;
        }
        let known = match name.rsplit_once(self.tongue.joint) {
            Some((owner, _)) => self.constants.get(owner).cloned(),
            None => self.owner(place).and_then(|owner| constant::worth(self.tongue, &self.constants, &owner)),
        };
        self.touch(Access::Delete, Some(&known.map_or(Argument::Unknown, Argument::Texts)));
    }

    /// What stands before the point here, from `new` on.
    fn owner(&self, place: usize) -> Option<Vec<&Token<'_>>> {
        let before = self.tokens.get(..place.checked_sub(1)?)?;
        let start = before.iter().rev().take(LONGEST_CALL).position(|token| *token == Token::Name("new"))?;
        Some(before.get(before.len() - start - 1..)?.iter().collect())
    }

    /// A function, as a value: who knows what it is given.
    fn goes_elsewhere(&mut self, deed: Option<Deed>) {
        self.found.complete &= !deed.is_some_and(Deed::runs);
        self.found.unknown.extend(deed.filter(|deed| deed.deletes()).map(|_| Access::Delete));
    }

    fn call(&mut self, deed: Deed, arguments: &[Argument]) {
        match deed {
            Deed::Touch(touches) => {
                for (access, place) in touches {
                    self.touch(*access, arguments.get(*place));
                }
            }
            Deed::Open => {
                let writes = |mode: &String| mode.contains(['w', 'a', '+', 'x', 'c']);
                let is_written = matches!(arguments.get(1), Some(Argument::Texts(mode)) if mode.iter().any(writes));
                self.touch(if is_written { Access::Write } else { Access::Read }, arguments.first());
            }
            Deed::Shell => match arguments.first() {
                Some(Argument::Texts(texts)) if texts.len() == 1 => {
                    self.found.spawns.extend(texts.iter().cloned().map(Spawn::Shell));
                }
                Some(Argument::Texts(texts)) => {
                    self.found.spawns.push(Spawn::Words(texts.iter().cloned().map(Some).collect()));
                }
                None => {}
                Some(_) => self.found.complete = false,
            },
            Deed::Words => {
                let words = arguments.iter().take(2).flat_map(|argument| match argument {
                    Argument::Texts(texts) => texts.iter().cloned().map(Some).collect(),
                    _ => vec![None],
                });
                let words: Vec<Option<String>> = words.collect();
                match words.first() {
                    Some(Some(_)) => self.found.spawns.push(Spawn::Words(words)),
                    _ => self.found.complete = false,
                }
            }
            Deed::Moves => {
                let stays = matches!(arguments.first(), Some(Argument::Texts(path)) if *path == ["."]);
                self.has_moved |= !stays;
            }
            Deed::Hides | Deed::Statement => self.found.complete = false,
            // Of something else: `builder.delete(0, 1)`.
            Deed::DeletesOwner => {}
            Deed::Calls(place) => match arguments.get(place) {
                Some(Argument::Texts(names)) => {
                    let deed = names.first().and_then(|name| self.function(name));
                    self.goes_elsewhere(deed);
                }
                Some(Argument::Made | Argument::Ending(_)) => self.found.complete = false,
                Some(Argument::Unknown) | None => {}
            },
        }
    }

    fn touch(&mut self, access: Access, path: Option<&Argument>) {
        match path {
            Some(Argument::Texts(paths)) => {
                self.found.touches.extend(paths.iter().map(|path| (access, path.clone())));
            }
            Some(Argument::Ending(end)) if access != Access::Delete && end.starts_with('/') => {
                self.found.touches.push((access, format!("…{end}")));
            }
            Some(_) if access == Access::Delete => self.found.unknown.push(access),
            _ => {}
        }
    }

    /// Those of a call, in parentheses or not; `None` where none is called.
    fn arguments(&self, from: usize) -> Option<Vec<Argument>> {
        let is_open = self.tokens.get(from)?.is("(");
        let bare = matches!(self.tokens.get(from), Some(Token::Text(_)));
        if !is_open && !bare {
            return None;
        }
        let mut arguments = Vec::new();
        let mut one: Vec<&Token> = Vec::new();
        let mut depth = 0_usize;
        let mut ends = !is_open;
        for token in self.tokens.iter().skip(from + usize::from(is_open)).take(LONGEST_CALL) {
            match token {
                Token::Mark(")" | "]" | "}") if depth == 0 => {
                    ends = true;
                    break;
                }
                // Behind an operator stands what is done with what comes of it.
                Token::Newline | Token::Mark(";" | ">" | "<" | "|>" | "|" | "&") if depth == 0 && !is_open => break,
                Token::Newline => continue,
                Token::Mark("(" | "[" | "{") => depth += 1,
                Token::Mark(")" | "]" | "}") => depth -= 1,
                Token::Mark("," | ";") if depth == 0 => {
                    arguments.push(self.worth(&one));
                    one.clear();
                    continue;
                }
                _ => {}
            }
            one.push(token);
        }
        if !ends {
            arguments.push(Argument::Unknown);
        } else if !one.is_empty() {
            arguments.push(self.worth(&one));
        }
        Some(arguments)
    }

    fn worth(&self, tokens: &[&Token]) -> Argument {
        if let Some(texts) = constant::worth(self.tongue, &self.constants, tokens) {
            return Argument::Texts(texts);
        }
        // `file = "x"`, `file: "x"`; `~c"x"` of Elixir
        let tokens = match tokens {
            [Token::Name(_), Token::Mark("=" | ":"), rest @ ..] | [Token::Mark("~"), Token::Name(_), rest @ ..] => rest,
            _ => tokens,
        };
        let mut texts: Vec<String> = Vec::new();
        let mut is_joined = false;
        let mut is_known = true;
        for token in tokens {
            match token {
                Token::Text(Some(text)) => match texts.last_mut().filter(|_| is_joined) {
                    Some(before) => before.push_str(text),
                    None => texts.push(text.clone()),
                },
                Token::Name("c" | "list" | "array" | "joinpath" | "nil" | "Path.of" | "Paths.get" | "Path::new")
                | Token::Mark("," | "(" | ")" | "[" | "]" | "=>" | "'") => {}
                Token::Name("__DIR__" | "@__DIR__") => texts.push(".".to_owned()),
                Token::Mark(mark) if *mark == self.tongue.concat => {}
                _ => is_known = false,
            }
            is_joined = matches!(token, Token::Mark(mark) if *mark == self.tongue.concat);
        }
        match texts.pop() {
            Some(last) if is_known => {
                texts.push(last);
                Argument::Texts(texts)
            }
            Some(end) if matches!(tokens.last(), Some(Token::Text(Some(_)))) => Argument::Ending(end),
            Some(_) => Argument::Made,
            None => Argument::Unknown,
        }
    }
}
