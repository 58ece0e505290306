//! A line-based diff of two texts.

/// The maximum number of pairs of lines to compare. If there are more, all lines between the common start and the
/// common end of the two texts are shown as replaced.
const MAX_PAIRS: usize = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Kept(&'t str),
    Removed(&'t str),
    Added(&'t str),
}

/// Returns the removed and added lines. Each group of changed lines is surrounded by the unchanged line above it and
/// the one below it, except for blank lines.
pub fn lines(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let merged = merge(&old, &new);
    let is_changed = |at: usize| merged.get(at).is_some_and(|line| !matches!(line, Line::Kept(_)));
    let is_shown = |at: usize| is_changed(at) || is_changed(at + 1) || at.checked_sub(1).is_some_and(is_changed);
    let mut shown: Vec<String> = Vec::new();
    let mut last = None;
    for (at, line) in merged.iter().enumerate().filter(|(at, _)| is_shown(*at)) {
        if last.is_some_and(|last| at > last + 1) {
            shown.push("    …".to_owned());
        }
        last = Some(at);
        let line = match line {
            Line::Kept(text) if text.trim().is_empty() => continue,
            Line::Kept(text) => format!("    {text}"),
            Line::Removed(text) => format!("  - {text}"),
            Line::Added(text) => format!("  + {text}"),
        };
        shown.push(line.trim_end().to_owned());
    }
    shown
}

/// Merges both texts into one list of lines. Removed lines come before the lines added in their place.
fn merge<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let middle = (
        old_rest.get(..old_rest.len() - tail).unwrap_or_default(),
        new_rest.get(..new_rest.len() - tail).unwrap_or_default(),
    );
    let kept = |lines: &[&'t str]| lines.iter().map(|line| Line::Kept(line)).collect::<Vec<_>>();
    let above = kept(old.get(..head).unwrap_or_default());
    let below = kept(old_rest.get(old_rest.len() - tail..).unwrap_or_default());
    [above, merge_by_common_lines(middle.0, middle.1), below].concat()
}

/// Merges texts so that the longest common subsequence of lines is kept.
fn merge_by_common_lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let width = new.len() + 1;
    if old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return old.iter().map(|line| Line::Removed(line)).chain(new.iter().map(|line| Line::Added(line))).collect();
    }
    // The maximum number of lines that can be kept, for each pair of positions in the old and the new text.
    let mut kept = vec![0_usize; (old.len() + 1) * width];
    let at = |kept: &[usize], row: usize, column: usize| kept.get(row * width + column).copied().unwrap_or(0);
    for (row, old_line) in old.iter().enumerate().rev() {
        for (column, new_line) in new.iter().enumerate().rev() {
            let longest = if old_line == new_line {
                at(&kept, row + 1, column + 1) + 1
            } else {
                at(&kept, row + 1, column).max(at(&kept, row, column + 1))
            };
            if let Some(place) = kept.get_mut(row * width + column) {
                *place = longest;
            }
        }
    }
    let mut lines = Vec::new();
    let (mut row, mut column) = (0, 0);
    loop {
        match (old.get(row), new.get(column)) {
            (Some(old_line), Some(new_line)) if old_line == new_line => {
                lines.push(Line::Kept(old_line));
                (row, column) = (row + 1, column + 1);
            }
            (Some(old_line), new_line)
                if new_line.is_none() || at(&kept, row + 1, column) >= at(&kept, row, column + 1) =>
            {
                lines.push(Line::Removed(old_line));
                row += 1;
            }
            (_, Some(new_line)) => {
                lines.push(Line::Added(new_line));
                column += 1;
            }
            (_, None) => return lines,
        }
    }
}
