//! Justified violations of the structure rules, each with its reason. There are none now.

use super::{Check, Finding};

/// The number of exceptions. Lower it when one is deleted; never raise it.
pub const COUNT: usize = 0;

pub struct Exception {
    pub check: Check,
    pub place: &'static str,
    pub reason: &'static str,
}

pub const EXCEPTIONS: &[Exception] = &[];

/// Returns the reason why a finding is allowed. None for a cycle, which is never allowed.
pub fn reason(finding: &Finding) -> Option<&'static str> {
    let exception = EXCEPTIONS.iter().find(|exception| is_about(exception, finding))?;
    (finding.check != Check::ModuleCycle).then_some(exception.reason)
}

/// Returns exceptions that no finding needs any more.
pub fn without_finding(findings: &[Finding]) -> Vec<&'static Exception> {
    EXCEPTIONS.iter().filter(|exception| !findings.iter().any(|finding| is_about(exception, finding))).collect()
}

fn is_about(exception: &Exception, finding: &Finding) -> bool {
    exception.check == finding.check && exception.place == finding.place
}
