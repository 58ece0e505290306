//! Justified violations of the structure rules, each with its reason. There are none now.

use super::{Check, Finding};

/// The number of exceptions. Lower it when one is deleted; never raise it.
pub const COUNT: usize = 0;

pub struct Exception {
    pub check: Check,
    pub location: &'static str,
    pub reason: &'static str,
}

pub const EXCEPTIONS: &[Exception] = &[];

/// Returns the reason why a finding is allowed. `None` for a module cycle, which is never allowed.
pub fn reason(finding: &Finding) -> Option<&'static str> {
    let exception = EXCEPTIONS.iter().find(|exception| applies_to(exception, finding))?;
    (finding.check != Check::ModuleCycle).then_some(exception.reason)
}

/// Returns exceptions that no finding needs any more.
pub fn unneeded(findings: &[Finding]) -> Vec<&'static Exception> {
    EXCEPTIONS.iter().filter(|exception| !findings.iter().any(|finding| applies_to(exception, finding))).collect()
}

fn applies_to(exception: &Exception, finding: &Finding) -> bool {
    exception.check == finding.check && exception.location == finding.location
}
