//! Determines whether exit status 0 of a script means that every command in it ran and succeeded.

use brush_parser::ast::{AndOr, Command, Pipeline, SeparatorOperator};

use crate::model::Script;
use crate::syntax::bounded_parse;

/// True if exit status 0 of the script means that every command in it ran and succeeded: simple commands joined by
/// `&&`. False for a script with anything else (a pipeline, `;`, `||`, a substitution, a wrapper that is not
/// transparent).
pub fn every_command_must_succeed(text: &str, script: &Script) -> bool {
    let Ok(program) = bounded_parse::parse(text, 0) else { return false };
    let [list] = program.complete_commands.as_slice() else { return false };
    let [item] = list.0.as_slice() else { return false };
    if !matches!(item.1, SeparatorOperator::Sequence) {
        return false;
    }
    let is_plain = |pipeline: &Pipeline| !pipeline.bang && matches!(pipeline.seq.as_slice(), [Command::Simple(_)]);
    let rest = item.0.additional.iter().all(|part| matches!(part, AndOr::And(pipeline) if is_plain(pipeline)));
    // All commands must run in the script's own shell. Transparent wrappers are accepted, because such a wrapper has
    // the exit status of the command that it runs.
    let is_direct = script
        .commands
        .iter()
        .filter(|command| !command.provenance.is_assumed)
        .all(|command| command.context.shell == 0 && command.via().len() == command.wrappers.len());
    is_plain(&item.0.first) && rest && is_direct && script.complete && script.functions.is_empty()
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn only_simple_commands_joined_by_and_must_all_succeed() {
        let must_succeed = |text: &str| super::every_command_must_succeed(text, &parse(text));
        for text in
            ["cargo test", "cd api && FOO=1 cargo test -q && git add .", "time cargo test", "cargo test > log 2>&1"]
        {
            assert!(must_succeed(text), "{text}");
        }
        for text in [
            "cargo test | tail",
            "cargo test || true",
            "cargo test; true",
            "cargo test\ntrue",
            "cargo test &",
            "! cargo test",
            "echo $(cargo test)",
            "bash -c 'cargo test; true'",
            "(cargo test)",
            "if cargo test; then true; fi",
            "cargo test() { true; }",
            "cargo test && (",
        ] {
            assert!(!must_succeed(text), "{text}");
        }
    }
}
