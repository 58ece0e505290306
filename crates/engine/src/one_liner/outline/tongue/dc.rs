//! dc: it calculates, and has no functions.

use super::{COMMON, Tongue};

pub(super) const DC: Tongue = Tongue { programs: &["dc"], comments: &[("#", None)], has_shell_lines: true, ..COMMON };
