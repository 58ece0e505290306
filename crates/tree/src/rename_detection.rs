//! Detects renames with edits. Like git, this requires that at least half of the content is the same.
//!
//! The amount of data that is read and compared is limited, because hostile files could otherwise take more time than a
//! rule has. A renamed file beyond the limits counts as a deleted and a new file.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher as _};

/// The minimum percentage of common bytes that makes a pair of files a rename, as in `git diff -M50%`.
const MIN_SIMILARITY: u64 = 50;
/// Lines are compared in pieces of at most this size.
const MAX_PIECE_BYTES: usize = 64;
/// Files of more bytes than this are not compared.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The maximum number of bytes that are read from all files together.
const MAX_READ_BYTES: u64 = 32 * 1024 * 1024;
/// The maximum number of pieces that are compared, over all files and all pairs of files.
const MAX_COMPARED_PIECES: usize = 4_000_000;

/// The number of pieces that may still be compared.
struct Budget(usize);

impl Budget {
    /// Subtracts `pieces` from the budget. If fewer are left, returns false and subtracts nothing.
    fn spend(&mut self, pieces: usize) -> bool {
        let remaining = self.0.checked_sub(pieces);
        self.0 = remaining.unwrap_or(self.0);
        remaining.is_some()
    }
}

/// The contents of a file, split into pieces.
struct Pieces {
    size: u64,
    /// The hash of each distinct piece, with the total length in bytes of its occurrences in the file. Sorted by hash.
    by_hash: Vec<(u64, u64)>,
}

impl Pieces {
    /// Splits the content of a file into pieces. Returns `None` if the budget is exhausted.
    fn of(content: &[u8], budget: &mut Budget) -> Option<Self> {
        let mut by_hash: HashMap<u64, u64> = HashMap::new();
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            for piece in line.chunks(MAX_PIECE_BYTES) {
                if !budget.spend(1) {
                    return None;
                }
                let mut hasher = DefaultHasher::new();
                hasher.write(piece);
                *by_hash.entry(hasher.finish()).or_default() += piece.len() as u64;
            }
        }
        let mut by_hash: Vec<(u64, u64)> = by_hash.into_iter().collect();
        by_hash.sort_unstable();
        Some(Self { size: content.len() as u64, by_hash })
    }

    /// Returns the common bytes of both files, as a percentage of the longer file. `None` if the budget is exhausted.
    fn similarity_to(&self, other: &Self, budget: &mut Budget) -> Option<u64> {
        if !budget.spend(self.by_hash.len() + other.by_hash.len()) {
            return None;
        }
        let (mut own_pieces, mut other_pieces) = (self.by_hash.iter().peekable(), other.by_hash.iter().peekable());
        let mut shared = 0;
        while let (Some((hash, bytes)), Some((other_hash, other_bytes))) = (own_pieces.peek(), other_pieces.peek()) {
            let order = hash.cmp(other_hash);
            if order == Ordering::Equal {
                shared += *bytes.min(other_bytes);
            }
            if order != Ordering::Greater {
                own_pieces.next();
            }
            if order != Ordering::Less {
                other_pieces.next();
            }
        }
        Some(shared * 100 / self.size.max(other.size).max(1))
    }
}

/// True if files of these sizes can have enough bytes in common to be a rename.
fn can_be_similar(one: u64, other: u64) -> bool {
    let (shorter, longer) = (one.min(other), one.max(other));
    longer > 0 && shorter * 100 >= longer * MIN_SIMILARITY
}

/// Selects the files to read: old files for which there is a new file of similar size, and the reverse. If their total
/// size exceeds the limit, the largest files are left out.
pub fn select_for_reading(
    old: &BTreeMap<String, u64>,
    new: &BTreeMap<String, u64>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    select_for_reading_within(old, new, MAX_READ_BYTES)
}

fn select_for_reading_within(
    old: &BTreeMap<String, u64>,
    new: &BTreeMap<String, u64>,
    limit: u64,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let has_match = |size: u64, others: &BTreeMap<String, u64>| {
        size <= MAX_FILE_BYTES && others.values().any(|other| *other <= MAX_FILE_BYTES && can_be_similar(size, *other))
    };
    let old_ones = old.iter().filter(|(_, size)| has_match(**size, new)).map(|(path, size)| (*size, path, true));
    let new_ones = new.iter().filter(|(_, size)| has_match(**size, old)).map(|(path, size)| (*size, path, false));
    let mut all: Vec<(u64, &String, bool)> = old_ones.chain(new_ones).collect();
    all.sort_unstable();
    let mut remaining = limit;
    let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
    for (size, path, is_old) in all {
        let Some(rest) = remaining.checked_sub(size) else { break };
        remaining = rest;
        if is_old {
            old.insert(path.clone())
        } else {
            new.insert(path.clone())
        };
    }
    (old, new)
}

/// Returns the new paths of renamed files. Prefers the most similar pairs, and uses each old file only once.
pub fn renamed_files(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> BTreeSet<String> {
    renamed_files_within(old, new, &mut Budget(MAX_COMPARED_PIECES))
}

fn renamed_files_within(
    old: &BTreeMap<String, Vec<u8>>,
    new: &BTreeMap<String, Vec<u8>>,
    budget: &mut Budget,
) -> BTreeSet<String> {
    let mut split = |files: &'_ BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Pieces> {
        files.iter().filter_map(|(path, content)| Some((path.clone(), Pieces::of(content, budget)?))).collect()
    };
    let (old, new) = (split(old), split(new));
    let pairs = new.iter().flat_map(|new| old.iter().map(move |old| (old, new)));
    let mut pairs: Vec<_> = pairs.filter(|((_, old), (_, new))| can_be_similar(old.size, new.size)).collect();
    // The pairs that are most likely to be renames come first, because the budget possibly does not suffice for all:
    // first the pairs with the same file name, and among them those of similar size.
    pairs.sort_by_key(|((from, old), (to, new))| (file_name(from) != file_name(to), old.size.abs_diff(new.size)));
    let compared =
        pairs.into_iter().map_while(|((from, old), (to, new))| Some((old.similarity_to(new, budget)?, from, to)));
    let mut similar_pairs: Vec<_> = compared.filter(|(similarity, ..)| *similarity >= MIN_SIMILARITY).collect();
    similar_pairs.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2))));
    let (mut old_paths, mut new_paths) = (BTreeSet::new(), BTreeSet::new());
    for (_, from, to) in similar_pairs {
        if !old_paths.contains(from) && !new_paths.contains(to) {
            old_paths.insert(from);
            new_paths.insert(to.clone());
        }
    }
    new_paths
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn renamed(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<String> {
        renamed_files(&files(old), &files(new)).into_iter().collect()
    }

    #[test]
    fn half_of_the_content_makes_a_rename() {
        assert_eq!(renamed(&[("a", "one\ntwo\nsix\nten\n")], &[("b", "one\ntwo\nsix\nTEN\n")]), ["b"]);
        assert_eq!(renamed(&[("a", "one\ntwo\nsix\nten\n")], &[("b", "one\ntwo\nSIX\nTEN\n")]), ["b"]);
        assert_eq!(renamed(&[("a", "one\ntwo\nsix\nten\n")], &[("b", "one\nTWO\nSIX\nTEN\n")]), [""; 0]);
        assert_eq!(renamed(&[("a", "")], &[("b", "")]), [""; 0]);
        assert_eq!(renamed(&[("a", "one\n")], &[("b", "one\ntwo\nsix\n")]), [""; 0]);
    }

    #[test]
    fn an_old_file_is_renamed_to_the_most_similar_new_one() {
        let old = [("a", "one\ntwo\nsix\nten\n")];
        assert_eq!(
            renamed(&old, &[("b", "one\ntwo\nX\n"), ("c", "one\ntwo\nsix\nten\nX\n"), ("d", "one\ntwo\n")]),
            ["c"]
        );
    }

    #[test]
    fn files_beyond_the_budget_are_not_renamed() {
        let text = |start: &str| (0..100).map(|line| format!("{start} {line}\n")).collect::<Vec<_>>().concat();
        let (a, b) = (text("a"), text("b"));
        let old = files(&[("old/a", &a), ("old/b", &b)]);
        let new = files(&[("new/a", &a), ("new/c", &b)]);
        // Splitting the files costs 400 pieces, and comparing each of the 4 pairs costs 200. The pair with the same
        // file name is compared first.
        let renamed =
            |budget: usize| renamed_files_within(&old, &new, &mut Budget(budget)).into_iter().collect::<Vec<_>>();
        assert_eq!(renamed(1200), ["new/a", "new/c"]);
        assert_eq!(renamed(600), ["new/a"]);
        assert_eq!(renamed(599), [""; 0]);
        assert_eq!(renamed(50), [""; 0]);
    }

    #[test]
    fn files_of_different_sizes_are_not_compared() {
        let (long, short) = ("line\n".repeat(3), "line\n");
        let mut budget = Budget(100);
        assert!(renamed_files_within(&files(&[("a", &long)]), &files(&[("b", short)]), &mut budget).is_empty());
        assert_eq!(budget.0, 96);
    }

    #[test]
    fn the_largest_files_and_files_without_a_candidate_are_not_read() {
        let sizes = |sizes: &[(&str, u64)]| sizes.iter().map(|(path, size)| ((*path).to_owned(), *size)).collect();
        let old = sizes(&[("small", 10), ("large", 1000), ("alone", 100), ("huge", MAX_FILE_BYTES + 1)]);
        let new = sizes(&[("small too", 20), ("large too", 900), ("huge too", MAX_FILE_BYTES + 1), ("empty", 0)]);
        let read = |limit: u64| {
            let (old, new) = select_for_reading_within(&old, &new, limit);
            old.into_iter().chain(new).collect::<Vec<_>>()
        };
        assert_eq!(read(MAX_READ_BYTES), ["large", "small", "large too", "small too"]);
        assert_eq!(read(1000), ["small", "large too", "small too"]);
        assert_eq!(read(30), ["small", "small too"]);
    }
}
