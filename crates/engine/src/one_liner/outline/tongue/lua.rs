//! Lua.

use super::{COMMON, DELETES, Deed, LongStrings, MOVES, READS, Tongue, WRITES, escaped};

pub(super) const LUA: Tongue = Tongue {
    programs: &["lua", "luajit"],
    comments: &[("--", None)],
    strings: &[escaped("\"", &[]), escaped("'", &[])],
    joint: ".",
    members: &[":", "function"],
    concat: "..",
    functions: &[
        ("os.execute", Deed::Shell),
        ("io.popen", Deed::Shell),
        ("os.remove", DELETES),
        ("os.rename", MOVES),
        ("lfs.rmdir", DELETES),
        ("io.open", Deed::Open),
        ("io.lines", READS),
        ("io.input", READS),
        ("io.output", WRITES),
        ("dofile", READS),
        ("loadfile", READS),
        ("load", Deed::Hides),
        ("loadstring", Deed::Hides),
    ],
    roots: &["os", "io", "_G", "_ENV"],
    long_strings: LongStrings::Brackets,
    outer_modules: &["_G.", "_ENV."],
    ..COMMON
};
