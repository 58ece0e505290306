use super::absolute;

#[test]
fn paths_become_absolute_without_file_access() {
    let cases = [
        ("/p", "a.txt", "/p/a.txt"),
        ("/p", "./a//b/", "/p/a/b"),
        ("/p", "../x", "/p/../x"),
        ("/p/", "", "/p"),
        ("/p", "/etc/../etc/passwd", "/etc/../etc/passwd"),
        ("/p", "/", "/"),
        ("/p", "~/x/../y", "~/x/../y"),
        ("/p", r"a\b", r"/p/a\b"),
        (r"C:\p", r"a\..\b.txt", "C:/p/a/../b.txt"),
        // On systems without drives, `C:` is the name of a directory.
        ("/p", "C:/x", "/p/C:/x"),
        ("/p", r"\\x/../y", r"/p/\\x/../y"),
        (r"C:\p", "D:/x", "D:/x"),
        ("", "C:/x", "C:/x"),
        (r"C:\p", r"\\server\share\x", "/server/share/x"),
        ("", "a/../b", "a/../b"),
    ];
    for (cwd, path, expected) in cases {
        assert_eq!(absolute(cwd, path), expected, "{path} in {cwd}");
    }
}
