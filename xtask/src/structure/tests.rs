use std::path::PathBuf;

use super::source::Module;
use super::*;

/// Returns a crate with these modules, each a path and its text.
fn crate_with(name: &str, modules: &[(&str, &str)]) -> Crate {
    let module = |(path, text): &(&str, &str)| {
        let parts = path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Module::parse(parts, format!("{path}.rs"), text).unwrap()
    };
    Crate {
        name: name.to_owned(),
        directory: PathBuf::new(),
        dependencies: Vec::new(),
        modules: modules.iter().map(module).collect(),
    }
}

fn findings_of(krate: Crate, check: Check) -> Vec<String> {
    let findings = findings(&[krate]).into_iter().filter(|finding| finding.check == check);
    findings.map(|finding| format!("{}: {}", finding.location, finding.detail)).collect()
}

#[test]
fn a_cycle_is_found() {
    let by_import = [("a", "use super::b::B; pub struct A(B);"), ("b", "use super::a::A; pub struct B(A);")];
    assert_eq!(findings_of(crate_with("shell", &by_import), Check::ModuleCycle), ["shell: a, b"]);
    let by_path =
        [("a", "pub const A: u8 = 1; fn a() { crate::b::b() }"), ("b", "pub fn b() { println!(\"{}\", crate::a::A) }")];
    assert_eq!(findings_of(crate_with("shell", &by_path), Check::ModuleCycle), ["shell: a, b"]);
    let between_submodules = [
        ("a", "mod x; mod z;"),
        ("a::x", "use crate::b::Y;"),
        ("a::z", "pub struct Z;"),
        ("b", "use crate::a::z::Z; pub struct Y(Z);"),
    ];
    assert_eq!(findings_of(crate_with("shell", &between_submodules), Check::ModuleCycle), ["shell: a, b"]);
}

#[test]
fn a_cycle_through_a_reexport_is_found() {
    let modules = [
        ("", "mod a; mod b; pub use a::A;"),
        ("a", "use crate::b::helper; pub struct A; fn f() { helper() }"),
        ("b", "use crate::A; pub fn helper() -> A { A }"),
    ];
    assert_eq!(findings_of(crate_with("shell", &modules), Check::ModuleCycle), ["shell: a, b"]);
}

#[test]
fn a_module_and_its_submodules_may_import_each_other() {
    let modules = [
        ("a", "mod part; pub struct A; fn f() { part::g() }"),
        ("a::part", "use super::A; pub fn g() -> A { A }"),
        ("b", "use crate::a::A; #[cfg(test)] mod tests { use crate::c::C; }"),
        ("c", "use crate::b; pub struct C;"),
    ];
    assert_eq!(findings_of(crate_with("shell", &modules), Check::ModuleCycle), Vec::<String>::new());
}

#[test]
fn a_forbidden_dependency_is_found() {
    let mut krate = crate_with("shell", &[]);
    krate.dependencies = vec!["path".to_owned(), "engine".to_owned()];
    assert_eq!(findings_of(krate, Check::CrateEdge), ["shell: must not depend on engine"]);
    assert_eq!(findings_of(crate_with("new", &[]), Check::CrateEdge), ["new: is not in the table of crates"]);
}

#[test]
fn long_files_and_functions_are_found() {
    let function = |lines: usize| format!("fn f() {{\n{}}}", "g();\n".repeat(lines - 2));
    assert_eq!(
        findings_of(crate_with("shell", &[("a", &function(61))]), Check::FunctionLength),
        ["a.rs f: 61 lines; 60 are allowed"]
    );
    assert_eq!(findings_of(crate_with("shell", &[("a", &function(60))]), Check::FunctionLength), Vec::<String>::new());
    let file = |lines: usize| "const A: u8 = 1;\n".repeat(lines);
    assert_eq!(
        findings_of(crate_with("shell", &[("a", &file(601))]), Check::FileLength),
        ["a.rs: 601 lines; 600 are allowed"]
    );
    let tests = format!("{}#[cfg(test)]\nmod tests {{\n}}\n", file(600));
    assert_eq!(findings_of(crate_with("shell", &[("a", &tests)]), Check::FileLength), Vec::<String>::new());
    let fields = |count: usize| {
        format!("struct S {{ {} }}", (0..count).map(|at| format!("f{at}: u8")).collect::<Vec<_>>().join(", "))
    };
    assert_eq!(
        findings_of(crate_with("shell", &[("a", &fields(17))]), Check::Fields),
        ["a.rs S: 17 fields; 16 are allowed"]
    );
    assert_eq!(findings_of(crate_with("shell", &[("a", &fields(16))]), Check::Fields), Vec::<String>::new());
}

#[test]
fn super_super_and_duplicate_names_are_found() {
    let with_super_super = [("a::b", "use super::super::c::C;"), ("c", "pub struct C; use super::a;")];
    assert_eq!(
        findings_of(crate_with("shell", &with_super_super), Check::SuperSuper),
        ["a::b.rs: climbs with super::super 1 times"]
    );
    let with_duplicate = [("a", "pub struct S; pub(crate) enum T {}"), ("b", "pub enum S {} enum T {}")];
    assert_eq!(findings_of(crate_with("shell", &with_duplicate), Check::TypeName), ["S: a.rs, b.rs"]);
}

#[test]
fn a_pure_crate_without_a_clippy_list_is_found() {
    assert_eq!(
        findings_of(crate_with("shell", &[]), Check::Purity),
        ["shell: its clippy.toml does not forbid std::time::SystemTime"]
    );
}

#[test]
fn paths_in_a_document_that_do_not_exist_are_found() {
    let existing = ["agents", "agents/Cargo.toml", "agents/src", "agents/src/claude", "agents/src/claude/encode.rs"];
    let existing =
        existing.into_iter().chain(["store/Cargo.toml", "store/src/mask/scan.rs"]).map(str::to_owned).collect();
    let missing = |text| documented_paths::missing_paths(text, &existing);
    assert_eq!(missing("| x | `agents/src/`, `AGENT/encode.rs`, `claude/`, `allow` |"), []);
    assert_eq!(missing("| x | `agents/src/`, `AGENT/decode.rs` |"), [(1, "AGENT/decode.rs")]);
    assert_eq!(missing("`store/src/mask/scan.rs`\nand `scan.rs`\n\n`scan.rs`"), [(4, "scan.rs")]);
    assert_eq!(missing("1. `store/src/mask/scan.rs`\n2. `mask/scan.rs`\n"), [(2, "mask/scan.rs")]);
    assert_eq!(missing("`agents/src/codex/encode.rs`"), [(1, "agents/src/codex/encode.rs")]);
}
