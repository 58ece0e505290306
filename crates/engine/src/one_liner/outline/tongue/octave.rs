//! Octave.

use super::{COMMON, COPIES, DELETES, Deed, MOVES, READS, Tongue, doubling, escaped};

pub(super) const OCTAVE: Tongue = Tongue {
    programs: &["octave", "octave-cli", "matlab"],
    comments: &[("%{\n", Some("\n%}")), ("#{\n", Some("\n#}")), ("%", None), ("#", None)],
    strings: &[escaped("\"", &[]), doubling("'")],
    has_transposes: true,
    joint: ".",
    members: &["."],
    functions: &[
        ("system", Deed::Shell),
        ("shell_cmd", Deed::Shell),
        ("unix", Deed::Shell),
        ("dos", Deed::Shell),
        ("popen", Deed::Shell),
        ("popen2", Deed::Words),
        ("exec", Deed::Words),
        ("eval", Deed::Hides),
        ("evalc", Deed::Hides),
        ("evalin", Deed::Hides),
        ("feval", Deed::Hides),
        ("str2func", Deed::Hides),
        ("unlink", DELETES),
        ("delete", DELETES),
        ("rmdir", DELETES),
        ("rename", MOVES),
        ("movefile", MOVES),
        ("copyfile", COPIES),
        ("fopen", Deed::Open),
        ("fileread", READS),
        ("textread", READS),
        ("csvread", READS),
        ("load", READS),
        ("source", READS),
        ("run", READS),
    ],
    names_are_callable: true,
    ..COMMON
};
