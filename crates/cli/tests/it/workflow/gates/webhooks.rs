//! Webhook gates: another program decides whether a move is allowed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{ProcessOutput, TestProject};

use super::with_gates;

struct ReceivedRequest {
    line: String,
    headers: Vec<String>,
    body: Value,
}

/// Starts a local server that gives every request this answer. Returns the server's port, and a channel with the
/// requests that it received.
fn server(answer: &'static str) -> (u16, Receiver<ReceivedRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let (sender, received) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let request = read_request(&stream);
            let _ = (&stream).write_all(answer.as_bytes());
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (port, received)
}

fn read_request(stream: &TcpStream) -> ReceivedRequest {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let length = head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("a body");
    let line = head.remove(0);
    ReceivedRequest { line, headers: head, body: serde_json::from_slice(&body).unwrap_or_default() }
}

const SUCCESS: &str = "HTTP/1.1 200 OK\r\ncontent-length: 34\r\n\r\n{\"ok\":true,\"more\":{\"a\":1,\"b\":[2]}}";

fn with_webhook_gate(port: u16, extra_fields: &str) -> TestProject {
    with_gates(&format!("[{{webhook: {{url: 'http://127.0.0.1:{port}/gate'{extra_fields}}}}}]"))
}

fn next_with(project: &TestProject, variables: &[(&str, &str)]) -> ProcessOutput {
    let mut command = project.command(&["next"]);
    command.envs(variables.iter().copied());
    project.run_with_stdin(command, b"")
}

#[test]
fn the_webhook_receives_the_move_and_its_claims() {
    let (port, received) = server(SUCCESS);
    let project = with_webhook_gate(port, ", headers: {Authorization: env:GATE_TOKEN, X-Team: core}");
    let reply = next_with(&project, &[("GATE_TOKEN", "sesame-sesame")]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    let request = received.recv_timeout(Duration::from_secs(5)).expect("a request");
    assert_eq!(request.line, "POST /gate HTTP/1.1");
    let has = |wanted: &str| request.headers.iter().any(|header| header.eq_ignore_ascii_case(wanted));
    assert!(has("authorization: sesame-sesame") && has("x-team: core") && has("content-type: application/json"));
    let expected = json!({
        "project": "project", "workflow": "w", "node": "work", "visit": "1.1", "claims": {"work_complete": true},
    });
    assert_eq!(request.body, expected);
}

#[test]
fn an_unexpected_answer_is_a_refusal() {
    let no = "HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\n\r\nsecret";
    let (port, _received) = server(no);
    let refused = with_webhook_gate(port, "").run(&["next"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stdout.contains("it answered with status 403, not 200"), "{}", refused.stdout);
    assert!(!refused.stdout.contains("secret"));
    assert_eq!(with_webhook_gate(port, ", expect: {status: 403}").run(&["next"]).code, Some(0));

    let (port, _received) = server(SUCCESS);
    for (expected, code) in [
        ("{ok: true}", 0),
        ("{more: {a: 1}}", 0),
        ("{more: {b: [2]}}", 0),
        ("{ok: false}", 1),
        ("{more: {c: 1}}", 1),
        ("{more: {b: []}}", 1),
        ("[]", 1),
    ] {
        let reply = with_webhook_gate(port, &format!(", expect: {{json: {expected}}}")).run(&["next"]);
        assert_eq!(reply.code, Some(code), "{expected}: {}", reply.stdout);
    }
    let (port, _received) = server("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhm");
    let reply = with_webhook_gate(port, ", expect: {json: {ok: true}}").run(&["next"]);
    assert!(reply.stdout.contains("its answer is not JSON"), "{}", reply.stdout);
}

#[test]
fn a_redirect_is_not_followed() {
    let (elsewhere, followed) = server(SUCCESS);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            read_request(&stream);
            let location = format!("location: http://127.0.0.1:{elsewhere}/\r\n");
            let _ =
                (&stream).write_all(format!("HTTP/1.1 302 Found\r\n{location}content-length: 0\r\n\r\n").as_bytes());
        }
    });
    let reply = with_webhook_gate(port, "").run(&["next"]);
    assert_eq!(reply.code, Some(1));
    assert!(reply.stdout.contains("status 302"), "{}", reply.stdout);
    assert!(followed.try_recv().is_err());
}

#[test]
fn every_webhook_error_is_a_refusal() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    drop(listener);
    let project = with_webhook_gate(port, ", headers: {Authorization: env:GATE_TOKEN}");
    let unset = next_with(&project, &[]);
    assert_eq!(unset.code, Some(1));
    assert!(unset.stdout.contains("the environment variable `GATE_TOKEN`"), "{}", unset.stdout);
    let refused = next_with(&project, &[("GATE_TOKEN", "sesame-sesame")]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stdout.contains("did not approve"), "{}", refused.stdout);
    // The value of `GATE_TOKEN` is not shown either if it is invalid in a header.
    let wrong = next_with(&project, &[("GATE_TOKEN", "sesame\nsesame")]);
    assert_eq!(wrong.code, Some(1));
    for reply in [&unset, &refused, &wrong] {
        assert!(!reply.stdout.contains("sesame"), "{}", reply.stdout);
    }
    let shown = project.run(&["workflows", "show", "w", "--json"]).stdout + &project.run(&["log", "--json"]).stdout;
    assert!(!shown.contains("sesame"));

    let (port, _received) = server("this is not HTTP\r\n\r\n");
    assert_eq!(with_webhook_gate(port, "").run(&["next"]).code, Some(1));
}

#[test]
fn a_webhook_timeout_is_a_refusal() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("a port").port();
    let project = with_webhook_gate(port, "");
    let started = Instant::now();
    let reply = project.run(&["next"]);
    assert_eq!(reply.code, Some(1));
    assert!(reply.stdout.contains("no answer within 10 s"), "{}", reply.stdout);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_proxy_is_not_used_for_webhooks_on_this_machine() {
    let (port, _received) = server(SUCCESS);
    let (proxy, proxied) = server(SUCCESS);
    let project = with_webhook_gate(port, "");
    let proxy = format!("http://127.0.0.1:{proxy}");
    let reply = next_with(&project, &[("http_proxy", &proxy), ("HTTP_PROXY", &proxy), ("ALL_PROXY", &proxy)]);
    assert_eq!(reply.code, Some(0), "{}", reply.stdout);
    assert!(proxied.try_recv().is_err());
}

#[test]
fn a_webhook_that_cannot_be_reached_is_reported() {
    // The listener is dropped at once, so nothing answers at its port.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let stdout = with_webhook_gate(port, "").run(&["next"]).stdout;
    assert!(stdout.contains("/gate did not approve: it could not be reached: Connection refused"), "{stdout}");
}
