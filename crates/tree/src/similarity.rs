//! Whether a new file is an old one under another name. As git has it, it is where half of the content is the same.

use std::collections::{BTreeMap, BTreeSet};

/// Of a hundred bytes, so many are the same in a file that was moved: what `git diff -M50%` asks for.
const LEAST: usize = 50;
/// Lines are compared in pieces of so many bytes at most.
const PIECE: usize = 64;

/// What is in a file: of each of its pieces, how many bytes.
struct Pieces<'c> {
    size: usize,
    by_text: BTreeMap<&'c [u8], usize>,
}

impl<'c> Pieces<'c> {
    fn of(content: &'c [u8]) -> Self {
        let mut by_text: BTreeMap<&[u8], usize> = BTreeMap::new();
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            for piece in line.chunks(PIECE) {
                *by_text.entry(piece).or_default() += piece.len();
            }
        }
        Self { size: content.len(), by_text }
    }

    /// Of a hundred bytes of the longer one, how many both have.
    fn likeness(&self, other: &Self) -> usize {
        let (shorter, longer) = (self.size.min(other.size), self.size.max(other.size));
        if longer == 0 || shorter * 100 < longer * LEAST {
            return 0;
        }
        let shared =
            |(piece, bytes): (&&[u8], &usize)| other.by_text.get(*piece).map_or(0, |others| *bytes.min(others));
        self.by_text.iter().map(shared).sum::<usize>() * 100 / longer
    }
}

/// The new files that are old ones under another name. Those that are most alike are found first, and every old file once.
pub fn moved(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> BTreeSet<String> {
    let old: Vec<(&String, Pieces)> = old.iter().map(|(path, content)| (path, Pieces::of(content))).collect();
    let mut pairs = Vec::new();
    for (path, content) in new {
        let pieces = Pieces::of(content);
        let alike = old.iter().map(|(from, old)| (old.likeness(&pieces), *from, path));
        pairs.extend(alike.filter(|(likeness, ..)| *likeness >= LEAST));
    }
    pairs.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2))));
    let (mut sources, mut moved) = (BTreeSet::new(), BTreeSet::new());
    for (_, from, to) in pairs {
        if !sources.contains(from) && !moved.contains(to) {
            sources.insert(from);
            moved.insert(to.clone());
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn found(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<String> {
        moved(&files(old), &files(new)).into_iter().collect()
    }

    #[test]
    fn half_of_the_content_makes_it_the_same_file() {
        assert_eq!(found(&[("a", "one\ntwo\nsix\nten\n")], &[("b", "one\ntwo\nsix\nTEN\n")]), ["b"]);
        assert_eq!(found(&[("a", "one\ntwo\nsix\nten\n")], &[("b", "one\ntwo\nSIX\nTEN\n")]), ["b"]);
        assert_eq!(found(&[("a", "one\ntwo\nsix\nten\n")], &[("b", "one\nTWO\nSIX\nTEN\n")]), [""; 0]);
        assert_eq!(found(&[("a", "")], &[("b", "")]), [""; 0]);
        assert_eq!(found(&[("a", "one\n")], &[("b", "one\ntwo\nsix\n")]), [""; 0]);
    }

    #[test]
    fn an_old_file_has_one_new_name_the_one_that_is_most_like_it() {
        let old = [("a", "one\ntwo\nsix\nten\n")];
        assert_eq!(
            found(&old, &[("b", "one\ntwo\nX\n"), ("c", "one\ntwo\nsix\nten\nX\n"), ("d", "one\ntwo\n")]),
            ["c"]
        );
    }
}
