//! Import statements, and the names that they bind.

use super::evaluator::Evaluator;
use super::token::{Token, TokenKind};
use super::token_cursor::{MAX_LOOKAHEAD, TokenCursor};
use super::value::Value;
use super::{Access, Language};

/// Modules whose names are also common variable names. In the tables of `dialect`, their names begin with
/// [`IMPORTED_PREFIX`], so that only imports refer to them.
const AMBIGUOUS_MODULES: &[&str] = &[
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

const IMPORTED_PREFIX: char = '@';

impl Evaluator {
    /// Reads a dotted name: `os.path`.
    fn read_dotted_name(cursor: &mut TokenCursor<'_>) -> String {
        let mut name = String::new();
        while let Some(token) = cursor.peek() {
            match &token.kind {
                TokenKind::Name(part) if name.is_empty() || name.ends_with('.') => {
                    if part == "import" {
                        break;
                    }
                    name.push_str(part);
                }
                TokenKind::Punct(punct @ ("." | ".." | "...")) => name.push_str(punct),
                _ => break,
            }
            cursor.next();
        }
        name
    }

    /// Evaluates an import statement of Python: `import module as alias`.
    pub(super) fn evaluate_python_import(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        loop {
            let module = self.table_name(&Self::read_dotted_name(cursor));
            if cursor.take_name("as") {
                if let Some(alias) = cursor.take_any_name() {
                    self.bind(alias, Value::QualifiedName(module));
                }
            } else if let Some(first) = module.split('.').next().filter(|first| !first.is_empty()) {
                self.bind(first.trim_start_matches(IMPORTED_PREFIX), Value::QualifiedName(first.to_owned()));
            }
            if !cursor.take(",") {
                return true;
            }
        }
    }

    /// Evaluates an import statement of Python: `from module import name as alias`.
    pub(super) fn evaluate_python_from_import(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        cursor.next();
        let module = self.table_name(&Self::read_dotted_name(cursor));
        if !cursor.take_name("import") {
            return false;
        }
        if cursor.take("*") {
            if !self.bindings.star_imports.contains(&module) && self.dialect.has_effectful_members(&module) {
                self.bindings.star_imports.push(module);
                self.bindings.has_changed = true;
            }
            return true;
        }
        cursor.take("(");
        while let Some(name) = cursor.take_any_name() {
            let alias = if cursor.take_name("as") { cursor.take_any_name().unwrap_or(name) } else { name };
            let qualified =
                if matches!(module.as_str(), "builtins") { name.to_owned() } else { format!("{module}.{name}") };
            let value = self.value_of_qualified_name(qualified);
            self.bind(alias, value);
            if !cursor.take(",") {
                break;
            }
        }
        cursor.take(")");
        true
    }

    /// Evaluates an import statement of JavaScript: `import name, {member as alias} from "module"`.
    pub(super) fn evaluate_javascript_import(&mut self, cursor: &mut TokenCursor<'_>) -> bool {
        if cursor.ahead_is(1, "(") || cursor.ahead_is(1, ".") {
            return false;
        }
        cursor.next();
        let start = cursor.position();
        let module = loop {
            if cursor.position() - start > MAX_LOOKAHEAD {
                self.findings.is_opaque = true;
                return false;
            }
            let Some(token) = cursor.next() else { return false };
            match token.kind {
                TokenKind::Name(_) | TokenKind::Newline | TokenKind::Punct("{" | "}" | "," | "*") => {}
                _ => match token.constant() {
                    Some(module) => break module,
                    None => return false,
                },
            }
        };
        if module.starts_with(['.', '/']) {
            self.findings.record_access(Access::Read, module);
            self.load_file(module);
        }
        let module = self.table_name(module);
        let tokens = cursor.between(start, cursor.position());
        let mut in_braces = false;
        for entry in tokens.split(|token| token.is(",")) {
            in_braces |= entry.iter().any(|token| token.is("{"));
            let mut names = entry.iter().filter_map(Token::name).filter(|name| !matches!(*name, "as" | "from"));
            if let Some(name) = names.next() {
                let qualified =
                    if in_braces && name != "default" { format!("{module}.{name}") } else { module.clone() };
                let qualified = if qualified == "fs.promises" { "fs".to_owned() } else { qualified };
                self.bind(names.next().unwrap_or(name), Value::QualifiedName(qualified));
            }
            in_braces &= !entry.iter().any(|token| token.is("}"));
        }
        true
    }

    /// Returns the name by which the tables of `dialect` list a module. Modules with the same functions are listed
    /// under one name.
    pub(super) fn table_name(&self, module: &str) -> String {
        if AMBIGUOUS_MODULES.contains(&module.split('.').next().unwrap_or(module)) {
            return format!("{IMPORTED_PREFIX}{module}");
        }
        match self.language {
            Language::Python => match module {
                "posix" | "nt" => "os".to_owned(),
                "posixpath" | "ntpath" => "os.path".to_owned(),
                module => module.to_owned(),
            },
            Language::JavaScript => match module.strip_prefix("node:").unwrap_or(module) {
                "fs/promises" | "fs-extra" | "graceful-fs" => "fs".to_owned(),
                module => module.to_owned(),
            },
            Language::Perl | Language::Ruby => module.replace("::", "."),
        }
    }
}
