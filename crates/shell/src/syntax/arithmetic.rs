//! Evaluates arithmetic expressions: `$((1 + 2))`, `let i=3`, `${a[i]}`, `((i++))`. Supports integers, and variables
//! with known integer values.

/// The maximum nesting of parentheses and operators.
const MAX_DEPTH: usize = 32;

/// The value of an expression, and the assignments in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Evaluated {
    pub(crate) value: i64,
    /// The variables that the expression assigns, in order.
    pub(crate) assignments: Vec<(String, i64)>,
}

/// Evaluates an expression. Returns `None` if the value is not known, or an operator is not supported. `variable`:
/// returns the value of a variable.
pub(crate) fn evaluate(text: &str, variable: &dyn Fn(&str) -> Option<i64>) -> Option<Evaluated> {
    let mut parser = Parser { rest: text, variable, assignments: Vec::new(), depth: 0 };
    let mut value = parser.assignment()?;
    while parser.consume(",") {
        value = parser.assignment()?;
    }
    parser.rest.trim().is_empty().then_some(Evaluated { value, assignments: parser.assignments })
}

/// If the expression assigns a variable whose name contains an expansion (`$name = 1`, `x_${name}++`), returns the
/// known start of the name.
pub(crate) fn start_of_computed_name(text: &str) -> Option<&str> {
    text.match_indices('$').find_map(|(index, dollar)| {
        let before = text.get(..index)?;
        let known = before.trim_end_matches(is_name_character);
        let after = after_computed_name(text.get(index + dollar.len()..)?).trim_start();
        let is_incremented = known.trim_end().ends_with("++") || known.trim_end().ends_with("--");
        before.get(known.len()..).filter(|_| is_incremented || begins_with_assignment(after))
    })
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the text after a name that contains an expansion, and after its index if it is an array element. `rest`: the
/// text after the `$`.
fn after_computed_name(rest: &str) -> &str {
    let inside = |rest: &str, open: char, close: char| {
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, c)| {
            depth = (depth + usize::from(*c == open)).saturating_sub(usize::from(*c == close));
            depth == 0
        });
        end.map_or(0, |(index, c)| index + c.len_utf8())
    };
    let length = match rest.chars().next() {
        Some('{') => inside(rest, '{', '}'),
        Some('(') => inside(rest, '(', ')'),
        _ => 0,
    };
    let rest = rest.get(length..).unwrap_or_default().trim_start_matches(is_name_character);
    let index = if rest.starts_with('[') { inside(rest, '[', ']') } else { 0 };
    rest.get(index..).unwrap_or_default()
}

/// True for an assignment operator such as `=`, `+=` or `++`, but not for `==`.
fn begins_with_assignment(text: &str) -> bool {
    let operators = ["<<", ">>", "+", "-", "*", "/", "%", "&", "^", "|"];
    let is_joined =
        operators.iter().any(|operator| text.strip_prefix(operator).is_some_and(|end| end.starts_with('=')));
    let is_plain = text.starts_with('=') && !text.starts_with("==");
    is_plain || is_joined || text.starts_with("++") || text.starts_with("--")
}

/// Binary operators, lowest precedence first. If one operator is a prefix of another operator, the longer operator is
/// listed first.
const OPERATORS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Parser<'t> {
    rest: &'t str,
    variable: &'t dyn Fn(&str) -> Option<i64>,
    assignments: Vec<(String, i64)>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn consume(&mut self, operator: &str) -> bool {
        let after = self.rest.trim_start().strip_prefix(operator);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Reads the name of a variable: `name`, `$name` or `${name}`.
    fn name(&mut self) -> Option<&'t str> {
        let text = self.rest.trim_start();
        let (text, is_closed) = match text.strip_prefix("${") {
            Some(text) => (text, true),
            None => (text.strip_prefix('$').unwrap_or(text), false),
        };
        let length = text.find(|c| !is_name_character(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(length)?;
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let rest = if is_closed { rest.strip_prefix('}')? } else { rest };
        // An array element also has an index.
        let is_whole = is_name && !rest.starts_with('[');
        self.rest = if is_whole { rest } else { self.rest };
        is_whole.then_some(name)
    }

    fn value_of(&self, name: &str) -> Option<i64> {
        let assigned = self.assignments.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value);
        assigned.or_else(|| (self.variable)(name))
    }

    fn assign(&mut self, name: &str, value: i64) -> i64 {
        self.assignments.push((name.to_owned(), value));
        value
    }

    fn assignment(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let start = self.rest;
        if let Some(name) = self.name() {
            for operator in ["+=", "-=", "*=", "="] {
                if self.rest.trim_start().starts_with("==") || !self.consume(operator) {
                    continue;
                }
                let right = self.assignment()?;
                let value = match operator {
                    "+=" => self.value_of(name)?.checked_add(right)?,
                    "-=" => self.value_of(name)?.checked_sub(right)?,
                    "*=" => self.value_of(name)?.checked_mul(right)?,
                    _ => right,
                };
                self.depth -= 1;
                return Some(self.assign(name, value));
            }
        }
        self.rest = start;
        let value = self.operation(OPERATORS)?;
        self.depth -= 1;
        Some(value)
    }

    /// Evaluates the binary operators of these precedence levels, which begin with the lowest. The recursion is as deep
    /// as the number of levels.
    fn operation(&mut self, operators: &[&'static [&'static str]]) -> Option<i64> {
        let Some((loosest, tighter)) = operators.split_first() else { return self.value() };
        let mut left = self.operation(tighter)?;
        while let Some(operator) = self.operator(loosest) {
            let known = self.assignments.len();
            let right = self.operation(tighter)?;
            // It is not certain that the shell evaluates the right side, so its assignments are not certain either.
            if matches!(operator, "||" | "&&") && self.assignments.len() > known {
                return None;
            }
            left = apply(left, operator, right)?;
        }
        Some(left)
    }

    /// Reads one of these operators.
    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let text = self.rest.trim_start();
        let operator = operators.iter().copied().find(|operator| text.starts_with(operator))?;
        let after = text.get(operator.len()..)?;
        // True if the match is only the start of a longer operator, or of an assignment operator.
        let is_longer = match operator {
            "|" | "&" | "<" | ">" => after.starts_with([operator.chars().next()?, '=']),
            "+" | "-" | "*" | "/" | "%" | "^" | "<<" | ">>" => after.starts_with('='),
            _ => false,
        };
        if is_longer || operator == "*" && after.starts_with('*') {
            return None;
        }
        self.rest = after;
        Some(operator)
    }

    fn value(&mut self) -> Option<i64> {
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH { None } else { self.unary() };
        self.depth -= 1;
        value
    }

    fn unary(&mut self) -> Option<i64> {
        for (operator, step) in [("++", 1), ("--", -1)] {
            if self.consume(operator) {
                let name = self.name()?;
                let value = self.value_of(name)?.checked_add(step)?;
                return Some(self.assign(name, value));
            }
        }
        if self.consume("(") {
            let value = self.assignment()?;
            return self.consume(")").then_some(value);
        }
        if self.consume("-") {
            return self.value()?.checked_neg();
        }
        if self.consume("+") {
            return self.value();
        }
        if self.consume("!") {
            return Some(i64::from(self.value()? == 0));
        }
        if let Some(name) = self.name() {
            let value = self.value_of(name)?;
            for (operator, step) in [("++", 1), ("--", -1)] {
                if self.consume(operator) {
                    self.assign(name, value.checked_add(step)?);
                }
            }
            return Some(value);
        }
        self.number()
    }

    fn number(&mut self) -> Option<i64> {
        let text = self.rest.trim_start();
        let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(text.len());
        let (digits, rest) = text.split_at_checked(length)?;
        self.rest = rest;
        match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
            None => digits.parse().ok(),
        }
    }
}

fn apply(left: i64, operator: &str, right: i64) -> Option<i64> {
    let shift = || u32::try_from(right).ok();
    match operator {
        "||" => Some(i64::from(left != 0 || right != 0)),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<=" => Some(i64::from(left <= right)),
        ">=" => Some(i64::from(left >= right)),
        "<" => Some(i64::from(left < right)),
        ">" => Some(i64::from(left > right)),
        "<<" => left.checked_shl(shift()?),
        ">>" => left.checked_shr(shift()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Evaluated, evaluate, start_of_computed_name};

    #[test]
    fn values_match_bash() {
        let variable = |name: &str| (name == "i").then_some(5);
        let cases = [
            ("1 + 2*3", Some(7)),
            ("(1+2)*3", Some(9)),
            ("i-1", Some(4)),
            ("$i % 3 == 2 && ${i} > 4", Some(1)),
            ("-i + 1", Some(-4)),
            ("!i", Some(0)),
            ("1<<4|1", Some(17)),
            ("0x10 + 010", Some(24)),
            ("10/0", None),
            ("unknown", None),
            ("a[1]", None),
            ("2**3", None),
            ("1 +", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(evaluate(text, &variable).map(|evaluated| evaluated.value), expected, "{text}");
        }
    }

    #[test]
    fn assignments_to_expanded_names() {
        for text in ["$v = 7", "${v}++", "--$v", "i = ($v += 1)", "$v[2] = 1", "$(x y)=3", "${a[i]} <<= 1"] {
            assert_eq!(start_of_computed_name(text), Some(""), "{text}");
        }
        assert_eq!(start_of_computed_name("n + (x_${v} = 1)"), Some("x_"));
        for text in
            ["i = $v", "$v == 2", "$v <= 2", "a[$v] = 1", "a[$v]++", "$v + +1", "i++ + $v", "$# > 1", "$", "${v"]
        {
            assert_eq!(start_of_computed_name(text), None, "{text}");
        }
    }

    #[test]
    fn assigned_variables() {
        let variable = |name: &str| (name == "i").then_some(5);
        let assignments =
            |text: &str| evaluate(text, &variable).map(|Evaluated { value, assignments }| (value, assignments));
        assert_eq!(assignments("i++"), Some((5, vec![("i".to_owned(), 6)])));
        assert_eq!(assignments("--i"), Some((4, vec![("i".to_owned(), 4)])));
        assert_eq!(assignments("j=i+1, j*2"), Some((12, vec![("j".to_owned(), 6)])));
        assert_eq!(assignments("i += 2"), Some((7, vec![("i".to_owned(), 7)])));
        assert_eq!(assignments("i > 9 && (j = 1)"), None);
    }
}
