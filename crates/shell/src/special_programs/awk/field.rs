//! `awk '{print $2}'`: a program that prints one field of the lines that it reads.

/// Returns the regex that selects the lines (empty if there is none, or if a condition such as `$1 == "x"` selects
/// them), and the field that is printed.
pub(crate) fn pattern_and_field(program: &str) -> Option<(&str, &str)> {
    let program = program.trim();
    let (pattern, action) = match program.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')) {
        Some((pattern, action)) if !pattern.contains(['/', '{']) => (pattern, action),
        _ => match program.find('{').and_then(|index| program.split_at_checked(index)) {
            Some((condition, action)) if compares_a_field(condition) => ("", action),
            _ => ("", program),
        },
    };
    let action = action.trim().strip_prefix('{')?.strip_suffix('}')?;
    let field = action.trim().strip_prefix("print")?.trim().strip_prefix('$')?;
    (field == "NF" || field.parse::<u8>().is_ok()).then_some((pattern, field))
}

/// True for a condition that compares a field with a string: `$1 == "x"`.
fn compares_a_field(condition: &str) -> bool {
    let sides = condition.split_once("==").or_else(|| condition.split_once("!="));
    let Some((field, text)) = sides.map(|(field, text)| (field.trim(), text.trim())) else { return false };
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let is_field = field.strip_prefix('$').is_some_and(|field| field.parse::<u8>().is_ok());
    is_field && text.is_some_and(|text| !text.contains(['"', '\\']))
}
