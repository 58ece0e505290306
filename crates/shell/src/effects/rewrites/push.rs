//! Branches of a remote that a `git push` rewrites or deletes.

use super::{FoundRewrites, RewrittenBranch};
use crate::model::{CheckedOutBranch, SimpleCommand, Word};
use crate::programs::Arguments;
use crate::special_programs::git_settings;

pub(super) fn rewrites_of_push(command: &SimpleCommand, arguments: &Arguments) -> FoundRewrites {
    let has = |names: &[&str]| arguments.has_flag(names);
    if last_flag_wins(arguments, &["-n", "--dry-run"], "--no-dry-run") {
        return Vec::new();
    }
    let settings = settings(command, arguments);
    let set = |wanted: &dyn Fn(&str, &str) -> bool| settings.iter().any(|(name, value)| wanted(name, value));
    let words: Vec<&Word> = arguments.operands.iter().filter_map(|index| command.words().get(*index)).collect();
    let remote = words.first().and_then(|word| word.meaning());
    let is_mirror = |name: &str| {
        let own_remote = name.strip_prefix("remote.").and_then(|name| name.strip_suffix(".mirror"));
        own_remote.is_some_and(|own| remote.is_none_or(|remote| remote.eq_ignore_ascii_case(own)))
    };
    if has(&["--mirror"]) || set(&|name, value| is_mirror(name) && !matches!(value, "false" | "fetch")) {
        return vec![(RewrittenBranch::All, true)];
    }
    // `--force-with-lease` takes its value only after `=` (`?` in `programs.txt`), so it never swallows the remote.
    let is_forced = last_flag_wins(arguments, &["-f", "--force"], "--no-force")
        || last_flag_wins(arguments, &["--force-with-lease"], "--no-force-with-lease");
    let may_be_forced = is_forced || command.has_unknown_flags(arguments);
    // The first operand is the remote.
    let given = words.get(1..).unwrap_or_default().iter().map(|word| Refspec::of_word(word));
    let mut specs: Vec<Refspec> = given.collect();
    if specs.is_empty() {
        let is_push = |name: &str| name.starts_with("remote.") && name.rsplit('.').next() == Some("push");
        specs.extend(settings.iter().filter(|(name, _)| is_push(name)).map(|(_, value)| Refspec::parse(value)));
    }
    let names_none = specs.is_empty();
    let deletes = has(&["-d", "--delete"]);
    let mut found: FoundRewrites = Vec::new();
    for spec in specs {
        let target = spec.target();
        // `--prune` deletes those matching branches that do not exist locally.
        let prunes = has(&["--prune"])
            && matches!(target, Some(Target::Other(RewrittenBranch::Matching(_) | RewrittenBranch::All)));
        let is_certain = deletes || is_forced || prunes || spec.is_forced || spec.deletes;
        if is_certain || may_be_forced {
            found.extend(
                target.into_iter().flat_map(|target| rewrites_of_target(target, is_certain, &command.context.branches)),
            );
        }
    }
    // Without a refspec, `--tags` pushes nothing but tags.
    if names_none && !has(&["--tags"]) && (may_be_forced || has(&["--prune"])) {
        let covers_all = has(&["--all", "--branches", "--prune"])
            || set(&|name, value| name == "push.default" && value == "matching");
        // The upstream branch may have another name.
        let pushes_upstream = set(&|name, value| name == "push.default" && matches!(value, "upstream" | "tracking"));
        let target = match (covers_all, pushes_upstream) {
            (true, _) => RewrittenBranch::All.into(),
            (false, true) => RewrittenBranch::Unknown.into(),
            // Git's default, `push.default=simple`, pushes the checked-out branch to the branch of the same name. The
            // repository's own git configuration is not read.
            (false, false) => Target::Current,
        };
        found.extend(rewrites_of_target(target, is_forced || has(&["--prune"]), &command.context.branches));
    }
    found
}

/// What a refspec pushes to.
enum Target {
    /// The branch that is checked out.
    Current,
    Other(RewrittenBranch),
}

impl From<RewrittenBranch> for Target {
    fn from(branch: RewrittenBranch) -> Self {
        Self::Other(branch)
    }
}

/// Returns the current branch once for each branch that may be checked out.
fn rewrites_of_target(target: Target, is_certain: bool, branches: &[CheckedOutBranch]) -> FoundRewrites {
    match target {
        Target::Current => {
            let is_certain = is_certain && branches.len() == 1;
            branches.iter().map(|branch| (RewrittenBranch::Current(branch.clone()), is_certain)).collect()
        }
        Target::Other(branch) => vec![(branch, is_certain)],
    }
}

/// True if one of the flags is given, and no later flag negates it.
fn last_flag_wins(arguments: &Arguments, flags: &[&str], negation: &str) -> bool {
    let mut last = arguments.flags.iter().rev().map(|flag| flag.name.as_str());
    last.find(|flag| flags.contains(flag) || *flag == negation).is_some_and(|flag| flag != negation)
}

/// Returns git's settings from `-c`, from earlier commands and from the environment: names in lower case, and values. A
/// setting without a value is `true`.
fn settings(command: &SimpleCommand, arguments: &Arguments) -> Vec<(String, String)> {
    let is_config_flag = |name: &str| matches!(name, "-c" | "--config-env");
    let given = arguments.flags.iter().filter(|flag| is_config_flag(&flag.name)).filter_map(|flag| flag.value);
    let given = given.filter_map(|value| git_settings::given(command, arguments, value));
    let given = given.map(|setting| match setting.split_once('=') {
        Some((name, value)) => (name.to_ascii_lowercase(), value.to_owned()),
        None => (setting.to_ascii_lowercase(), "true".to_owned()),
    });
    let made = command.context.git_settings.iter().map(|setting| (**setting).clone());
    given.chain(made).chain(command.context.git_environment.iter().cloned()).collect()
}

/// `+from:to`, each part of which may be missing.
struct Refspec {
    is_forced: bool,
    deletes: bool,
    /// The destination; `None` if it is not known.
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
        let to = expansions_as_globs(if to.is_empty() { from } else { to });
        let is_known = to != "*";
        Self { is_forced, deletes, to: is_known.then_some(to) }
    }

    /// Returns the branch that is pushed to; `None` if the destination is not a branch.
    fn target(&self) -> Option<Target> {
        let Some(to) = self.to.as_deref() else { return Some(RewrittenBranch::Unknown.into()) };
        let name = to.strip_prefix("refs/heads/").or_else(|| to.strip_prefix("heads/")).unwrap_or(to);
        match name {
            "" => Some(RewrittenBranch::All.into()),
            "HEAD" | "@" => Some(Target::Current),
            _ if name.starts_with("refs/*") => Some(RewrittenBranch::All.into()),
            _ if name.starts_with("refs/") => None,
            _ if name.contains('*') => Some(RewrittenBranch::Matching(name.to_owned()).into()),
            _ => Some(RewrittenBranch::Named(name.to_owned()).into()),
        }
    }
}

/// Returns the text with every expansion replaced by `*`.
fn expansions_as_globs(text: &str) -> String {
    let mut pattern = String::new();
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
                pattern.push('*');
            }
            ('$', _) => {
                while letters.next_if(|letter| letter.is_ascii_alphanumeric() || "_…".contains(*letter)).is_some() {}
                pattern.push('*');
            }
            ('`', _) => {
                letters.by_ref().find(|letter| *letter == '`');
                pattern.push('*');
            }
            _ => pattern.push(letter),
        }
    }
    pattern
}

/// Returns the index of the last colon outside `${…}` and `$(…)`.
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
