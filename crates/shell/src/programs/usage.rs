//! One line of the table: how a program, or a form of it, reads its arguments.

use super::{Flag, Role, Session};

/// Stands behind a flag that takes no value.
const NO_VALUE: &str = "-";

/// A line such as `git commit: [-m DATA] PATH...`.
#[derive(Debug)]
pub(super) struct Usage<'t> {
    /// The flags that make it this form; each is one of several spellings.
    required: Vec<Vec<&'t str>>,
    /// Flags that take a value, and others that matter.
    flags: Vec<FlagUsage<'t>>,
    operands: Vec<Operand<'t>>,
    /// What operands behind `--` are, where that is something else.
    pub(super) behind_dashes: Option<Role>,
    /// `NAME=value` may stand before the operands.
    pub(super) takes_assignments: bool,
    /// Flags may also begin with `+`.
    pub(super) takes_plus: bool,
    /// What it does without naming it: a role, and a path.
    pub(super) implied: Vec<(Role, &'t str)>,
    /// Where it has no operands.
    pub(super) assumed: Vec<(Role, &'t str)>,
    pub(super) session: Option<Session>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct FlagUsage<'t> {
    pub(super) flag: &'t str,
    /// All of its spellings: `-f|--force`.
    pub(super) spellings: &'t str,
    /// What its value is; `None` where it takes none.
    pub(super) role: Option<Role>,
    /// Of a second value.
    pub(super) second: Option<Role>,
    /// The path that it means where it is given none.
    pub(super) otherwise: Option<&'t str>,
    /// Only in the same word: `-i.bak`, `--color=always`.
    pub(super) is_optional: bool,
    /// It is what digits there are in the same word, and more flags may stand behind them.
    pub(super) is_number: bool,
}

#[derive(Debug)]
pub(super) struct Operand<'t> {
    pub(super) role: Role,
    pub(super) repeats: bool,
    /// Everything from here on is this, flags or not.
    is_rest: bool,
    /// Flags may stand behind it, before the rest.
    goes_on: bool,
    /// With one of these flags it is not there.
    unless: Vec<&'t str>,
    /// It begins with this and `=`, as those of `dd` do.
    pub(super) key: Option<&'t str>,
}

impl<'t> Usage<'t> {
    /// `required`: the flags that stand behind the program's name.
    pub(super) fn parse(required: &'t str, text: &'t str) -> Option<Self> {
        let mut usage = Self {
            required: required.split_whitespace().map(|flag| flag.split('|').collect()).collect(),
            flags: Vec::new(),
            operands: Vec::new(),
            behind_dashes: None,
            takes_assignments: false,
            takes_plus: text.contains(" +"),
            implied: Vec::new(),
            assumed: Vec::new(),
            session: None,
        };
        let (flags, operands) = match text.trim().strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", text),
        };
        let mut flags = flags.split_whitespace();
        while let Some(flag) = flags.next() {
            usage.add_flag(flag, flags.next()?)?;
        }
        for item in operands.split_whitespace() {
            usage.add_item(item)?;
        }
        Some(usage)
    }

    /// `-f|--file READ`
    fn add_flag(&mut self, flag: &'t str, roles: &'t str) -> Option<()> {
        let is_number = flag.ends_with('#');
        let is_optional = is_number || flag.ends_with('?');
        let otherwise = roles.strip_suffix(')').and_then(|roles| roles.split_once('('));
        let (roles, otherwise) = otherwise.map_or((roles, None), |(roles, path)| (roles, Some(path)));
        let (role, second) = match roles {
            NO_VALUE => (None, None),
            roles => match roles.split_once(',').filter(|(first, _)| !first.is_empty()) {
                None => (Some(Role::named(roles)?), None),
                Some((first, second)) => (Some(Role::named(first)?), Some(Role::named(second)?)),
            },
        };
        let spellings = flag.trim_end_matches(['?', '#']);
        let one = |flag| FlagUsage { flag, spellings, role, second, otherwise, is_optional, is_number };
        self.flags.extend(spellings.split('|').map(one));
        Some(())
    }

    /// An operand, or what else stands among them: `READ(path)`, `--ROLE`, `SESSION`, `VAR`.
    fn add_item(&mut self, item: &'t str) -> Option<()> {
        if let Some((role, path)) = item.strip_suffix(')').and_then(|item| item.split_once('(')) {
            match role.strip_suffix('?') {
                Some(role) => self.assumed.push((Role::named(role)?, path)),
                None => self.implied.push((Role::named(role)?, path)),
            }
        } else if let Some(role) = item.strip_prefix("--") {
            self.behind_dashes = Some(Role::named(role)?);
        } else if let Some(session) = Session::named(item) {
            self.session = Some(session);
        } else {
            self.add_operand(item)?;
        }
        Some(())
    }

    fn add_operand(&mut self, item: &'t str) -> Option<()> {
        let mut parts = item.split('/');
        let first = parts.next()?;
        let (repeats, is_rest) = (first.ends_with("..."), first.ends_with('*'));
        let goes_on = first.ends_with('+');
        let name = first.trim_end_matches("...").trim_end_matches(['*', '+']);
        let (key, role) = match name.split_once('=') {
            Some((key, role)) if !key.is_empty() => (Some(key), role),
            _ => (None, name),
        };
        if role == "VAR" {
            self.takes_assignments = true;
            return Some(());
        }
        let role = Role::named(role)?;
        let is_rest = is_rest || role.takes_the_rest();
        self.operands.push(Operand { role, repeats, is_rest, goes_on, unless: parts.collect(), key });
        Some(())
    }

    pub(super) fn is_for(&self, flags: &[Flag]) -> bool {
        let given = |spelling: &&str| flags.iter().any(|flag| flag.name == *spelling);
        self.required.iter().all(|spellings| spellings.iter().any(given))
    }

    /// The operands that there are, given these flags.
    pub(super) fn operands(&self, flags: &[Flag]) -> Vec<&Operand<'t>> {
        let is_given = |name: &&str| flags.iter().any(|flag| flag.name == *name);
        let is_there = |operand: &&Operand| !operand.unless.iter().any(is_given);
        self.operands.iter().filter(is_there).collect()
    }

    /// A flag by its whole name, or by the beginning of a long one that means no other.
    pub(super) fn flag(&self, name: &str) -> Option<FlagUsage<'t>> {
        let exact = self.flags.iter().find(|flag| flag.flag == name);
        let mut begun =
            self.flags.iter().filter(|flag| name.len() > 2 && name.starts_with("--") && flag.flag.starts_with(name));
        let only = begun.next().filter(|_| begun.next().is_none());
        exact.or(only).copied()
    }

    /// Whether flags may stand behind this many operands, though the rest follows.
    pub(super) fn goes_on_behind(&self, count: usize) -> bool {
        count.checked_sub(1).and_then(|last| self.operands.get(last)).is_none_or(|operand| operand.goes_on)
    }

    /// What everything from the operand of this number on is, flags or not.
    pub(super) fn rest_from(&self, number: usize) -> Option<Role> {
        self.operands.get(number).filter(|operand| operand.is_rest).map(|operand| operand.role)
    }
}
