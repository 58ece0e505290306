//! Recording and reading the journal.

use engine::event::{CallOutcome, Event, EventKind, FileAccess, McpTool, ShellText, ToolCall};
use engine::verdict::{Finding, Level, Verdict};
use path::Access;
use serde_json::{Value, json};
use store::{EntryId, EventRecord, JournalDetail, JournalEntry, JournalFilter, SessionKey, StateChanges, Store};

use crate::sample::{KEY, event, new_database_path, open, record, record_plain, shell_event, stored_id};

fn finding(rule: &str, level: Level, reason: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        level,
        reason: reason.to_owned(),
        because: vec!["tools: Bash".to_owned()],
        digest: Some("d1".to_owned()),
        protects_guard: false,
        section: None,
        is_combined: false,
    }
}

fn full_event() -> Event {
    Event {
        outcome: Some(CallOutcome::Ok),
        prompt: Some("the person's words".to_owned()),
        message: Some("the agent's words".to_owned()),
        held_before: true,
        subagent: Some("helper".to_owned()),
        extra: json!({"odd": "private"}).as_object().unwrap().clone(),
        tool: Some(ToolCall {
            name: "Bash".to_owned(),
            aliases: vec!["shell".to_owned()],
            id: Some("call-1".to_owned()),
            input: json!({"command": "x", "content": "private"}),
            output: Some(json!("private")),
            shell: Some(ShellText::Command("deploy --token abc123".to_owned())),
            files: vec![FileAccess::new("/a?token=abc123".to_owned(), Access::Write)],
            mcp: vec![McpTool { server: "s".to_owned(), tool: "t".to_owned() }],
        }),
        ..event(EventKind::AfterTool, 12)
    }
}

fn record_full_event(store: &mut Store, detail: JournalDetail) -> EntryId {
    let mut verdict = Verdict::of(vec![
        finding("careful", Level::Warn, "mind `--token abc123`"),
        finding("never", Level::Block, "no"),
    ]);
    verdict.notices.push("PASSWORD=abc123 was ignored".to_owned());
    let facts = json!({"git.branch": "main", "variables": {"api_key": "abc123"}}).as_object().unwrap().clone();
    let fields = json!({"description": "API_KEY=abc123"}).as_object().unwrap().clone();
    let event = full_event();
    let record = EventRecord {
        event: &event,
        root: "/srv/project",
        verdict: &verdict,
        facts: &facts,
        fields: &fields,
        changes: &StateChanges::default(),
        detail,
    };
    stored_id(&store.begin(KEY).unwrap().record(&record).unwrap())
}

fn only_entry(store: &Store) -> JournalEntry {
    store.entries(&JournalFilter::default()).unwrap().pop().unwrap()
}

#[test]
fn the_json_of_an_entry_is_stable() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_full_event(&mut store, JournalDetail::Lean);
    let mut json = serde_json::to_value(only_entry(&store)).unwrap();
    for digest in json["digests"].as_object_mut().unwrap().values_mut() {
        assert_eq!(digest.as_str().unwrap().len(), 32);
        *digest = json!("…");
    }
    insta::assert_json_snapshot!(json, @r#"
    {
      "id": 1,
      "time": 12,
      "agent": "claude",
      "session": "s1",
      "root": "/srv/project",
      "cwd": "/srv/project",
      "kind": "after_tool",
      "name": "after_tool",
      "tool": "Bash",
      "aliases": [
        "shell"
      ],
      "call": "call-1",
      "command": "deploy --token ***",
      "paths": [
        {
          "path": "/a?token=***",
          "access": "write"
        }
      ],
      "mcp": [
        {
          "server": "s",
          "tool": "t"
        }
      ],
      "outcome": "ok",
      "subagent": "helper",
      "held_before": true,
      "verdict": {
        "level": "block",
        "approved": false,
        "findings": [
          {
            "rule": "never",
            "level": "block",
            "reason": "no",
            "because": [
              "tools: Bash"
            ],
            "digest": "d1"
          },
          {
            "rule": "careful",
            "level": "warn",
            "reason": "mind `--token ***`",
            "because": [
              "tools: Bash"
            ],
            "digest": "d1"
          }
        ],
        "notices": [
          "PASSWORD=*** was ignored"
        ]
      },
      "fields": {
        "description": "API_KEY=***"
      },
      "facts": {
        "git.branch": "main",
        "variables": {
          "api_key": "***"
        }
      },
      "digests": {
        "prompt": "…",
        "message": "…",
        "input": "…",
        "output": "…",
        "extra": "…"
      }
    }
    "#);
}

#[test]
fn empty_fields_of_an_entry_are_omitted() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_plain(&mut store, &event(EventKind::Stop, 1));
    let json = serde_json::to_string(&only_entry(&store)).unwrap();
    insta::assert_snapshot!(json, @r#"{"id":1,"time":1,"agent":"claude","session":"s1","root":"/srv/project","cwd":"/srv/project","kind":"stop","name":"stop","verdict":{"level":"allow","approved":false,"findings":[],"notices":[]}}"#);
}

#[test]
fn an_entry_round_trips_through_json() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_full_event(&mut store, JournalDetail::Full);
    let entry = only_entry(&store);
    assert_eq!(serde_json::from_str::<JournalEntry>(&serde_json::to_string(&entry).unwrap()).unwrap(), entry);
}

#[test]
fn a_lean_journal_contains_nothing_private() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_full_event(&mut store, JournalDetail::Lean);
    drop(store);
    let connection = rusqlite::Connection::open(&database.path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let bytes = std::fs::read(&database.path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for private in ["abc123", "private", "the person's words", "the agent's words"] {
        assert!(!text.contains(private), "{private}");
    }
}

#[test]
fn a_full_journal_contains_the_event_without_secrets() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_full_event(&mut store, JournalDetail::Full);
    let event = only_entry(&store).event.unwrap();
    assert_eq!(event["prompt"], "the person's words");
    assert_eq!(event["tool"]["shell"]["command"], "deploy --token ***");
    assert!(!event.to_string().contains("abc123"));
}

#[test]
fn a_missing_command_differs_from_an_empty_one() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let mut call = shell_event(EventKind::BeforeTool, 1, "", None);
    call.tool.as_mut().unwrap().shell = Some(ShellText::Missing);
    record_plain(&mut store, &call);
    record_plain(&mut store, &shell_event(EventKind::BeforeTool, 2, "", None));
    let entries = store.entries(&JournalFilter::default()).unwrap();
    assert_eq!((entries[0].tool.command.as_deref(), entries[0].tool.command_missing), (None, true));
    assert_eq!((entries[1].tool.command.as_deref(), entries[1].tool.command_missing), (Some(""), false));
}

/// Records ten events in two sessions, with ids 1 to 10 and times 10 to 100. Even ids are stops; 4 has a warning of
/// `odd-rule`, 8 a block of `other`.
fn record_ten_events(store: &mut Store) {
    for number in 1..=10 {
        let kind = if number % 2 == 0 { EventKind::Stop } else { EventKind::Prompt };
        let mut event = event(kind, number * 10);
        if number <= 5 { "s1" } else { "s2" }.clone_into(&mut event.session);
        let verdict = match number {
            4 => Verdict::of(vec![finding("odd-rule", Level::Warn, "hm")]),
            8 => Verdict::of(vec![finding("other", Level::Block, "no")]),
            _ => Verdict::empty(),
        };
        record(store, &event, &verdict, &StateChanges::default());
    }
}

#[test]
fn entries_are_filtered() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_ten_events(&mut store);
    let all = JournalFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let cases: [(JournalFilter, &[i64]); 14] = [
        (all(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (JournalFilter { limit: 3, ..all() }, &[8, 9, 10]),
        (JournalFilter { limit: 3, after: Some(EntryId(4)), ..all() }, &[5, 6, 7]),
        (JournalFilter { after: Some(EntryId(8)), ..all() }, &[9, 10]),
        (JournalFilter { after: Some(EntryId(10)), ..all() }, &[]),
        (JournalFilter { session: text("s1"), ..all() }, &[1, 2, 3, 4, 5]),
        (JournalFilter { session: text("s1"), limit: 2, ..all() }, &[4, 5]),
        (JournalFilter { agent: text("codex"), ..all() }, &[]),
        (JournalFilter { kind: text("stop"), ..all() }, &[2, 4, 6, 8, 10]),
        (JournalFilter { level: Some(Level::Warn), ..all() }, &[4, 8]),
        (JournalFilter { level: Some(Level::Block), ..all() }, &[8]),
        (JournalFilter { rule: text("odd-rule"), ..all() }, &[4]),
        (JournalFilter { since: Some(30), until: Some(50), ..all() }, &[3, 4, 5]),
        (JournalFilter { session: text("s2"), kind: text("stop"), since: Some(70), limit: 1, ..all() }, &[10]),
    ];
    for (filter, expected) in cases {
        let ids: Vec<i64> = store.entries(&filter).unwrap().iter().map(|entry| entry.id.0).collect();
        assert_eq!(ids, expected, "{filter:?}");
    }
}

#[test]
fn filter_values_are_not_interpreted_as_sql() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_ten_events(&mut store);
    let filter = JournalFilter {
        session: Some("' OR 1=1 --".to_owned()),
        rule: Some("x') OR (1".to_owned()),
        ..JournalFilter::default()
    };
    assert_eq!(store.entries(&filter).unwrap(), []);
}

#[test]
fn an_ordinary_event_writes_two_pages() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let wal = database.path.with_file_name("state.db-wal");
    let size = || std::fs::metadata(&wal).unwrap().len();
    record_plain(&mut store, &shell_event(EventKind::BeforeTool, 0, "cargo test", Some("c")));
    let mut frames = Vec::new();
    for time in 1..=20 {
        let before = size();
        record_plain(&mut store, &shell_event(EventKind::BeforeTool, time, "cargo test", Some("c")));
        frames.push((size() - before) / 2048);
    }
    frames.sort_unstable();
    assert_eq!(frames[10], 2, "{frames:?}");
}

#[test]
fn reading_does_not_wait_for_a_writer() {
    let database = new_database_path();
    let mut writer = open(&database.path);
    record_ten_events(&mut writer);
    let reader = Store::open_read_only(&database.path, crate::sample::options()).unwrap();
    record_plain(&mut writer, &event(EventKind::Stop, 200));
    assert_eq!(
        reader.entries(&JournalFilter { after: Some(EntryId(10)), ..JournalFilter::default() }).unwrap().len(),
        1
    );
    assert_eq!(reader.session_state(SessionKey { agent: "claude", session: "s2" }).unwrap().first_seen, Some(60));
}

#[test]
fn invalid_rows_do_not_abort_a_listing() {
    let database = new_database_path();
    let mut store = open(&database.path);
    record_ten_events(&mut store);
    let connection = rusqlite::Connection::open(&database.path).unwrap();
    connection.execute("UPDATE events SET paths = '{', level = 'shout', kind = 'move' WHERE id = 3", []).unwrap();
    let entries = store.entries(&JournalFilter::default()).unwrap();
    assert_eq!((entries[2].verdict.level, entries[2].kind.as_str()), (Level::Block, "move"));
    assert_eq!(json!(entries[2].tool.paths), Value::Array(Vec::new()));
}
