//! `cargo xtask structure`: checks the structure of the source code.
//!
//! A crate depends only on the crates that it may use; modules do not import each other in a cycle; files, functions
//! and structs stay small; public types have unique names; pure crates have no side effects; paths in `ARCHITECTURE.md`
//! exist. Justified violations are listed in [`exceptions`]; their number may only decrease.

use anyhow::{Result, bail, ensure};

mod crate_edges;
mod documented_paths;
mod exceptions;
mod lengths;
mod module_cycles;
mod module_graph;
mod purity;
mod source;
#[cfg(test)]
mod tests;
mod type_names;

use exceptions::EXCEPTIONS;
use source::Crate;

/// A violation of a structure rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    check: Check,
    /// What violates the rule: a crate, a module, a file, or a file and a name in it.
    location: String,
    detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    CrateEdge,
    ModuleCycle,
    SuperSuper,
    FileLength,
    FunctionLength,
    Fields,
    TypeName,
    Purity,
    DocumentedPath,
}

impl Check {
    /// Each check, and its name in the output.
    const ALL: [(Self, &str); 9] = [
        (Self::CrateEdge, "crate edges"),
        (Self::ModuleCycle, "module cycles"),
        (Self::SuperSuper, "super::super"),
        (Self::FileLength, "long files"),
        (Self::FunctionLength, "long functions"),
        (Self::Fields, "structs with many fields"),
        (Self::TypeName, "public type names used twice"),
        (Self::Purity, "pure crates"),
        (Self::DocumentedPath, "paths in ARCHITECTURE.md"),
    ];
}

pub fn run() -> Result<()> {
    let crates = Crate::of_workspace()?;
    let mut findings = findings(&crates);
    findings.extend(documented_paths::check()?);
    ensure!(
        EXCEPTIONS.len() == exceptions::COUNT,
        "there are {} exceptions, but `COUNT` is {}: lower `COUNT` when you delete an exception, and never raise it",
        EXCEPTIONS.len(),
        exceptions::COUNT
    );
    let mut violations = 0;
    for (check, name) in Check::ALL {
        let findings_of_check: Vec<&Finding> = findings.iter().filter(|finding| finding.check == check).collect();
        let (justified, unjustified): (Vec<&Finding>, Vec<&Finding>) =
            findings_of_check.into_iter().partition(|finding| exceptions::reason(finding).is_some());
        println!("{name:30} {:3} found, {:2} justified", unjustified.len(), justified.len());
        for finding in &unjustified {
            println!("    {}: {}", finding.location, finding.detail);
        }
        violations += unjustified.len();
    }
    let stale = exceptions::unneeded(&findings);
    for exception in &stale {
        println!("the exception for {} is no longer needed: delete it", exception.location);
    }
    if violations + stale.len() > 0 {
        bail!("the source code violates the structure rules listed above");
    }
    Ok(())
}

fn findings(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = crate_edges::check(crates);
    for krate in crates {
        findings.extend(module_cycles::check(krate));
        findings.extend(lengths::check(krate));
        findings.extend(module_graph::super_super(krate));
    }
    findings.extend(type_names::check(crates));
    findings.extend(purity::check(crates));
    findings.sort();
    findings
}
