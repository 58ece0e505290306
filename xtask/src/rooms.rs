//! `cargo xtask rooms`: checks the structure of the source code.
//!
//! A crate depends only on the crates that it may use; modules do not import each other in a cycle; files, functions
//! and structs stay small; public types have unique names; pure crates have no side effects. Justified violations are
//! listed in [`exceptions`]; their number may only decrease.

use anyhow::{Result, bail, ensure};

mod crate_edges;
mod exceptions;
mod lengths;
mod module_cycles;
mod module_graph;
mod names;
mod purity;
mod source;
#[cfg(test)]
mod tests;

use exceptions::EXCEPTIONS;
use source::Crate;

/// A violation of a structure rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    check: Check,
    /// A crate, a module, a file, or a file and a name in it.
    place: String,
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
}

impl Check {
    const ALL: [(Self, &str); 8] = [
        (Self::CrateEdge, "crate edges"),
        (Self::ModuleCycle, "module cycles"),
        (Self::SuperSuper, "super::super"),
        (Self::FileLength, "long files"),
        (Self::FunctionLength, "long functions"),
        (Self::Fields, "structs with many fields"),
        (Self::TypeName, "public type names used twice"),
        (Self::Purity, "pure crates"),
    ];
}

pub fn run() -> Result<()> {
    let crates = Crate::of_workspace()?;
    let findings = findings(&crates);
    ensure!(
        EXCEPTIONS.len() == exceptions::COUNT,
        "there are {} exceptions, not {}: the number may only fall, and falls with the exception that is deleted",
        EXCEPTIONS.len(),
        exceptions::COUNT
    );
    let mut unexpected = 0;
    for (check, name) in Check::ALL {
        let of_check: Vec<&Finding> = findings.iter().filter(|finding| finding.check == check).collect();
        let (excepted, found): (Vec<&Finding>, Vec<&Finding>) =
            of_check.into_iter().partition(|finding| exceptions::reason(finding).is_some());
        println!("{name:30} {:3} found, {:2} excepted", found.len(), excepted.len());
        for finding in &found {
            println!("    {}: {}", finding.place, finding.detail);
        }
        unexpected += found.len();
    }
    let stale = exceptions::without_finding(&findings);
    for exception in &stale {
        println!("the exception for {} is no longer needed: delete it", exception.place);
    }
    if unexpected + stale.len() > 0 {
        bail!("the source does not keep to the plan of the house");
    }
    Ok(())
}

fn findings(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = crate_edges::check(crates);
    for one in crates {
        findings.extend(module_cycles::check(one));
        findings.extend(lengths::check(one));
        findings.extend(module_graph::super_super(one));
    }
    findings.extend(names::check(crates));
    findings.extend(purity::check(crates));
    findings.sort();
    findings
}
