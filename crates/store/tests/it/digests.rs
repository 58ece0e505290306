//! Keyed digests.

use engine::event::{Event, EventKind};
use serde_json::json;
use store::{JournalFilter, Store};

use crate::sample::{event, new_database_path, open, record_plain};

fn digest_of_prompt(store: &mut Store, prompt: &str) -> String {
    record_plain(store, &Event { prompt: Some(prompt.to_owned()), ..event(EventKind::Prompt, 1) });
    let entry = store.entries(&JournalFilter { limit: 1, ..JournalFilter::default() }).unwrap().remove(0);
    entry.digests["prompt"].as_str().unwrap().to_owned()
}

#[test]
fn equal_texts_have_equal_digests_in_one_database_only() {
    let (one, two) = (new_database_path(), new_database_path());
    let first = digest_of_prompt(&mut open(&one.path), "hello");
    let mut reopened = open(&one.path);
    assert_eq!(digest_of_prompt(&mut reopened, "hello"), first);
    assert_eq!(reopened.digest("hello").unwrap(), first);
    assert_ne!(digest_of_prompt(&mut reopened, "hello!"), first);
    assert_ne!(digest_of_prompt(&mut open(&two.path), "hello"), first);
    assert!(first.len() == 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[test]
fn absent_values_have_no_digest() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &event(EventKind::Stop, 1));
    assert_eq!(json!(store.entries(&JournalFilter::default()).unwrap()[0].digests), json!({}));
}
