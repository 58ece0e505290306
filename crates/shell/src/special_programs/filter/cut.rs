//! `cut`: parts of each line, by characters or by fields.

use crate::model::SimpleCommand;
use crate::programs::Arguments;

pub(super) fn cut(command: &SimpleCommand, arguments: &Arguments, text: &str) -> Option<String> {
    let value = |names: &[&str]| {
        let flag = arguments.flags.iter().find(|flag| names.contains(&flag.name.as_str()))?;
        command.text_from(flag.value?.word, flag.value?.from)
    };
    let is_known = |name: &str| matches!(name, "-c" | "-b" | "-f" | "-d" | "--fields" | "--delimiter");
    if !arguments.flags.iter().all(|flag| is_known(&flag.name)) {
        return None;
    }
    let delimiter = value(&["-d", "--delimiter"]).unwrap_or("\t");
    let fields = value(&["-f", "--fields"]);
    let wanted = ranges(fields.or_else(|| value(&["-c", "-b"]))?)?;
    let is_wanted = |index: usize| wanted.iter().any(|(from, to)| (*from..=*to).contains(&(index + 1)));
    let part = |line: &str| match fields {
        // A line without the delimiter is printed unchanged.
        Some(_) if !line.contains(delimiter) => line.to_owned(),
        Some(_) => {
            let parts = line.split(delimiter).enumerate().filter(|(index, _)| is_wanted(*index));
            parts.map(|(_, part)| part).collect::<Vec<_>>().join(delimiter)
        }
        None => line.chars().enumerate().filter(|(index, _)| is_wanted(*index)).map(|(_, c)| c).collect(),
    };
    Some(text.lines().map(|line| part(line) + "\n").collect())
}

/// Reads ranges such as `1`, `2-`, `-3` and `4-5`, separated by commas. The positions count from 1.
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    let range = |range: &str| match range.split_once('-') {
        None => range.parse().ok().map(|position| (position, position)),
        Some(("", to)) => to.parse().ok().map(|to| (1, to)),
        Some((from, "")) => from.parse().ok().map(|from| (from, usize::MAX)),
        Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
    };
    list.split(',').map(range).collect()
}
