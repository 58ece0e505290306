//! Java.

use super::{COMMON, COPIES, DELETES, Deed, MOVES, READS, Spelling, Tongue, Variables, WRITES, escaped};

pub(super) const JAVA: Tongue = Tongue {
    programs: &["compiled-java"],
    comments: &[("/*", Some("*/")), ("//", None)],
    strings: &[escaped("\"\"\"", &[]), escaped("\"", &[])],
    joint: ".",
    concat: "+",
    functions: &[
        ("exec", Deed::Shell),
        ("new ProcessBuilder", Deed::Statement),
        ("Files.delete", DELETES),
        ("delete", Deed::DeletesOwner),
        ("deleteOnExit", Deed::DeletesOwner),
        ("Files.deleteIfExists", DELETES),
        ("FileUtils.deleteDirectory", DELETES),
        ("FileUtils.forceDelete", DELETES),
        ("Files.move", MOVES),
        ("Files.copy", COPIES),
        ("Files.readString", READS),
        ("Files.readAllLines", READS),
        ("Files.readAllBytes", READS),
        ("Files.lines", READS),
        ("new FileReader", READS),
        ("new FileInputStream", READS),
        ("Files.writeString", WRITES),
        ("Files.write", WRITES),
        ("new FileWriter", WRITES),
        ("new FileOutputStream", WRITES),
    ],
    drops_modules: true,
    has_letters: true,
    spelling: Spelling::Escapes,
    variables: Some(Variables {
        temporary: &["Files.createTempFile", "Files.createTempDirectory", "File.createTempFile"],
        temporary_in_first: false,
        joins: &[],
        joins_append: false,
        keeps: &["Path.of", "Paths.get", "File", "java.io.File", "toString", "toPath", "toFile"],
        onlookers: &[],
        are_borrowed: false,
    }),
    ..COMMON
};
