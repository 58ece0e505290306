//! Branches of a remote that a `git push` rewrites or deletes.

use super::{FoundRewrites, RewrittenBranch};
use crate::model::{SimpleCommand, Word};
use crate::programs::Arguments;
use crate::special_programs::git_settings;

pub(super) fn rewrites_of_push(command: &SimpleCommand, arguments: &Arguments) -> FoundRewrites {
    if last_flag_wins(arguments, &["-n", "--dry-run"], "--no-dry-run") {
        return Vec::new();
    }
    let push = Push::of(command, arguments);
    if push.is_mirror() {
        return vec![(RewrittenBranch::All, true)];
    }
    let refspecs = push.refspecs();
    if refspecs.is_empty() { push.rewrites_without_refspec() } else { push.rewrites_of_refspecs(&refspecs) }
}

/// A `git push`, with its flags and settings.
struct Push<'a> {
    command: &'a SimpleCommand,
    arguments: &'a Arguments,
    settings: Vec<(String, String)>,
    /// The operands. The first operand is the remote, the other operands are refspecs.
    operands: Vec<&'a Word>,
    is_forced: bool,
    /// True if the push is forced, or has an unknown flag that may force the push.
    may_be_forced: bool,
}

impl<'a> Push<'a> {
    fn of(command: &'a SimpleCommand, arguments: &'a Arguments) -> Self {
        let is_forced = last_flag_wins(arguments, &["-f", "--force"], "--no-force")
            || last_flag_wins(arguments, &["--force-with-lease"], "--no-force-with-lease");
        Self {
            command,
            arguments,
            settings: settings(command, arguments),
            // The value of `--force-with-lease` must follow `=` (`?` in `programs.txt`), so the remote never counts as
            // this value.
            operands: arguments.operands.iter().filter_map(|index| command.words().get(*index)).collect(),
            is_forced,
            may_be_forced: is_forced || command.has_unknown_flags(arguments),
        }
    }

    fn has_setting(&self, is_wanted: impl Fn(&str, &str) -> bool) -> bool {
        self.settings.iter().any(|(name, value)| is_wanted(name, value))
    }

    /// True if the push makes the remote's branches equal to the local branches: `--mirror`, or the setting
    /// `remote.NAME.mirror`.
    fn is_mirror(&self) -> bool {
        let remote = self.operands.first().and_then(|word| word.value_or_placeholder());
        let is_of_remote = |name: &str| {
            let own_remote = name.strip_prefix("remote.").and_then(|name| name.strip_suffix(".mirror"));
            own_remote.is_some_and(|own| remote.is_none_or(|remote| remote.eq_ignore_ascii_case(own)))
        };
        self.arguments.has_flag(&["--mirror"])
            || self.has_setting(|name, value| is_of_remote(name) && !matches!(value, "false" | "fetch"))
    }

    /// Returns the refspecs in the command's arguments or, if the arguments contain no refspec, the refspecs in git's
    /// settings.
    fn refspecs(&self) -> Vec<Refspec> {
        let operands = self.operands.get(1..).unwrap_or_default();
        if !operands.is_empty() {
            return operands.iter().map(|word| Refspec::of_word(word)).collect();
        }
        let is_push = |name: &str| name.starts_with("remote.") && name.rsplit('.').next() == Some("push");
        let settings = self.settings.iter().filter(|(name, _)| is_push(name));
        settings.map(|(_, value)| Refspec::parse(value)).collect()
    }

    fn rewrites_of_refspecs(&self, refspecs: &[Refspec]) -> FoundRewrites {
        let deletes_all = self.arguments.has_flag(&["-d", "--delete"]);
        let mut found: FoundRewrites = Vec::new();
        for spec in refspecs {
            let target = spec.target();
            // `--prune` deletes the branches of the remote that match the refspec and do not exist locally.
            let prunes = self.arguments.has_flag(&["--prune"])
                && matches!(target, Some(Target::Other(RewrittenBranch::Matching(_) | RewrittenBranch::All)));
            let is_certain = deletes_all || self.is_forced || prunes || spec.is_forced || spec.deletes;
            if is_certain || self.may_be_forced {
                found.extend(target.into_iter().flat_map(|target| self.rewrites_of_target(target, is_certain)));
            }
        }
        found
    }

    /// Returns the rewrites of a push that names no branch.
    fn rewrites_without_refspec(&self) -> FoundRewrites {
        let prunes = self.arguments.has_flag(&["--prune"]);
        // Without a refspec, `--tags` pushes nothing but tags.
        if self.arguments.has_flag(&["--tags"]) || !(self.may_be_forced || prunes) {
            return Vec::new();
        }
        let covers_all = prunes
            || self.arguments.has_flag(&["--all", "--branches"])
            || self.has_setting(|name, value| name == "push.default" && value == "matching");
        // The upstream branch may have another name than the local branch.
        let pushes_upstream =
            self.has_setting(|name, value| name == "push.default" && matches!(value, "upstream" | "tracking"));
        let target = match (covers_all, pushes_upstream) {
            (true, _) => RewrittenBranch::All.into(),
            (false, true) => RewrittenBranch::Unknown.into(),
            // Git's default, `push.default=simple`, pushes the checked-out branch to the branch of the same name. The
            // repository's own git configuration is not read.
            (false, false) => Target::Current,
        };
        self.rewrites_of_target(target, self.is_forced || prunes)
    }

    /// Returns the rewrites by a push to a target. For the current branch, there is one rewrite for each branch that
    /// may be checked out.
    fn rewrites_of_target(&self, target: Target, is_certain: bool) -> FoundRewrites {
        let branches = &self.command.context.branches;
        match target {
            Target::Current => {
                let is_certain = is_certain && branches.len() == 1;
                branches.iter().map(|branch| (RewrittenBranch::Current(branch.clone()), is_certain)).collect()
            }
            Target::Other(branch) => vec![(branch, is_certain)],
        }
    }
}

/// The destination of a refspec.
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

/// True if one of the flags in `flags` is given, and the flag `negation` does not follow.
fn last_flag_wins(arguments: &Arguments, flags: &[&str], negation: &str) -> bool {
    let mut last = arguments.flags.iter().rev().map(|flag| flag.name.as_str());
    last.find(|flag| flags.contains(flag) || *flag == negation).is_some_and(|flag| flag != negation)
}

/// Returns git's settings from `-c`, from earlier commands and from the environment: names in lower case, and values. A
/// setting without a value counts as `true`.
fn settings(command: &SimpleCommand, arguments: &Arguments) -> Vec<(String, String)> {
    let is_config_flag = |name: &str| matches!(name, "-c" | "--config-env");
    let flags = arguments.flags.iter().filter(|flag| is_config_flag(&flag.name));
    let set_by_flags = flags.filter_map(|flag| git_settings::setting_in_flag(command, arguments, flag.value?));
    let set_by_flags = set_by_flags.map(|setting| match setting.split_once('=') {
        Some((name, value)) => (name.to_ascii_lowercase(), value.to_owned()),
        None => (setting.to_ascii_lowercase(), "true".to_owned()),
    });
    let set_earlier = command.context.git_settings.iter().map(|setting| (**setting).clone());
    set_by_flags.chain(set_earlier).chain(command.context.git_environment.iter().cloned()).collect()
}

/// A refspec: `+from:to`. Each of its parts may be missing.
struct Refspec {
    is_forced: bool,
    deletes: bool,
    /// The destination; `None` if it is not known.
    to: Option<String>,
}

impl Refspec {
    fn of_word(word: &Word) -> Self {
        Self::parse(word.value_or_placeholder().unwrap_or(&word.shown))
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

/// Returns a refspec in which every expansion is replaced by `*`.
fn expansions_as_globs(text: &str) -> String {
    let mut pattern = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek()) {
            ('$', Some(open @ ('{' | '('))) => {
                let (open, close) = if *open == '{' { ('{', '}') } else { ('(', ')') };
                let mut depth = 0_usize;
                for inside in characters.by_ref() {
                    depth += usize::from(inside == open);
                    depth -= usize::from(inside == close);
                    if depth == 0 {
                        break;
                    }
                }
                pattern.push('*');
            }
            ('$', _) => {
                while characters.next_if(|c| c.is_ascii_alphanumeric() || "_…".contains(*c)).is_some() {}
                pattern.push('*');
            }
            ('`', _) => {
                characters.by_ref().find(|c| *c == '`');
                pattern.push('*');
            }
            _ => pattern.push(c),
        }
    }
    pattern
}

/// Returns the index of the last colon outside `${…}` and `$(…)`.
fn last_colon(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = None;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => last = Some(at),
            _ => {}
        }
    }
    last
}
