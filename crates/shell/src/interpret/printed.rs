//! What a part of a script prints, on each of the ways that it may go: `[ x ] && echo a || echo b`.

use crate::special_programs::known_output::MAX_OUTPUT;

/// More ways are not told apart.
pub(crate) const MAX_WAYS: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Printed {
    ways: Vec<Way>,
    /// Whether that is all of it. Where not, it is what is printed if the rest prints nothing.
    is_all: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Way {
    text: String,
    /// Whether the last command on it worked, where that is sure.
    worked: Option<bool>,
}

impl Default for Printed {
    /// Who knows what.
    fn default() -> Self {
        Self { ways: vec![Way::default()], is_all: false }
    }
}

impl Printed {
    pub(crate) fn nothing() -> Self {
        Self { is_all: true, ..Self::default() }
    }

    pub(crate) fn text(text: String) -> Self {
        Self { ways: vec![Way { text, worked: None }], is_all: true }
    }

    /// It may be this, if nobody knows better.
    pub(crate) fn maybe(text: String) -> Self {
        Self { is_all: false, ..Self::text(text) }
    }

    /// The text, where it is sure.
    pub(crate) fn sure(&self) -> Option<&str> {
        match self.ways.as_slice() {
            [way] if self.is_all => Some(&way.text),
            _ => None,
        }
    }

    /// The texts that it may be, where none is sure.
    pub(crate) fn possible(&self) -> impl Iterator<Item = &str> {
        let is_sure = self.sure().is_some();
        self.ways.iter().map(|way| way.text.as_str()).filter(move |text| !is_sure && !text.is_empty())
    }

    /// All that it may be, where it is surely one of several.
    pub(crate) fn one_of(&self) -> Option<impl Iterator<Item = &str>> {
        (self.is_all && self.ways.len() > 1).then(|| self.ways.iter().map(|way| way.text.as_str()))
    }

    pub(crate) fn ends(&mut self, worked: Option<bool>) {
        for way in &mut self.ways {
            way.worked = worked;
        }
    }

    /// Nobody knows whether it is so, or how often.
    pub(crate) fn doubt(&mut self) {
        self.is_all = false;
    }

    /// And then this.
    pub(crate) fn then(&mut self, next: &Self) {
        let before = std::mem::take(&mut self.ways);
        self.is_all &= next.is_all;
        self.take(before.iter().flat_map(|before| next.ways.iter().map(move |next| before.then(next))));
    }

    /// And then this if it worked, or if it failed.
    pub(crate) fn then_if(&mut self, worked: bool, next: &Self) {
        let before = std::mem::take(&mut self.ways);
        self.is_all &= next.is_all;
        self.take(before.iter().flat_map(|before| {
            let goes_on = next.ways.iter().filter(|_| before.worked != Some(!worked));
            let passes = (before.worked != Some(worked)).then(|| Way { worked: Some(!worked), ..before.clone() });
            goes_on.map(|next| before.then(next)).chain(passes)
        }));
    }

    /// Or else this.
    pub(crate) fn or(&mut self, other: Self) {
        let own = std::mem::take(&mut self.ways);
        self.is_all &= other.is_all;
        self.take(own.into_iter().chain(other.ways));
    }

    fn take(&mut self, ways: impl Iterator<Item = Way>) {
        for way in ways {
            if self.ways.contains(&way) {
                continue;
            }
            if self.ways.len() >= MAX_WAYS || way.text.len() > MAX_OUTPUT {
                self.is_all = false;
                break;
            }
            self.ways.push(way);
        }
        if self.ways.is_empty() {
            *self = Self::default();
        }
    }
}

impl Way {
    fn then(&self, next: &Self) -> Self {
        Self { text: [self.text.as_str(), &next.text].concat(), worked: next.worked }
    }
}

#[cfg(test)]
mod tests {
    use super::Printed;

    fn text(text: &str, worked: Option<bool>) -> Printed {
        let mut printed = Printed::text(text.to_owned());
        printed.ends(worked);
        printed
    }

    #[test]
    fn each_way_has_its_text() {
        let mut printed = text("", None);
        printed.then_if(true, &text("a", Some(true)));
        assert_eq!(printed.possible().collect::<Vec<_>>(), ["a"]);
        printed.then_if(false, &text("b", Some(true)));
        assert_eq!((printed.sure(), printed.possible().collect::<Vec<_>>()), (None, vec!["a", "b"]));
        printed.then(&text("c", None));
        assert_eq!(printed.possible().collect::<Vec<_>>(), ["ac", "bc"]);
    }

    #[test]
    fn one_way_is_sure() {
        let mut printed = text("", Some(true));
        printed.then_if(true, &text("a", Some(true)));
        printed.then_if(false, &text("b", None));
        assert_eq!(printed.sure(), Some("a"));
        printed.then(&Printed::default());
        assert_eq!((printed.sure(), printed.possible().collect::<Vec<_>>()), (None, vec!["a"]));
    }
}
