use proptest::prelude::*;

use super::{Change, changes};

#[test]
fn every_file_of_a_patch_is_found() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+*** Delete File: no.txt\n*** Update File: a b.txt\n@@ fn\n-x\n+y\n\
                 *** Update File: old.txt\n*** Move to: sub/new.txt\n*** Delete File: gone.txt\n*** End of File\n*** End Patch";
    assert_eq!(
        changes(patch),
        [
            Change::Add("new.txt"),
            Change::Update("a b.txt"),
            Change::Move { from: "old.txt", to: "sub/new.txt" },
            Change::Delete("gone.txt"),
        ]
    );
}

#[test]
fn malformed_patches_are_accepted() {
    assert_eq!(
        changes("  ***  Add File:x \r\n*** Update File:\ty\r\n***Delete File: z"),
        [Change::Add("x"), Change::Update("y"), Change::Delete("z")]
    );
    assert_eq!(changes("*** Move to: nowhere\n*** Add File: \n***"), [Change::Add("nowhere")]);
}

#[test]
fn a_move_is_found_anywhere() {
    assert_eq!(
        changes("*** Update File: a\n*** Move to: b\n*** Move to: c\n*** Delete File: d\n*** Move to: e"),
        [Change::Move { from: "a", to: "b" }, Change::Add("c"), Change::Delete("d"), Change::Add("e")]
    );
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in r"(\*\*\* ?(Add|Update|Delete) File: ?|\*\*\* Move to:|[ -~]|\n|\PC){0,40}") {
        changes(&text);
    }
}
