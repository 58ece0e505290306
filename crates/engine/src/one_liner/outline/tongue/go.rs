//! Go.

use super::{COMMON, DELETES, Deed, MOVES, READS, Renames, Tongue, Variables, WRITES, escaped, plain};

pub(super) const GO: Tongue = Tongue {
    programs: &["compiled-go"],
    comments: &[("/*", Some("*/")), ("//", None)],
    strings: &[escaped("\"", &[]), plain("`", "`")],
    joint: ".",
    members: &[")"],
    concat: "+",
    functions: &[
        ("exec.Command", Deed::Statement),
        ("exec.CommandContext", Deed::Statement),
        ("syscall.Exec", Deed::Hides),
        ("syscall.ForkExec", Deed::Hides),
        ("os.StartProcess", Deed::Hides),
        ("os.Remove", DELETES),
        ("os.RemoveAll", DELETES),
        ("syscall.Unlink", DELETES),
        ("syscall.Rmdir", DELETES),
        ("os.Rename", MOVES),
        ("os.ReadFile", READS),
        ("ioutil.ReadFile", READS),
        ("os.Open", READS),
        ("os.WriteFile", WRITES),
        ("ioutil.WriteFile", WRITES),
        ("os.Create", WRITES),
        ("os.Truncate", WRITES),
    ],
    has_letters: true,
    renames: Renames::Imports,
    variables: Some(Variables {
        temporary: &["os.MkdirTemp", "os.CreateTemp", "ioutil.TempDir", "ioutil.TempFile", "os.TempDir", "t.TempDir"],
        temporary_in_first: true,
        joins: &["filepath.Join", "path.Join"],
        joins_append: true,
        keeps: &["Name", "filepath.Clean", "string"],
        onlookers: &[],
        are_borrowed: false,
    }),
    ..COMMON
};
