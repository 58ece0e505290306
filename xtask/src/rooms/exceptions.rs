//! Places that may break a rule of the house, each with a reason. There are none now.

use super::{Check, Finding};

/// How many exceptions there are. Lower it when one is deleted; never raise it.
pub const COUNT: usize = 0;

pub struct Exception {
    pub check: Check,
    pub place: &'static str,
    pub reason: &'static str,
}

pub const EXCEPTIONS: &[Exception] = &[];

/// Why a finding is allowed; none for a cycle.
pub fn reason(finding: &Finding) -> Option<&'static str> {
    let exception = EXCEPTIONS.iter().find(|exception| is_about(exception, finding))?;
    (finding.check != Check::ModuleCycle).then_some(exception.reason)
}

/// Exceptions that nothing needs.
pub fn without_finding(findings: &[Finding]) -> Vec<&'static Exception> {
    EXCEPTIONS.iter().filter(|exception| !findings.iter().any(|finding| is_about(exception, finding))).collect()
}

fn is_about(exception: &Exception, finding: &Finding) -> bool {
    exception.check == finding.check && exception.place == finding.place
}
