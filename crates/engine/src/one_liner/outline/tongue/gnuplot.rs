//! gnuplot.

use super::{COMMON, Deed, Quotes, READS, Tongue, doubling, escaped};

pub(super) const GNUPLOT: Tongue = Tongue {
    programs: &["gnuplot"],
    comments: &[("#", None)],
    strings: &[
        Quotes { open: "`", close: "`", escapes: true, holes: &["$"], is_command: true, doubles: false },
        escaped("\"", &[]),
        doubling("'"),
    ],
    has_shell_lines: true,
    concat: ".",
    functions: &[
        ("system", Deed::Shell),
        ("shell", Deed::Hides),
        ("eval", Deed::Hides),
        ("evaluate", Deed::Hides),
        ("load", READS),
        ("call", READS),
    ],
    ..COMMON
};
