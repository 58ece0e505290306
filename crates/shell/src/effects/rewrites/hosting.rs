//! Branches that are rewritten or deleted on a hosting service (GitHub, GitLab, …): with its command-line program or
//! its HTTP API.

use super::RewrittenBranch;
use crate::model::SimpleCommand;
use crate::programs::Arguments;

/// Returns the branch that a command rewrites, deletes or leaves without protection, and a flag: true if the command
/// certainly does so.
pub(crate) fn rewrite_by_host(command: &SimpleCommand, arguments: &Arguments) -> Option<(RewrittenBranch, bool)> {
    let form: Vec<&str> = arguments.subcommands.iter().map(String::as_str).collect();
    let flag = |name: &str| {
        let value = arguments.flags.iter().find(|flag| flag.is(name))?.value?;
        command.text_from(value.word, value.from)
    };
    match (command.program()?, form.as_slice()) {
        ("gh", ["repo", "sync"]) => rewrite_by_sync(arguments, flag("--branch")),
        // Deleting a repository deletes all its branches. A repository that the command names is possibly not the
        // current repository.
        ("gh" | "glab", ["repo", "delete"]) | ("hub", ["delete"]) => {
            Some((RewrittenBranch::All, arguments.operands.is_empty()))
        }
        ("az", ["repos", "ref", "delete"]) => Some(named(flag("--name").map(|name| name.trim_start_matches("refs/")))),
        ("sl", ["push"]) if arguments.flags.iter().any(|flag| flag.is("--force")) => Some(named(flag("--to"))),
        ("gh" | "glab" | "hub", ["api"]) | ("curl" | "http" | "https" | "wget" | "wget2" | "xh", []) => {
            rewrite_by_api(command, arguments)
        }
        _ => None,
    }
}

/// Returns the branch of this name, or an unknown branch if there is no name. The flag is true if the name is known.
fn named(branch: Option<&str>) -> (RewrittenBranch, bool) {
    let name = |branch: &str| RewrittenBranch::Named(branch.strip_prefix("heads/").unwrap_or(branch).to_owned());
    branch.map_or((RewrittenBranch::Unknown, false), |branch| (name(branch), true))
}

/// Returns the branch that `gh repo sync OWNER/NAME --force` rewrites.
fn rewrite_by_sync(arguments: &Arguments, branch: Option<&str>) -> Option<(RewrittenBranch, bool)> {
    arguments.operands.first().filter(|_| arguments.has_flag(&["--force"]))?;
    Some(named(branch))
}

/// Returns the branch that an API request changes: `gh api`, `curl`.
fn rewrite_by_api(command: &SimpleCommand, arguments: &Arguments) -> Option<(RewrittenBranch, bool)> {
    let values = |names: &'static [&'static str]| {
        let flags = arguments.flags.iter().filter(move |flag| names.iter().any(|name| flag.is(name)));
        flags.filter_map(|flag| flag.value).map(|value| command.text_from(value.word, value.from))
    };
    let urls = arguments.flags.iter().filter(|flag| flag.is("--url")).filter_map(|flag| Some(flag.value?.word));
    let url_words: Vec<usize> = arguments.operands.iter().copied().chain(urls).collect();
    let urls = || url_words.iter().filter_map(|index| command.words().get(*index));
    // GraphQL mutations identify a branch by its node ID, which does not contain its name.
    let changes = |query: &str| ["updateRef", "deleteRef"].iter().any(|change| query.contains(change));
    if urls().any(|word| word.value.as_deref().is_some_and(|text| text.ends_with("graphql")))
        && values(&["-f", "-F", "-d", "--data-raw", "--json"]).flatten().any(changes)
    {
        return Some((RewrittenBranch::Unknown, false));
    }
    let urls = urls().map(|word| word.value.as_deref().unwrap_or(&word.shown).replace("%2F", "/"));
    let urls: Vec<String> = urls.collect();
    // URLs of GitHub contain `git/refs/heads/`, URLs of GitLab `/repository/branches/`.
    let branch_of = |url: String| {
        let branch = url.split_once("git/refs/heads/").or_else(|| url.split_once("/repository/branches/"));
        branch.map(|(_, branch)| branch.to_owned())
    };
    let verb =
        arguments.operands.first().and_then(|index| command.words().get(*index)).map(|word| word.value.as_deref());
    let method = match command.program() {
        Some("http" | "https" | "xh") => verb,
        Some("wget" | "wget2") => values(&["--method"]).next_back(),
        _ => values(&["-X"]).next_back(),
    };
    let method = method.map(|method| method.map(str::to_ascii_uppercase));
    let is_method = |wanted: &str| matches!(&method, Some(Some(method)) if method == wanted);
    if let Some(exposed) = urls.iter().find_map(|url| branch_exposed_by_deletion(url)).filter(|_| is_method("DELETE")) {
        return Some((exposed, false));
    }
    if let Some(name) = urls.iter().find_map(|url| renamed_branch(url)).filter(|_| !is_method("GET")) {
        return Some(named(Some(name)));
    }
    let url = urls.into_iter().find_map(branch_of)?;
    let branch = url.as_str();
    let branch = RewrittenBranch::Named(branch.split(['?', '#']).next().unwrap_or(branch).to_owned());
    let is_force =
        |field: &str| field.replace(['"', ' '], "").replace(':', "=").replace("==", "=").contains("force=true");
    let words = || arguments.operands.iter().filter_map(|index| command.text_from(*index, 0)).map(Some);
    let fields = || values(&["-f", "-F", "-d", "--data-raw", "--json", "--body-data"]).chain(words());
    let is_forced = fields().any(|field| field.is_some_and(is_force));
    let is_file = |field: Option<&str>| field.is_none_or(|field| field.starts_with('@'));
    let has_unknown = values(&["--input", "--body-file"]).next().is_some() || fields().any(is_file);
    match method?.as_deref() {
        Some("DELETE") => Some((branch, true)),
        Some("PATCH") if is_forced => Some((branch, true)),
        Some("PATCH") if has_unknown => Some((branch, false)),
        None => Some((branch, false)),
        Some(_) => None,
    }
}

/// Returns the part of an API URL after `repos/` or `projects/`.
fn path_in_repository(url: &str) -> Option<&str> {
    const ROOTS: &[&str] = &["api.github.com/repos/", "/api/v3/repos/", "/api/v4/projects/"];
    let url = url.split(['?', '#']).next()?;
    // The argument of `gh api` and `glab api` is a path without a host.
    let path = url.trim_start_matches('/');
    let path = path.strip_prefix("repos/").or_else(|| path.strip_prefix("projects/"));
    path.or_else(|| ROOTS.iter().find_map(|root| url.split_once(root)).map(|(_, rest)| rest))
}

/// Returns the branch that is renamed: `main` of `repos/OWNER/NAME/branches/main/rename`.
fn renamed_branch(url: &str) -> Option<&str> {
    path_in_repository(url)?.split_once("/branches/")?.1.strip_suffix("/rename")
}

/// Returns the branches that lose their protection or are deleted by a `DELETE` request, if the URL of the request is
/// that of a branch's protection, a ruleset or the whole repository.
fn branch_exposed_by_deletion(url: &str) -> Option<RewrittenBranch> {
    let within = path_in_repository(url)?;
    let protected = within.split_once("/branches/").and_then(|(_, rest)| rest.split_once("/protection"));
    let protected = protected.map(|(branch, _)| branch);
    if let Some(branch) = protected.or_else(|| within.split_once("/protected_branches/").map(|(_, branch)| branch)) {
        return Some(named(Some(branch)).0);
    }
    let parts: Vec<&str> = within.split('/').collect();
    let exposes_all = match parts.as_slice() {
        [_] => url.contains("projects/"),
        [_, _] => url.contains("repos/"),
        [_, _, "rulesets", _] => true,
        _ => false,
    };
    exposes_all.then_some(RewrittenBranch::All)
}
