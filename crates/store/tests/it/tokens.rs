//! Tokens by message, session and phase.

use engine::event::EventKind;
use engine::pace::Tokens;
use proptest::prelude::*;
use serde_json::json;
use store::{PhaseStart, SessionKey, Store, TranscriptChunk, TranscriptMessage, phase_key};

use crate::sample::{KEY, event, new_database_path, open, record_plain};

const OTHER: SessionKey<'static> = SessionKey { agent: "claude", session: "s2" };

fn message(id: &str, time: i64, input: u64) -> TranscriptMessage {
    TranscriptMessage { id: id.to_owned(), time, tokens: Tokens { input, ..Tokens::default() } }
}

fn read_chunk(
    path: &'static str,
    session: SessionKey<'static>,
    messages: &[TranscriptMessage],
) -> TranscriptChunk<'static> {
    TranscriptChunk { path, session, messages: messages.to_vec(), end: json!(messages.len()) }
}

/// Two phases, which start at 100 and 200.
fn phases() -> [PhaseStart; 2] {
    [(100, "1.1"), (200, "1.2")].map(|(time, phase)| PhaseStart { time, phase: phase.to_owned() })
}

fn input(store: &Store, key: SessionKey<'_>) -> u64 {
    store.tokens(key).unwrap().input
}

/// The sums of the sessions `s1` and `s2` and of both phases.
fn sums(store: &Store) -> [u64; 4] {
    [KEY, OTHER, phase_key("1.1"), phase_key("1.2")].map(|key| input(store, key))
}

/// A store with the sessions `s1`, which began at 50, and `s2`, which began at 150.
fn store_with_two_sessions(path: &std::path::Path) -> Store {
    let mut store = open(path);
    record_plain(&mut store, &event(EventKind::SessionStart, 50));
    let mut second = event(EventKind::SessionStart, 150);
    OTHER.session.clone_into(&mut second.session);
    record_plain(&mut store, &second);
    store
}

#[test]
fn a_message_counts_in_its_session_and_in_the_phase_it_was_written_in() {
    let database = new_database_path();
    let mut store = store_with_two_sessions(&database.path);
    let read = read_chunk("a", KEY, &[message("0", 20, 1), message("1", 60, 10), message("2", 100, 100)]);
    store.add_token_usage(&[read], &phases()).unwrap();
    assert_eq!(sums(&store), [110, 0, 100, 0]);
    // A message that is read late counts in the phase in which it was written.
    let late = read_chunk("b", OTHER, &[message("3", 199, 1_000), message("4", 200, 10_000)]);
    store.add_token_usage(&[late], &phases()).unwrap();
    assert_eq!(sums(&store), [110, 11_000, 1_100, 10_000]);
    assert_eq!(input(&store, SessionKey { agent: "claude", session: "unheard of" }), 0);
}

#[test]
fn a_message_that_is_reported_again_counts_once_with_its_largest_count() {
    let database = new_database_path();
    let mut store = store_with_two_sessions(&database.path);
    for (count, sum) in [(10, 10), (10, 10), (25, 25), (5, 25)] {
        store.add_token_usage(&[read_chunk("a", KEY, &[message("1", 160, count)])], &phases()).unwrap();
        assert_eq!(sums(&store), [sum, 0, sum, 0]);
    }
    // The larger count was written in the next phase.
    store.add_token_usage(&[read_chunk("a", KEY, &[message("1", 230, 40)])], &phases()).unwrap();
    assert_eq!(sums(&store), [40, 0, 0, 40]);
}

#[test]
fn messages_copied_by_a_fork_count_in_the_original_session() {
    let database = new_database_path();
    let mut store = store_with_two_sessions(&database.path);
    let copied = message("1", 120, 10);
    // The copy is read first, in the transcript of the fork, which began later.
    store.add_token_usage(&[read_chunk("fork", OTHER, std::slice::from_ref(&copied))], &phases()).unwrap();
    assert_eq!(sums(&store), [0, 0, 10, 0]);
    store.add_token_usage(&[read_chunk("first", KEY, &[copied])], &phases()).unwrap();
    assert_eq!(sums(&store), [10, 0, 10, 0]);
}

#[test]
fn two_agents_may_use_the_same_id() {
    let database = new_database_path();
    let mut store = store_with_two_sessions(&database.path);
    let codex = SessionKey { agent: "codex", session: "s1" };
    let read = [read_chunk("a", KEY, &[message("1", 110, 1)]), read_chunk("b", codex, &[message("1", 110, 2)])];
    store.add_token_usage(&read, &phases()).unwrap();
    assert_eq!(sums(&store), [1, 0, 3, 0]);
}

#[test]
fn the_reading_position_is_stored() {
    let database = new_database_path();
    let mut store = open(&database.path);
    assert_eq!(store.transcript_position("/t/a.jsonl").unwrap(), None);
    let read = TranscriptChunk { path: "/t/a.jsonl", session: KEY, messages: Vec::new(), end: json!({"offset": 7}) };
    store.add_token_usage(&[read], &[]).unwrap();
    assert_eq!(store.transcript_position("/t/a.jsonl").unwrap(), Some(json!({"offset": 7})));
    assert_eq!(store.transcript_position("/t/b.jsonl").unwrap(), None);
}

#[test]
fn counting_does_not_change_the_state_of_a_session() {
    let database = new_database_path();
    let mut store = store_with_two_sessions(&database.path);
    let state = store.session_state(KEY).unwrap();
    let read: Vec<TranscriptMessage> = (0..100).map(|number| message(&number.to_string(), 110, 1)).collect();
    store.add_token_usage(&[read_chunk("a", KEY, &read)], &phases()).unwrap();
    assert_eq!(store.session_state(KEY).unwrap(), state);
}

#[test]
fn a_pruned_message_does_not_count_again() {
    let database = new_database_path();
    let mut store = store_with_two_sessions(&database.path);
    let read = || [read_chunk("a", KEY, &[message("1", 110, 10), message("2", 180, 100)])];
    store.add_token_usage(&read(), &phases()).unwrap();
    for time in [160, 170] {
        record_plain(&mut store, &event(EventKind::Stop, time));
    }
    store.prune(150).unwrap();
    store.add_token_usage(&read(), &phases()).unwrap();
    assert_eq!(input(&store, KEY), 110);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Reports arbitrary messages to two sessions, in arbitrary order and any number of times.
    #[test]
    fn sums_equal_the_totals_of_their_messages(
        reports in prop::collection::vec((0..6_u8, 0..8_i64, 0..5_u64, any::<bool>()), 1..40),
        batch_size in 1..8_usize,
    ) {
        let database = new_database_path();
        let mut store = store_with_two_sessions(&database.path);
        let reports: Vec<(SessionKey<'_>, TranscriptMessage)> = reports
            .into_iter()
            .map(|(id, slot, count, is_first)| {
                (if is_first { KEY } else { OTHER }, message(&id.to_string(), 100 + slot * 30, count))
            })
            .collect();
        for chunk in reports.chunks(batch_size) {
            let read = chunk.iter().map(|(session, message)| read_chunk("t", *session, std::slice::from_ref(message)));
            store.add_token_usage(&read.collect::<Vec<_>>(), &phases()).unwrap();
        }

        let mut expected = [0; 4];
        for id in 0..6 {
            let of_id = || reports.iter().filter(|(_, message)| message.id == id.to_string());
            // `max_by_key` returns the last of equal counts, and the store keeps the first one.
            let largest = of_id().map(|(_, message)| message).rev().max_by_key(|message| message.tokens.input);
            let Some(TranscriptMessage { time, tokens, .. }) = largest else { continue };
            expected[if *time < 200 { 2 } else { 3 }] += tokens.input;
            let first_counted = of_id().find(|(session, message)| *session == KEY || message.time >= 150);
            if let Some((session, _)) = first_counted {
                expected[usize::from(*session == OTHER)] += tokens.input;
            }
        }
        prop_assert_eq!(sums(&store), expected);
    }
}
