//! Topics (`build.done`) and topic patterns (`build.*`). `*` matches exactly one part, `**` any number of parts.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum number of parts of a topic. Real topics have far fewer.
const MAX_PARTS: usize = 16;
const MAX_LENGTH: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    #[error("it is empty")]
    Empty,
    #[error("there is an empty part between dots")]
    EmptyPart,
    #[error("`{0}` is not a letter, digit, `-` or `_`")]
    InvalidCharacter(char),
    #[error("`*` and `**` are only allowed in triggers, and must be a whole part between dots")]
    Wildcard,
    #[error("it has more than {MAX_PARTS} parts or {MAX_LENGTH} characters")]
    TooLong,
}

/// Checks that the text is a valid topic.
pub fn check_topic(text: &str) -> Result<(), TopicError> {
    parts(text)?.iter().try_for_each(|part| check_part(part))
}

fn parts(text: &str) -> Result<Vec<&str>, TopicError> {
    if text.is_empty() {
        return Err(TopicError::Empty);
    }
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > MAX_PARTS || text.len() > MAX_LENGTH {
        return Err(TopicError::TooLong);
    }
    Ok(parts)
}

fn check_part(part: &str) -> Result<(), TopicError> {
    if part.is_empty() {
        return Err(TopicError::EmptyPart);
    }
    match part.chars().find(|character| !character.is_alphanumeric() && !matches!(character, '-' | '_')) {
        Some('*') => Err(TopicError::Wildcard),
        Some(character) => Err(TopicError::InvalidCharacter(character)),
        None => Ok(()),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TopicPattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Part {
    Exactly(String),
    One,
    Any,
}

impl Part {
    fn matches_one(&self, text: &str) -> bool {
        match self {
            Self::Exactly(own) => own == text,
            Self::One => true,
            Self::Any => false,
        }
    }
}

impl TopicPattern {
    pub fn parse(text: &str) -> Result<Self, TopicError> {
        let part = |part: &str| match part {
            "*" => Ok(Part::One),
            "**" => Ok(Part::Any),
            part => check_part(part).map(|()| Part::Exactly(part.to_owned())),
        };
        parts(text)?.into_iter().map(part).collect::<Result<_, _>>().map(Self)
    }

    pub fn matches(&self, topic: &str) -> bool {
        let parts: Vec<&str> = topic.split('.').collect();
        matches(&self.0, &parts)
    }

    /// The only topic that matches the pattern; `None` if the pattern has wildcards.
    pub fn as_exact(&self) -> Option<String> {
        let is_exact = self.0.iter().all(|part| matches!(part, Part::Exactly(_)));
        is_exact.then(|| self.to_string())
    }

    /// A topic that both patterns match, if one exists.
    pub fn common_topic(&self, other: &Self) -> Option<String> {
        let search = CommonTopicSearch { ours: &self.0, theirs: &other.0 };
        let mut parts = search.search(0, 0, &mut HashSet::new())?;
        if parts.is_empty() {
            // Both patterns match the empty sequence of parts, which is not a topic. Such patterns consist only of
            // `**`, and match every topic.
            parts.push(ANY.to_owned());
        }
        parts.reverse();
        Some(parts.join("."))
    }
}

impl fmt::Display for TopicPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            let dot = if at > 0 { "." } else { "" };
            let text = match part {
                Part::Exactly(text) => text,
                Part::One => "*",
                Part::Any => "**",
            };
            write!(formatter, "{dot}{text}")?;
        }
        Ok(())
    }
}

/// Matches the parts of a topic. Each `**` first matches no part. On a mismatch, the `**` that was reached last matches
/// one more part. An earlier `**` does not have to be tried again, because the last `**` can match every part that an
/// earlier `**` could match.
fn matches(mut pattern: &[Part], mut topic: &[&str]) -> bool {
    let mut last: Option<(&[Part], &[&str])> = None;
    loop {
        match (pattern.split_first(), topic.split_first()) {
            (None, None) => return true,
            (Some((Part::Any, rest)), _) => {
                (pattern, last) = (rest, Some((rest, topic)));
                continue;
            }
            (Some((part, rest)), Some((text, others))) if part.matches_one(text) => {
                (pattern, topic) = (rest, others);
                continue;
            }
            _ => {}
        }
        let Some((rest, [_, others @ ..])) = last else { return false };
        (pattern, topic, last) = (rest, others, Some((rest, others)));
    }
}

/// The part of an example topic at which both patterns have wildcards.
const ANY: &str = "any";

/// The search for a topic that two patterns both match.
struct CommonTopicSearch<'a> {
    ours: &'a [Part],
    theirs: &'a [Part],
}

impl CommonTopicSearch<'_> {
    /// Returns the rest of a topic that both patterns match from these positions on, in reverse order. `failed`
    /// contains the pairs of positions from which no such topic was found.
    fn search(&self, our: usize, their: usize, failed: &mut HashSet<(usize, usize)>) -> Option<Vec<String>> {
        if failed.contains(&(our, their)) {
            return None;
        }
        let topic = self.step(our, their, failed);
        if topic.is_none() {
            failed.insert((our, their));
        }
        topic
    }

    fn step(&self, our: usize, their: usize, failed: &mut HashSet<(usize, usize)>) -> Option<Vec<String>> {
        let with = |part: &str, rest: Option<Vec<String>>| {
            rest.map(|mut rest| {
                rest.push(part.to_owned());
                rest
            })
        };
        match (self.ours.get(our), self.theirs.get(their)) {
            (None, None) => Some(Vec::new()),
            (Some(Part::Any), Some(Part::Any)) => {
                self.search(our + 1, their, failed).or_else(|| self.search(our, their + 1, failed))
            }
            (Some(Part::Any), theirs) => self.search(our + 1, their, failed).or_else(|| {
                let part = theirs.map(example_part)?;
                with(part, self.search(our, their + 1, failed))
            }),
            (ours, Some(Part::Any)) => self.search(our, their + 1, failed).or_else(|| {
                let part = ours.map(example_part)?;
                with(part, self.search(our + 1, their, failed))
            }),
            (Some(Part::Exactly(ours)), Some(Part::Exactly(theirs))) if ours != theirs => None,
            (Some(ours), Some(theirs)) => {
                let part = if *ours == Part::One { example_part(theirs) } else { example_part(ours) };
                with(part, self.search(our + 1, their + 1, failed))
            }
            (None, Some(_)) | (Some(_), None) => None,
        }
    }
}

fn example_part(part: &Part) -> &str {
    match part {
        Part::Exactly(text) => text,
        Part::One | Part::Any => ANY,
    }
}
