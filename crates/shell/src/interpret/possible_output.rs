//! The possible outputs of a part of a script, for each control-flow path through it: `[ x ] && echo a || echo b`.

use crate::special_programs::known_output::MAX_OUTPUT;

/// The maximum number of possible outputs, and of possible values of a variable.
pub(crate) const MAX_ALTERNATIVES: usize = 6;

/// The possible outputs of a part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PossibleOutput {
    outcomes: Vec<Outcome>,
    /// False if there may be more output, or outputs that are not listed.
    is_complete: bool,
}

/// The output of one control-flow path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Outcome {
    text: String,
    /// True if the last command succeeded, false if it failed; `None` if the outcome is not known.
    succeeded: Option<bool>,
}

impl Default for PossibleOutput {
    /// Unknown output.
    fn default() -> Self {
        Self { outcomes: vec![Outcome::default()], is_complete: false }
    }
}

impl PossibleOutput {
    pub(crate) fn empty() -> Self {
        Self { is_complete: true, ..Self::default() }
    }

    pub(crate) fn text(text: String) -> Self {
        Self { outcomes: vec![Outcome { text, succeeded: None }], is_complete: true }
    }

    /// Output that is likely, but not certain.
    pub(crate) fn likely(text: String) -> Self {
        Self { is_complete: false, ..Self::text(text) }
    }

    /// The output, if it is known.
    pub(crate) fn known(&self) -> Option<&str> {
        match self.outcomes.as_slice() {
            [outcome] if self.is_complete => Some(&outcome.text),
            _ => None,
        }
    }

    /// Returns the possible outputs that are not empty. Returns no outputs if the output is known.
    pub(crate) fn possible(&self) -> impl Iterator<Item = &str> {
        let is_known = self.known().is_some();
        self.outcomes.iter().map(|outcome| outcome.text.as_str()).filter(move |text| !is_known && !text.is_empty())
    }

    /// Returns the possible outputs if there are several possible outputs, and one of these outputs is certainly
    /// printed.
    pub(crate) fn alternatives(&self) -> Option<impl Iterator<Item = &str>> {
        (self.is_complete && self.outcomes.len() > 1).then(|| self.outcomes.iter().map(|outcome| outcome.text.as_str()))
    }

    /// Sets whether the last command succeeded, for every alternative.
    pub(crate) fn set_succeeded(&mut self, succeeded: Option<bool>) {
        for outcome in &mut self.outcomes {
            outcome.succeeded = succeeded;
        }
    }

    /// Notes that other outputs are possible, because the part of the script possibly does not run, or runs several
    /// times.
    pub(crate) fn mark_incomplete(&mut self) {
        self.is_complete = false;
    }

    /// Appends the output of a command that runs next.
    pub(crate) fn append(&mut self, next: &Self) {
        let before = std::mem::take(&mut self.outcomes);
        self.is_complete &= next.is_complete;
        self.extend(before.iter().flat_map(|before| next.outcomes.iter().map(move |next| before.append(next))));
    }

    /// Appends the output of the next command. `if_succeeded`: true if the next command runs only after a success of
    /// the last command, false if only after a failure.
    pub(crate) fn append_if(&mut self, if_succeeded: bool, next: &Self) {
        let before = std::mem::take(&mut self.outcomes);
        self.is_complete &= next.is_complete;
        self.extend(before.iter().flat_map(|before| {
            let continued = next.outcomes.iter().filter(|_| before.succeeded != Some(!if_succeeded));
            let skipped = (before.succeeded != Some(if_succeeded))
                .then(|| Outcome { succeeded: Some(!if_succeeded), ..before.clone() });
            continued.map(|next| before.append(next)).chain(skipped)
        }));
    }

    /// Adds the output of an alternative control-flow path.
    pub(crate) fn or(&mut self, other: Self) {
        let outcomes = std::mem::take(&mut self.outcomes);
        self.is_complete &= other.is_complete;
        self.extend(outcomes.into_iter().chain(other.outcomes));
    }

    /// Adds possible outputs, up to the limit.
    fn extend(&mut self, outcomes: impl Iterator<Item = Outcome>) {
        for outcome in outcomes {
            if self.outcomes.contains(&outcome) {
                continue;
            }
            if self.outcomes.len() >= MAX_ALTERNATIVES || outcome.text.len() > MAX_OUTPUT {
                self.is_complete = false;
                break;
            }
            self.outcomes.push(outcome);
        }
        if self.outcomes.is_empty() {
            *self = Self::default();
        }
    }
}

impl Outcome {
    fn append(&self, next: &Self) -> Self {
        Self { text: [self.text.as_str(), &next.text].concat(), succeeded: next.succeeded }
    }
}

#[cfg(test)]
mod tests {
    use super::PossibleOutput;

    fn text(text: &str, succeeded: Option<bool>) -> PossibleOutput {
        let mut printed = PossibleOutput::text(text.to_owned());
        printed.set_succeeded(succeeded);
        printed
    }

    #[test]
    fn alternatives_have_their_own_outputs() {
        let mut printed = text("", None);
        printed.append_if(true, &text("a", Some(true)));
        assert_eq!(printed.possible().collect::<Vec<_>>(), ["a"]);
        printed.append_if(false, &text("b", Some(true)));
        assert_eq!((printed.known(), printed.possible().collect::<Vec<_>>()), (None, vec!["a", "b"]));
        printed.append(&text("c", None));
        assert_eq!(printed.possible().collect::<Vec<_>>(), ["ac", "bc"]);
    }

    #[test]
    fn output_of_the_only_path_is_known() {
        let mut printed = text("", Some(true));
        printed.append_if(true, &text("a", Some(true)));
        printed.append_if(false, &text("b", None));
        assert_eq!(printed.known(), Some("a"));
        printed.append(&PossibleOutput::default());
        assert_eq!((printed.known(), printed.possible().collect::<Vec<_>>()), (None, vec!["a"]));
    }
}
