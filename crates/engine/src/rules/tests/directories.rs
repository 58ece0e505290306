//! Tests of recursive access to directories.

use std::sync::Arc;

use super::{base_directories, bash, path_pattern, rule, verdict, wildcard};
use crate::facts::{Facts, GitField, Missing, NoFacts};
use crate::rules::{BranchClause, CommandMatcher, Detector, PathClause, PathKey, Rule, RuleSet, ToolRule};
use crate::{DecisionRequest, Level, Situation, decide};

fn path_clause(key: PathKey, patterns: &[&str], except: &[&str]) -> PathClause {
    let all = |patterns: &[&str]| patterns.iter().map(|pattern| path_pattern(pattern)).collect();
    PathClause { key, patterns: all(patterns), except: all(except) }
}

fn rule_for_paths(paths: Vec<PathClause>) -> Rule {
    rule("directories", Detector::Tool(Box::new(ToolRule { paths, ..ToolRule::default() })))
}

#[test]
fn recursive_access_matches_files_in_the_directory() {
    let cases = [
        ("src/**/*.ts", "rm -rf src", Level::Block),
        ("src/**/*.ts", "rm --recursive ./src/", Level::Block),
        ("src/**/*.ts", "rm -r src/deep", Level::Block),
        ("src/**/*.ts", "rm -r .", Level::Block),
        ("src/**/*.ts", "rm -r ..", Level::Block),
        ("src/**/*.ts", "cd src && rm -r ../src", Level::Block),
        ("src/**/*.ts", "rm -r sources srcs", Level::Allow),
        ("src/**/*.ts", "rm src", Level::Allow),
        ("src/**/*.ts", "rmdir src", Level::Allow),
        ("src/**/*.ts", "cp -r src elsewhere", Level::Allow),
        ("src/important.txt", "rm -rf src", Level::Block),
        ("src/important.txt", "rm -rf src/other.txt", Level::Allow),
        ("src/important.txt", "mv src elsewhere", Level::Block),
        ("src/important.txt", "git rm -rq src", Level::Block),
        ("src/important.txt", "find src -delete", Level::Block),
        ("src/important.txt", "find src -name '*.log' -delete", Level::Allow),
        ("src/important.txt", "rsync -a --delete new/ src/", Level::Block),
        ("src/important.txt", "python3 -c 'import shutil; shutil.rmtree(\"src\")'", Level::Block),
        // The pattern does not begin with a fixed directory.
        ("**/*.ts", "rm -r node_modules", Level::Allow),
        ("**/*.ts", "rm -r .", Level::Block),
        ("/**/.secret", "rm -r build", Level::Allow),
        ("/etc/app/*.conf", "rm -r /etc/app", Level::Block),
        ("/etc/app/*.conf", "rm -r /etc/apps", Level::Allow),
        ("~/.ssh/**", "rm -r ~/.ssh", Level::Block),
        ("~/.ssh/**", "rm -r /home", Level::Block),
        ("~/.ssh/**", "rm -r ~/.cache", Level::Allow),
    ];
    for (pattern, command, expected) in cases {
        for key in [PathKey::Deletes, PathKey::Writes] {
            // `rsync` also writes into the directory.
            if key == PathKey::Writes && command.starts_with("rsync") {
                continue;
            }
            let found = verdict(&[rule_for_paths(vec![path_clause(key, &[pattern], &[])])], bash(command), false).level;
            assert_eq!(found, expected, "{} {pattern}: {command}", key.name());
        }
    }
}

#[test]
fn files_found_by_find_match_at_any_depth() {
    let cases = [
        ("find . -type f -delete", Level::Block, Level::Block),
        ("find -type f -delete", Level::Block, Level::Block),
        ("find $PWD -type f -delete", Level::Block, Level::Block),
        ("find src -mtime +3 -delete", Level::Block, Level::Block),
        ("find . ! -name x -delete", Level::Block, Level::Block),
        ("find . -size 0 -delete", Level::Block, Level::Block),
        ("find . -empty -delete", Level::Block, Level::Block),
        ("find . -type f -exec rm {} +", Level::Block, Level::Block),
        ("find src -exec rm {} ';'", Level::Block, Level::Block),
        ("find src -type f -exec sh -c 'rm \"$1\"' _ {} ';'", Level::Block, Level::Block),
        ("find . -type f -print0 | xargs -0 rm", Level::Block, Level::Block),
        ("find . -type f | xargs -I% rm %", Level::Block, Level::Block),
        ("find src -type f | while read -r f; do rm \"$f\"; done", Level::Block, Level::Block),
        ("for f in $(find src -type f); do rm \"$f\"; done", Level::Block, Level::Block),
        ("find . -type f -exec mv {} /tmp ';'", Level::Block, Level::Block),
        ("find . -type f -exec sed -i s/a/b/ {} +", Level::Allow, Level::Block),
        ("find src -type f -print0 | xargs -0 sed -i s/a/b/", Level::Allow, Level::Block),
        ("find src -type f -exec truncate -s 0 {} +", Level::Allow, Level::Block),
        ("find src -type f -exec grep x {} +", Level::Allow, Level::Allow),
        ("find . -type f -exec chmod 644 {} +", Level::Allow, Level::Allow),
        ("find . -type f -exec touch {} +", Level::Allow, Level::Allow),
        ("find /tmp/x -type f -exec cp {} . ';'", Level::Allow, Level::Allow),
        ("find . -type d -empty -delete", Level::Allow, Level::Allow),
        ("find . -type l -delete", Level::Allow, Level::Allow),
        ("find . -maxdepth 1 -type f -delete", Level::Allow, Level::Allow),
        ("find . -maxdepth 1 -type d -exec rm -r {} +", Level::Block, Level::Block),
        ("find . -maxdepth 0 -exec ls {} +", Level::Allow, Level::Allow),
        ("find build -type f -delete", Level::Allow, Level::Allow),
        ("find build -type f -exec sed -i s/a/b/ {} +", Level::Allow, Level::Allow),
        ("find . -type f -name '*.orig' -delete", Level::Allow, Level::Allow),
        ("find . -name __pycache__ -type d -exec rm -rf {} +", Level::Allow, Level::Allow),
    ];
    for (command, deletes, writes) in cases {
        for (key, expected) in [(PathKey::Deletes, deletes), (PathKey::Writes, writes)] {
            let found =
                verdict(&[rule_for_paths(vec![path_clause(key, &["src/**"], &[])])], bash(command), false).level;
            assert_eq!(found, expected, "{}: {command}", key.name());
        }
    }
}

#[test]
fn exceptions_apply_to_recursive_access() {
    let rule = rule_for_paths(vec![path_clause(PathKey::Deletes, &["src/**"], &["src/made/**"])]);
    assert_eq!(verdict(std::slice::from_ref(&rule), bash("rm -r src/made"), false).level, Level::Allow);
    assert_eq!(verdict(&[rule], bash("rm -r src"), false).level, Level::Block);
}

#[test]
fn the_value_of_a_variable_is_not_a_written_path() {
    let cases = [
        ("PYTHONPATH=gen python3 -m pytest", PathKey::Writes, Level::Allow),
        ("RUST_LOG=gen/x cargo run", PathKey::Writes, Level::Allow),
        ("X=gen/foo git commit -m x", PathKey::Writes, Level::Allow),
        ("X=gen/foo unheard-of", PathKey::Reads, Level::Ask),
        ("X=gen/foo unheard-of gen/foo", PathKey::Writes, Level::Ask),
        ("DESTDIR=gen make install", PathKey::Writes, Level::Ask),
        ("COVERAGE_FILE=gen/x pytest", PathKey::Writes, Level::Ask),
        ("OUTPUT_PATH=gen/x npm run build", PathKey::Writes, Level::Ask),
        ("git checkout -- gen/x", PathKey::Writes, Level::Block),
        ("git checkout HEAD~2 -- gen/x", PathKey::Writes, Level::Block),
        ("git checkout gen/x", PathKey::Writes, Level::Ask),
    ];
    for (command, key, expected) in cases {
        let found = verdict(&[rule_for_paths(vec![path_clause(key, &["gen/**"], &[])])], bash(command), false).level;
        assert_eq!(found, expected, "{}: {command}", key.name());
    }
}

#[test]
fn path_clauses_of_matchers_match_recursive_access() {
    let paths = vec![path_clause(PathKey::Deletes, &["src/important.txt"], &[])];
    let matchers = vec![CommandMatcher { paths, ..CommandMatcher::default() }];
    let rule = rule("matcher", Detector::Tool(Box::new(ToolRule { matchers, ..ToolRule::default() })));
    assert_eq!(verdict(&[rule], bash("cd src; rm -r ../src"), false).level, Level::Block);
}

/// A file system with one file.
struct OneFile;

impl Facts for OneFile {
    fn is_directory(&self, path: &str) -> Option<bool> {
        (path == "/r/src/notes").then_some(false)
    }
}

/// A repository that contains a nested repository. The branch `feature` is checked out.
struct NestedRepository;

impl Facts for NestedRepository {
    fn is_directory(&self, path: &str) -> Option<bool> {
        (path == "/r/vendor/lib/.git").then_some(false)
    }

    fn git(&self, _field: GitField) -> Result<serde_json::Value, Missing> {
        Ok("feature".into())
    }
}

#[test]
fn the_branch_of_a_nested_repository_is_unknown() {
    let level_of = |command: &str| {
        let situation =
            Arc::new(Situation::new(Arc::new(bash(command)), base_directories(), Arc::new(NestedRepository)));
        let rewrites = Some(BranchClause { branches: vec![wildcard("main")] });
        let rule = rule("push", Detector::Tool(Box::new(ToolRule { rewrites, ..ToolRule::default() })));
        let rules = RuleSet::pack(&[rule]).expect("packed");
        decide(&DecisionRequest { situation: &situation, rules: &rules, evaluate_all: false })
            .expect("judged")
            .verdict
            .level
    };
    assert_eq!(level_of("git push --force"), Level::Allow);
    assert_eq!(level_of("cd vendor; git push --force"), Level::Allow);
    assert_eq!(level_of("cd vendor/lib/src; git push --force"), Level::Ask);
    assert_eq!(level_of("git -C vendor/lib push --force"), Level::Ask);
    assert_eq!(level_of("git -C vendor/lib push --force origin mine"), Level::Allow);
}

#[test]
fn recursive_access_to_a_file_includes_no_other_file() {
    let level_of = |facts: Arc<dyn Facts>| {
        let situation = Arc::new(Situation::new(Arc::new(bash("rm -rf src/notes")), base_directories(), facts));
        let rules = RuleSet::pack(&[rule_for_paths(vec![path_clause(PathKey::Deletes, &["src/**/*.ts"], &[])])])
            .expect("packed");
        decide(&DecisionRequest { situation: &situation, rules: &rules, evaluate_all: false })
            .expect("judged")
            .verdict
            .level
    };
    assert_eq!(level_of(Arc::new(OneFile)), Level::Allow);
    assert_eq!(level_of(Arc::new(NoFacts)), Level::Block);
}
