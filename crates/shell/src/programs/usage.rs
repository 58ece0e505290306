//! Parses one line of `programs.txt`: the roles of the arguments of a program or subcommand.

use super::{Flag, Interactive, Role};

/// In `programs.txt`, this string stands in place of a role after a flag that takes no value.
const NO_VALUE: &str = "-";

/// The flags and operands in a line such as `git commit: [-m DATA] PATH...`.
#[derive(Debug)]
pub(super) struct Usage<'t> {
    /// The flags that a command must have for this line of `programs.txt` to apply, each with its spellings.
    required: Vec<Vec<&'t str>>,
    /// All flags of the line: those that take a value, and those with several spellings or with a long name. Each
    /// spelling is an entry of its own.
    flags: Vec<FlagUsage<'t>>,
    operands: Vec<Operand<'t>>,
    /// The role of operands after `--`, if it differs from that of the operands before.
    pub(super) after_dashes: Option<Role>,
    /// True if `NAME=value` may precede the operands.
    pub(super) takes_assignments: bool,
    /// True if flags may also begin with `+`.
    pub(super) takes_plus: bool,
    /// Accesses to paths that are not in the words: a role, and a path.
    pub(super) implied: Vec<(Role, &'t str)>,
    /// Like `implied`, but these accesses only happen if there are no operands.
    pub(super) implied_without_operands: Vec<(Role, &'t str)>,
    pub(super) interactive: Option<Interactive>,
}

/// One spelling of a flag, and the roles of its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlagUsage<'t> {
    pub(super) flag: &'t str,
    /// All spellings of the flag: `-f|--force`.
    pub(super) spellings: &'t str,
    /// The role of the flag's value; `None` if the flag takes no value.
    pub(super) role: Option<Role>,
    /// The role of the flag's second value, if the flag takes two values.
    pub(super) second: Option<Role>,
    /// The path that the program accesses if the flag has no value.
    pub(super) default_path: Option<&'t str>,
    /// True if the value must be in the same word: `-i.bak`, `--color=always`.
    pub(super) is_optional: bool,
    /// True if the value consists of the digits in the same word. More flags may follow the digits.
    pub(super) is_number: bool,
}

/// One or more operands with the same role.
#[derive(Debug)]
pub(super) struct Operand<'t> {
    pub(super) role: Role,
    /// True if any number of operands have this role: `READ...`.
    pub(super) repeats: bool,
    /// True if all words from this operand on have this role, flags included.
    is_rest: bool,
    /// True if flags may follow the operand, before the remaining words.
    allows_flags_after: bool,
    /// The operand is not expected if one of these flags is given.
    unless: Vec<&'t str>,
    /// The key before `=`: `if` of `dd if=FILE`.
    pub(super) key: Option<&'t str>,
}

impl<'t> Usage<'t> {
    /// Parses a line. `required`: the flags that a command must have for the line to apply; `text`: the part after the
    /// colon.
    pub(super) fn parse(required: &'t str, text: &'t str) -> Option<Self> {
        let mut usage = Self {
            required: required.split_whitespace().map(|flag| flag.split('|').collect()).collect(),
            flags: Vec::new(),
            operands: Vec::new(),
            after_dashes: None,
            takes_assignments: false,
            takes_plus: text.contains(" +"),
            implied: Vec::new(),
            implied_without_operands: Vec::new(),
            interactive: None,
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

    /// Parses a flag and its roles: `-f|--file READ`.
    fn add_flag(&mut self, flag: &'t str, roles: &'t str) -> Option<()> {
        let is_number = flag.ends_with('#');
        let is_optional = is_number || flag.ends_with('?');
        let default_path = roles.strip_suffix(')').and_then(|roles| roles.split_once('('));
        let (roles, default_path) = default_path.map_or((roles, None), |(roles, path)| (roles, Some(path)));
        let (role, second) = match roles {
            NO_VALUE => (None, None),
            roles => match roles.split_once(',').filter(|(first, _)| !first.is_empty()) {
                None => (Some(Role::from_keyword(roles)?), None),
                Some((first, second)) => (Some(Role::from_keyword(first)?), Some(Role::from_keyword(second)?)),
            },
        };
        let spellings = flag.trim_end_matches(['?', '#']);
        let with_spelling = |flag| FlagUsage { flag, spellings, role, second, default_path, is_optional, is_number };
        self.flags.extend(spellings.split('|').map(with_spelling));
        Some(())
    }

    /// Parses an operand, or another item: `READ(path)`, `--ROLE`, `INTERACTIVE`, `VAR`.
    fn add_item(&mut self, item: &'t str) -> Option<()> {
        if let Some((role, path)) = item.strip_suffix(')').and_then(|item| item.split_once('(')) {
            match role.strip_suffix('?') {
                Some(role) => self.implied_without_operands.push((Role::from_keyword(role)?, path)),
                None => self.implied.push((Role::from_keyword(role)?, path)),
            }
        } else if let Some(role) = item.strip_prefix("--") {
            self.after_dashes = Some(Role::from_keyword(role)?);
        } else if let Some(interactive) = Interactive::from_keyword(item) {
            self.interactive = Some(interactive);
        } else {
            self.add_operand(item)?;
        }
        Some(())
    }

    fn add_operand(&mut self, item: &'t str) -> Option<()> {
        let mut parts = item.split('/');
        let first = parts.next()?;
        let (repeats, is_rest) = (first.ends_with("..."), first.ends_with('*'));
        let allows_flags_after = first.ends_with('+');
        let name = first.trim_end_matches("...").trim_end_matches(['*', '+']);
        let (key, role) = match name.split_once('=') {
            Some((key, role)) if !key.is_empty() => (Some(key), role),
            _ => (None, name),
        };
        if role == "VAR" {
            self.takes_assignments = true;
            return Some(());
        }
        let role = Role::from_keyword(role)?;
        let is_rest = is_rest || role.takes_remaining_words();
        self.operands.push(Operand { role, repeats, is_rest, allows_flags_after, unless: parts.collect(), key });
        Some(())
    }

    /// True if the line applies to a command with these flags.
    pub(super) fn is_for(&self, flags: &[Flag]) -> bool {
        let has_flag = |spelling: &&str| flags.iter().any(|flag| flag.name == *spelling);
        self.required.iter().all(|spellings| spellings.iter().any(has_flag))
    }

    /// Returns the operands that are expected if these flags are given.
    pub(super) fn operands(&self, flags: &[Flag]) -> Vec<&Operand<'t>> {
        let has_flag = |name: &&str| flags.iter().any(|flag| flag.name == *name);
        let is_expected = |operand: &&Operand| !operand.unless.iter().any(has_flag);
        self.operands.iter().filter(is_expected).collect()
    }

    /// Returns a flag by its name, or by an unambiguous prefix of its long name.
    pub(super) fn flag(&self, name: &str) -> Option<FlagUsage<'t>> {
        let exact = self.flags.iter().find(|flag| flag.flag == name);
        let mut abbreviated =
            self.flags.iter().filter(|flag| name.len() > 2 && name.starts_with("--") && flag.flag.starts_with(name));
        let only = abbreviated.next().filter(|_| abbreviated.next().is_none());
        exact.or(only).copied()
    }

    /// True if flags may follow the first `count` operands, although all words after those flags have one role.
    pub(super) fn allows_flags_after(&self, count: usize) -> bool {
        count.checked_sub(1).and_then(|last| self.operands.get(last)).is_none_or(|operand| operand.allows_flags_after)
    }

    /// Returns the role that all words from this operand on have, flags included; `None` if each operand has a role of
    /// its own.
    pub(super) fn rest_from(&self, number: usize) -> Option<Role> {
        self.operands.get(number).filter(|operand| operand.is_rest).map(|operand| operand.role)
    }
}
