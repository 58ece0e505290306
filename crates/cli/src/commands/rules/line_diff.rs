//! What changed in a text, as lines.

/// A change is one place, so what is alike at both ends is left out but for a line of each. An empty one tells nothing.
pub fn lines(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let around = |line: Option<&&str>| line.filter(|line| !line.trim().is_empty()).map(|line| format!("    {line}"));
    let above = around(head.checked_sub(1).and_then(|line| old.get(line)));
    let removed = old_rest.iter().take(old_rest.len() - tail).map(|line| format!("  - {line}"));
    let added = new_rest.iter().take(new_rest.len() - tail).map(|line| format!("  + {line}"));
    let below = around(old_rest.get(old_rest.len() - tail));
    above.into_iter().chain(removed).chain(added).chain(below).map(|line| line.trim_end().to_owned()).collect()
}
