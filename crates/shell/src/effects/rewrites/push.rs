//! Which branches of a remote a script rewrites or deletes, by any spelling of a push.

use super::{Found, RewrittenBranch};
use crate::model::{Branch, SimpleCommand, Word};
use crate::programs::Arguments;
use crate::special_programs::git_settings;

pub(super) fn by_push(command: &SimpleCommand, arguments: &Arguments) -> Found {
    let has = |names: &[&str]| arguments.has_flag(names);
    if is_last(arguments, &["-n", "--dry-run"], "--no-dry-run") {
        return Vec::new();
    }
    let settings = settings(command, arguments);
    let set = |wanted: &dyn Fn(&str, &str) -> bool| settings.iter().any(|(name, value)| wanted(name, value));
    let words: Vec<&Word> = arguments.operands.iter().filter_map(|place| command.words().get(*place)).collect();
    let remote = words.first().and_then(|word| word.meaning());
    let is_mirror = |name: &str| {
        let of = name.strip_prefix("remote.").and_then(|name| name.strip_suffix(".mirror"));
        of.is_some_and(|of| remote.is_none_or(|remote| remote.eq_ignore_ascii_case(of)))
    };
    if has(&["--mirror"]) || set(&|name, value| is_mirror(name) && !matches!(value, "false" | "fetch")) {
        return vec![(RewrittenBranch::All, true)];
    }
    let is_forced = is_last(arguments, &["-f", "--force"], "--no-force")
        || is_last(arguments, &["--force-with-lease"], "--no-force-with-lease");
    let may_be_forced = is_forced || command.has_unknown_flags(arguments);
    // The first is the repository.
    let written = words.get(1..).unwrap_or_default().iter().map(|word| Refspec::of_word(word));
    let mut specs: Vec<Refspec> = written.collect();
    if specs.is_empty() {
        let is_push = |name: &str| name.starts_with("remote.") && name.rsplit('.').next() == Some("push");
        specs.extend(settings.iter().filter(|(name, _)| is_push(name)).map(|(_, value)| Refspec::parse(value)));
    }
    let names_none = specs.is_empty();
    let deletes = has(&["-d", "--delete"]);
    let mut found: Found = Vec::new();
    for spec in specs {
        let target = spec.target();
        // Of those that match, the ones that are not here go.
        let prunes = has(&["--prune"]) && matches!(target, Some(RewrittenBranch::Matching(_) | RewrittenBranch::All));
        let is_sure = deletes || is_forced || prunes || spec.is_forced || spec.deletes;
        if is_sure || may_be_forced {
            found.extend(with_branches(target, is_sure, &command.context.branches));
        }
    }
    // With `--tags` alone, tags are all that is pushed.
    if names_none && !has(&["--tags"]) && (may_be_forced || has(&["--prune"])) {
        let takes_all = has(&["--all", "--branches", "--prune"])
            || set(&|name, value| name == "push.default" && value == "matching");
        // The one that it follows may have another name.
        let follows = set(&|name, value| name == "push.default" && matches!(value, "upstream" | "tracking"));
        let target = match (takes_all, follows) {
            (true, _) => RewrittenBranch::All,
            (false, true) => RewrittenBranch::Unknown,
            (false, false) => RewrittenBranch::Current(Branch::AsBefore),
        };
        found.extend(with_branches(Some(target), is_forced || has(&["--prune"]), &command.context.branches));
    }
    found
}

/// The one that is checked out may be one of several.
fn with_branches(target: Option<RewrittenBranch>, is_sure: bool, branches: &[Branch]) -> Found {
    match target {
        Some(RewrittenBranch::Current(_)) => {
            let is_sure = is_sure && branches.len() == 1;
            branches.iter().map(|branch| (RewrittenBranch::Current(branch.clone()), is_sure)).collect()
        }
        target => target.into_iter().map(|target| (target, is_sure)).collect(),
    }
}

/// Whether one of these flags is given, and not taken back behind it.
fn is_last(arguments: &Arguments, flags: &[&str], taking_back: &str) -> bool {
    let mut last = arguments.flags.iter().rev().map(|flag| flag.name.as_str());
    last.find(|flag| flags.contains(flag) || *flag == taking_back).is_some_and(|flag| flag != taking_back)
}

/// Of `git -c`: names in lower case, and values; without one, it is set.
fn settings(command: &SimpleCommand, arguments: &Arguments) -> Vec<(String, String)> {
    let is_setting = |name: &str| matches!(name, "-c" | "--config-env");
    let given = arguments.flags.iter().filter(|flag| is_setting(&flag.name)).filter_map(|flag| flag.value);
    let given = given.filter_map(|value| git_settings::given(command, arguments, value));
    let given = given.map(|setting| match setting.split_once('=') {
        Some((name, value)) => (name.to_ascii_lowercase(), value.to_owned()),
        None => (setting.to_ascii_lowercase(), "true".to_owned()),
    });
    let made = command.context.git_settings.iter().map(|setting| (**setting).clone());
    given.chain(made).chain(command.context.git_environment.iter().cloned()).collect()
}

/// `+from:to`, with or without any part of it.
struct Refspec {
    is_forced: bool,
    deletes: bool,
    /// What it pushes to; `None` where that is not known.
    to: Option<String>,
}

impl Refspec {
    fn of_word(word: &Word) -> Self {
        Self::parse(word.meaning().unwrap_or(&word.shown))
    }

    fn parse(text: &str) -> Self {
        let (is_forced, rest) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
        let (from, to) = match last_colon(rest) {
            Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default()),
            None => (rest, rest),
        };
        let deletes = from.is_empty() && !to.is_empty();
        let to = with_stars(if to.is_empty() { from } else { to });
        let is_known = to != "*";
        Self { is_forced, deletes, to: is_known.then_some(to) }
    }

    /// `None` for what is no branch.
    fn target(&self) -> Option<RewrittenBranch> {
        let Some(to) = self.to.as_deref() else { return Some(RewrittenBranch::Unknown) };
        let name = to.strip_prefix("refs/heads/").or_else(|| to.strip_prefix("heads/")).unwrap_or(to);
        match name {
            "" => Some(RewrittenBranch::All),
            "HEAD" | "@" => Some(RewrittenBranch::Current(Branch::AsBefore)),
            _ if name.starts_with("refs/*") => Some(RewrittenBranch::All),
            _ if name.starts_with("refs/") => None,
            _ if name.contains('*') => Some(RewrittenBranch::Matching(name.to_owned())),
            _ => Some(RewrittenBranch::Named(name.to_owned())),
        }
    }
}

/// With `*` for every expansion.
fn with_stars(text: &str) -> String {
    let mut known = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('$', Some(open @ ('{' | '('))) => {
                let (open, close) = if *open == '{' { ('{', '}') } else { ('(', ')') };
                let mut depth = 0_usize;
                for inside in letters.by_ref() {
                    depth += usize::from(inside == open);
                    depth -= usize::from(inside == close);
                    if depth == 0 {
                        break;
                    }
                }
                known.push('*');
            }
            ('$', _) => {
                while letters.next_if(|letter| letter.is_ascii_alphanumeric() || "_…".contains(*letter)).is_some() {}
                known.push('*');
            }
            ('`', _) => {
                letters.by_ref().find(|letter| *letter == '`');
                known.push('*');
            }
            _ => known.push(letter),
        }
    }
    known
}

/// Outside of `${…}` and `$(…)`.
fn last_colon(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => last = Some(at),
            _ => {}
        }
    }
    last
}
