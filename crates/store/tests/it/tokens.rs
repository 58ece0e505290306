//! Tokens by message, session and phase.

use engine::event::EventKind;
use engine::pace::Tokens;
use proptest::prelude::*;
use serde_json::json;
use store::{Message, PhaseStart, SessionKey, Store, Stretch, phase_key};

use crate::sample::{KEY, event, open, place, record_plain};

const OTHER: SessionKey<'static> = SessionKey { agent: "claude", session: "s2" };

fn message(id: &str, time: i64, input: u64) -> Message {
    Message { id: id.to_owned(), time, tokens: Tokens { input, ..Tokens::default() } }
}

fn stretch(path: &'static str, session: SessionKey<'static>, messages: &[Message]) -> Stretch<'static> {
    Stretch { path, session, messages: messages.to_vec(), end: json!(messages.len()) }
}

/// Two phases, from 100 and from 200.
fn phases() -> [PhaseStart; 2] {
    [(100, "1.1"), (200, "1.2")].map(|(time, phase)| PhaseStart { time, phase: phase.to_owned() })
}

fn input(store: &Store, key: SessionKey<'_>) -> u64 {
    store.tokens(key).unwrap().input
}

/// What the sessions `s1` and `s2` and both phases come to.
fn sums(store: &Store) -> [u64; 4] {
    [KEY, OTHER, phase_key("1.1"), phase_key("1.2")].map(|key| input(store, key))
}

/// With the sessions `s1`, which began at 50, and `s2`, which began at 150.
fn begun(path: &std::path::Path) -> Store {
    let mut store = open(path);
    record_plain(&mut store, &event(EventKind::SessionStart, 50));
    let mut second = event(EventKind::SessionStart, 150);
    OTHER.session.clone_into(&mut second.session);
    record_plain(&mut store, &second);
    store
}

#[test]
fn a_message_counts_in_its_session_and_in_the_phase_it_was_written_in() {
    let place = place();
    let mut store = begun(&place.path);
    let read = stretch("a", KEY, &[message("0", 20, 1), message("1", 60, 10), message("2", 100, 100)]);
    store.count_tokens(&[read], &phases()).unwrap();
    assert_eq!(sums(&store), [110, 0, 100, 0]);
    // One that is read late belongs to the phase that it was written in.
    let late = stretch("b", OTHER, &[message("3", 199, 1_000), message("4", 200, 10_000)]);
    store.count_tokens(&[late], &phases()).unwrap();
    assert_eq!(sums(&store), [110, 11_000, 1_100, 10_000]);
    assert_eq!(input(&store, SessionKey { agent: "claude", session: "unheard of" }), 0);
}

#[test]
fn a_message_that_is_told_again_counts_once_with_its_largest_figure() {
    let place = place();
    let mut store = begun(&place.path);
    for (figure, sum) in [(10, 10), (10, 10), (25, 25), (5, 25)] {
        store.count_tokens(&[stretch("a", KEY, &[message("1", 160, figure)])], &phases()).unwrap();
        assert_eq!(sums(&store), [sum, 0, sum, 0]);
    }
    // The figure that counts is the one that was written in the next phase.
    store.count_tokens(&[stretch("a", KEY, &[message("1", 230, 40)])], &phases()).unwrap();
    assert_eq!(sums(&store), [40, 0, 0, 40]);
}

#[test]
fn a_fork_does_not_take_the_messages_of_the_session_it_comes_from() {
    let place = place();
    let mut store = begun(&place.path);
    let copied = message("1", 120, 10);
    // The copy is read first, by the session that was not there yet.
    store.count_tokens(&[stretch("fork", OTHER, std::slice::from_ref(&copied))], &phases()).unwrap();
    assert_eq!(sums(&store), [0, 0, 10, 0]);
    store.count_tokens(&[stretch("first", KEY, &[copied])], &phases()).unwrap();
    assert_eq!(sums(&store), [10, 0, 10, 0]);
}

#[test]
fn two_agents_may_use_the_same_id() {
    let place = place();
    let mut store = begun(&place.path);
    let codex = SessionKey { agent: "codex", session: "s1" };
    let read = [stretch("a", KEY, &[message("1", 110, 1)]), stretch("b", codex, &[message("1", 110, 2)])];
    store.count_tokens(&read, &phases()).unwrap();
    assert_eq!(sums(&store), [1, 0, 3, 0]);
}

#[test]
fn reading_goes_on_where_it_ended() {
    let place = place();
    let mut store = open(&place.path);
    assert_eq!(store.read_to("/t/a.jsonl").unwrap(), None);
    let read = Stretch { path: "/t/a.jsonl", session: KEY, messages: Vec::new(), end: json!({"offset": 7}) };
    store.count_tokens(&[read], &[]).unwrap();
    assert_eq!(store.read_to("/t/a.jsonl").unwrap(), Some(json!({"offset": 7})));
    assert_eq!(store.read_to("/t/b.jsonl").unwrap(), None);
}

#[test]
fn counting_is_no_change_of_a_sessions_state() {
    let place = place();
    let mut store = begun(&place.path);
    let state = store.session(KEY).unwrap();
    let read: Vec<Message> = (0..100).map(|number| message(&number.to_string(), 110, 1)).collect();
    store.count_tokens(&[stretch("a", KEY, &read)], &phases()).unwrap();
    assert_eq!(store.session(KEY).unwrap(), state);
}

#[test]
fn what_was_forgotten_does_not_count_again() {
    let place = place();
    let mut store = begun(&place.path);
    let read = || [stretch("a", KEY, &[message("1", 110, 10), message("2", 180, 100)])];
    store.count_tokens(&read(), &phases()).unwrap();
    for time in [160, 170] {
        record_plain(&mut store, &event(EventKind::Stop, time));
    }
    store.prune(150).unwrap();
    store.count_tokens(&read(), &phases()).unwrap();
    assert_eq!(input(&store, KEY), 110);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is read, how often and in which order.
    #[test]
    fn sums_are_what_their_messages_come_to(
        told in prop::collection::vec((0..6_u8, 0..8_i64, 0..5_u64, any::<bool>()), 1..40),
        at_once in 1..8_usize,
    ) {
        let place = place();
        let mut store = begun(&place.path);
        let told: Vec<(SessionKey<'_>, Message)> = told
            .into_iter()
            .map(|(id, slot, figure, is_first)| {
                (if is_first { KEY } else { OTHER }, message(&id.to_string(), 100 + slot * 30, figure))
            })
            .collect();
        for chunk in told.chunks(at_once) {
            let read = chunk.iter().map(|(session, message)| stretch("t", *session, std::slice::from_ref(message)));
            store.count_tokens(&read.collect::<Vec<_>>(), &phases()).unwrap();
        }

        let mut expected = [0; 4];
        for id in 0..6 {
            let of_id = || told.iter().filter(|(_, message)| message.id == id.to_string());
            // Of several that are as large, the first.
            let largest = of_id().map(|(_, message)| message).rev().max_by_key(|message| message.tokens.input);
            let Some(Message { time, tokens, .. }) = largest else { continue };
            expected[if *time < 200 { 2 } else { 3 }] += tokens.input;
            let owner = of_id().find(|(session, message)| *session == KEY || message.time >= 150);
            if let Some((session, _)) = owner {
                expected[usize::from(*session == OTHER)] += tokens.input;
            }
        }
        prop_assert_eq!(sums(&store), expected);
    }
}
