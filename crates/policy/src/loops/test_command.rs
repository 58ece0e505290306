//! Guesses a project's test command from the files in its root.

/// Files that must all exist, and the test command as YAML. `FILE: TEXT` is a file with a line that starts with `TEXT`. The
/// first match counts, so more specific lines come first. General task runners (`make`, `just`) come last, because many
/// projects have one besides their manifest.
const TEST_COMMANDS: &[(&[&str], &str)] = &[
    (&["Cargo.toml"], "[cargo, test]"),
    (&["go.mod"], "[go, test, ./...]"),
    (&["deno.json"], "[deno, test]"),
    (&["deno.jsonc"], "[deno, test]"),
    (&["package.json", "pnpm-lock.yaml"], "[pnpm, test]"),
    (&["package.json", "yarn.lock"], "[yarn, test]"),
    (&["package.json", "bun.lock"], "[bun, run, test]"),
    (&["package.json", "bun.lockb"], "[bun, run, test]"),
    (&["package.json"], "[npm, test]"),
    (&["uv.lock"], "[uv, run, pytest]"),
    (&["pyproject.toml: [tool.uv"], "[uv, run, pytest]"),
    (&["poetry.lock"], "[poetry, run, pytest]"),
    (&["pyproject.toml: [tool.poetry"], "[poetry, run, pytest]"),
    (&["pyproject.toml: build-backend = \"poetry"], "[poetry, run, pytest]"),
    (&["tox.ini"], "[tox]"),
    (&["pyproject.toml"], "[python3, -m, pytest]"),
    (&["setup.py"], "[python3, -m, pytest]"),
    (&["pytest.ini"], "[python3, -m, pytest]"),
    (&["requirements.txt", "tests"], "[python3, -m, pytest]"),
    (&["mvnw"], "[./mvnw, test]"),
    (&["pom.xml"], "[mvn, test]"),
    (&["gradlew"], "[./gradlew, test]"),
    (&["build.gradle"], "[gradle, test]"),
    (&["build.gradle.kts"], "[gradle, test]"),
    (&["build.sbt"], "[sbt, test]"),
    (&["mix.exs"], "[mix, test]"),
    (&["rebar.config"], "[rebar3, eunit]"),
    (&["Gemfile", "spec"], "[bundle, exec, rspec]"),
    (&["Gemfile"], "[bundle, exec, rake, test]"),
    (&["composer.json"], "[composer, test]"),
    (&["Package.swift"], "[swift, test]"),
    (&["pubspec.yaml"], "[dart, test]"),
    (&["stack.yaml"], "[stack, test]"),
    (&["cabal.project"], "[cabal, test]"),
    (&["dune-project"], "[dune, test]"),
    (&["build.zig"], "[zig, build, test]"),
    (&["justfile: test:"], "[just, test]"),
    (&["justfile: test "], "[just, test]"),
    (&["Makefile: test:"], "[make, test]"),
];

/// Returns `None` if no line matches. `has` is true if the root has this file or directory, or this file with such a
/// line.
pub fn test_command(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    TEST_COMMANDS.iter().find(|(files, _)| files.iter().all(|file| has(file))).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_goes_before_a_makefile() {
        let command = |files: &[&str]| test_command(|file| files.contains(&file));
        assert_eq!(command(&["Makefile: test:", "Cargo.toml"]), Some("[cargo, test]"));
        assert_eq!(command(&["package.json", "pnpm-lock.yaml"]), Some("[pnpm, test]"));
        assert_eq!(command(&["package.json"]), Some("[npm, test]"));
        assert_eq!(command(&["Makefile: test:"]), Some("[make, test]"));
        assert_eq!(command(&["README.md"]), None);
    }
}
