//! The text that tells an agent to stop and to reconsider its approach.

use std::fmt;

use super::Violation;
use crate::ack_by::AckBy;

/// The text that the agent reads when a limit is violated: as a warning, as the reason of a refused call, or in place
/// of the prompt of the next node.
#[derive(Debug, Clone, Copy)]
pub struct Interrupt<'a> {
    pub violation: &'a Violation,
    /// The name of the node; `None` outside of workflows.
    pub phase: Option<&'a str>,
    /// The rule's reason, which replaces the default suggestion.
    pub reason: Option<&'a str>,
    /// Who may run `linchpin continue`.
    pub ack: AckBy,
    /// True if the rule refuses calls until somebody runs `linchpin continue`.
    pub refuses_calls: bool,
}

impl fmt::Display for Interrupt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { title, headline, diagnostic, details, suggestion, .. } = self.violation;
        match self.phase {
            Some(_) => writeln!(f, "🚨 WORKFLOW INTERRUPT: {title}\n\nDiagnostic: {diagnostic}")?,
            None => writeln!(f, "{headline}\n")?,
        }
        for line in details {
            writeln!(f, "{line}")?;
        }
        if self.refuses_calls {
            let gap = if details.is_empty() { "" } else { "\n" };
            writeln!(f, "{gap}Until `linchpin continue`, only reading and Linchpin's own commands are allowed.")?;
        }
        let suggestion = self.reason.unwrap_or(suggestion);
        writeln!(f, "\nSuggestion: {suggestion}\n\n---\n\nREFLECT AND DECIDE:\n")?;
        if self.ack == AckBy::Human {
            writeln!(f, "Only a person can let you continue past this rule.\n")?;
            writeln!(f, "  - Explain what you tried and why you are stuck")?;
            writeln!(f, "  - Say briefly what you would do differently")?;
            writeln!(f, "  - Ask them to run: linchpin continue")?;
            return write!(f, "  - Wait for their answer before you continue");
        }
        writeln!(f, "Can you resolve this by yourself, or do you need a person?\n")?;
        writeln!(f, "If you can resolve it yourself:")?;
        writeln!(f, "  - Explain briefly what you will do differently")?;
        writeln!(f, "  - Run: linchpin continue")?;
        match self.phase {
            Some(phase) => writeln!(
                f,
                "  - It prints the prompt of the {} phase again, and the rules that fired count again from there\n",
                phase.to_uppercase()
            )?,
            None => writeln!(f, "  - The count then starts again from zero\n")?,
        }
        writeln!(f, "If you need a person:")?;
        writeln!(f, "  - Explain what you tried and why you are stuck")?;
        write!(f, "  - Wait for their answer before you continue")
    }
}
