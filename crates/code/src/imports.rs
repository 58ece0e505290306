//! Names that come from modules.

use super::reader::Reader;
use super::tape::{MAX_LOOKAHEAD, Tape};
use super::token::{Kind, Token};
use super::value::Value;
use super::{Access, Language};

/// Modules that are called like many a variable: in the tables, their names begin with [`IMPORTED`].
const ONLY_IMPORTED: &[&str] = &[
    "sh",
    "git",
    "code",
    "invoke",
    "plumbum",
    "pexpect",
    "fabric",
    "del",
    "trash",
    "execa",
    "zx",
    "simple-git",
    "cross-spawn",
    "requests",
    "httpx",
    "axios",
];

const IMPORTED: char = '@';

impl Reader {
    fn dotted(tape: &mut Tape<'_>) -> String {
        let mut name = String::new();
        while let Some(token) = tape.peek() {
            match &token.kind {
                Kind::Name(part) if name.is_empty() || name.ends_with('.') => {
                    if part == "import" {
                        break;
                    }
                    name.push_str(part);
                }
                Kind::Mark(mark @ ("." | ".." | "...")) => name.push_str(mark),
                _ => break,
            }
            tape.next();
        }
        name
    }

    pub(super) fn python_import(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        loop {
            let module = self.canonical(&Self::dotted(tape));
            if tape.take_name("as") {
                if let Some(alias) = tape.any_name() {
                    self.bind(alias, Value::Thing(module));
                }
            } else if let Some(first) = module.split('.').next().filter(|first| !first.is_empty()) {
                self.bind(first.trim_start_matches(IMPORTED), Value::Thing(first.to_owned()));
            }
            if !tape.take(",") {
                return true;
            }
        }
    }

    pub(super) fn python_from(&mut self, tape: &mut Tape<'_>) -> bool {
        tape.next();
        let module = self.canonical(&Self::dotted(tape));
        if !tape.take_name("import") {
            return false;
        }
        if tape.take("*") {
            if !self.names.opened.contains(&module) && self.dialect.is_telling_module(&module) {
                self.names.opened.push(module);
                self.names.changed = true;
            }
            return true;
        }
        tape.take("(");
        while let Some(name) = tape.any_name() {
            let alias = if tape.take_name("as") { tape.any_name().unwrap_or(name) } else { name };
            let full = if matches!(module.as_str(), "builtins") { name.to_owned() } else { format!("{module}.{name}") };
            let value = self.thing(full);
            self.bind(alias, value);
            if !tape.take(",") {
                break;
            }
        }
        tape.take(")");
        true
    }

    pub(super) fn node_import(&mut self, tape: &mut Tape<'_>) -> bool {
        if tape.ahead_is(1, "(") || tape.ahead_is(1, ".") {
            return false;
        }
        tape.next();
        let start = tape.place();
        let module = loop {
            if tape.place() - start > MAX_LOOKAHEAD {
                self.found.hidden = true;
                return false;
            }
            let Some(token) = tape.next() else { return false };
            match token.kind {
                Kind::Name(_) | Kind::Newline | Kind::Mark("{" | "}" | "," | "*") => {}
                _ => match token.constant() {
                    Some(module) => break module,
                    None => return false,
                },
            }
        };
        if module.starts_with(['.', '/']) {
            self.found.touch(Access::Read, module);
            self.load(module);
        }
        let module = self.canonical(module);
        let tokens = tape.between(start, tape.place());
        let mut braced = false;
        for entry in tokens.split(|token| token.is(",")) {
            braced |= entry.iter().any(|token| token.is("{"));
            let mut names = entry.iter().filter_map(Token::name).filter(|name| !matches!(*name, "as" | "from"));
            if let Some(name) = names.next() {
                let full = if braced && name != "default" { format!("{module}.{name}") } else { module.clone() };
                let full = if full == "fs.promises" { "fs".to_owned() } else { full };
                self.bind(names.next().unwrap_or(name), Value::Thing(full));
            }
            braced &= !entry.iter().any(|token| token.is("}"));
        }
        true
    }

    /// A module's name without what does not matter.
    pub(super) fn canonical(&self, module: &str) -> String {
        if ONLY_IMPORTED.contains(&module.split('.').next().unwrap_or(module)) {
            return format!("{IMPORTED}{module}");
        }
        match self.language {
            Language::Python => match module {
                "posix" | "nt" => "os".to_owned(),
                "posixpath" | "ntpath" => "os.path".to_owned(),
                module => module.to_owned(),
            },
            Language::Node => match module.strip_prefix("node:").unwrap_or(module) {
                "fs/promises" | "fs-extra" | "graceful-fs" => "fs".to_owned(),
                module => module.to_owned(),
            },
            Language::Perl | Language::Ruby => module.replace("::", "."),
        }
    }
}
