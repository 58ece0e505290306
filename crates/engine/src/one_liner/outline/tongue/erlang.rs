//! Erlang.

use super::{COMMON, COPIES, DELETES, Deed, MOVES, Modules, READS, Tongue, WRITES, escaped};

pub(super) const ERLANG: Tongue = Tongue {
    programs: &["erl"],
    comments: &[("%", None)],
    strings: &[escaped("\"", &[]), escaped("'", &[])],
    joint: ":",
    concat: "++",
    functions: &[
        ("os:cmd", Deed::Shell),
        ("open_port", Deed::Hides),
        ("erlang:open_port", Deed::Hides),
        ("erlang:apply", Deed::Hides),
        ("apply", Deed::Hides),
        ("erl_eval:exprs", Deed::Hides),
        ("erl_eval:expr", Deed::Hides),
        ("file:delete", DELETES),
        ("file:del_dir", DELETES),
        ("file:del_dir_r", DELETES),
        ("file:rename", MOVES),
        ("file:copy", COPIES),
        ("file:read_file", READS),
        ("file:consult", READS),
        ("file:open", READS),
        ("file:eval", READS),
        ("file:script", READS),
        ("file:write_file", WRITES),
    ],
    letter_signs: &["$"],
    unread: &["\"\"\"", "~", "$\\^"],
    modules: Modules::CapitalVariables,
    texts_call: true,
    ..COMMON
};
