//! A model server on the loopback interface that follows a script: in each turn it calls a tool or says something.
//!
//! It implements as much of three streamed wire formats as the clients need: Anthropic Messages, OpenAI Responses and
//! Gemini's. The number of the turn is derived from the conversation in the request, so a client may repeat a request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

pub(super) enum Step {
    Say(String),
    /// Runs a shell command with the client's shell tool.
    Shell(String),
    /// Creates a file with the client's tool for new files.
    NewFile(String),
    /// Calls a tool that accepts any JSON, with deeply nested JSON.
    DeepCall {
        nesting: usize,
    },
}

impl Step {
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell(command.into())
    }

    pub fn new_file(path: impl Into<String>) -> Self {
        Self::NewFile(path.into())
    }

    pub fn deep_call(nesting: usize) -> Self {
        Self::DeepCall { nesting }
    }
}

pub(super) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener_thread: JoinHandle<()>,
}

struct Shared {
    script: Vec<Step>,
    /// The project's root, because tools of some clients take only absolute paths.
    project: PathBuf,
    requests: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

/// All requests that a client sent to the model.
pub(super) struct Conversation {
    /// The body of each request, unchanged.
    pub requests: Vec<String>,
}

impl Conversation {
    pub fn turns(&self) -> usize {
        self.requests.len()
    }

    /// True if any request contains this piece of JSON.
    pub fn has_received(&self, text: &str) -> bool {
        self.requests.iter().any(|request| request.contains(text))
    }
}

impl Model {
    pub fn start(script: Vec<Step>, project: PathBuf) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { script, project, requests: Mutex::default(), stopped: AtomicBool::new(false) });
        let listener_thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for connection in listener.incoming().map_while(Result::ok) {
                    if shared.stopped.load(Ordering::SeqCst) {
                        break;
                    }
                    let shared = Arc::clone(&shared);
                    // Errors are ignored, because a client can disconnect early.
                    thread::spawn(move || drop(answer(connection, &shared)));
                }
            }
        });
        Ok(Self { address, shared, listener_thread })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn stop(self) -> Conversation {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // This connection wakes up the listener, which then sees `stopped` and ends.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
        drop(self.listener_thread.join());
        let requests = self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Conversation { requests }
    }
}

/// Handles one request per connection, which is enough for the clients.
fn answer(mut connection: TcpStream, shared: &Shared) -> Result<()> {
    connection.set_read_timeout(Some(Duration::from_secs(30)))?;
    let (path, body) = read_request(&mut BufReader::new(connection.try_clone()?))?;
    let path = path.split('?').next().unwrap_or_default();
    let request: Value = serde_json::from_str(&body).unwrap_or_default();
    let has_tools = body.contains("\"tools\":[{");
    let reply = if path.ends_with("/responses") {
        event_stream_response(&openai_events(shared.step_for(body, openai_turns(&request)), &request))
    } else if path.ends_with("/messages") && has_tools {
        event_stream_response(&anthropic_events(
            shared.step_for(body, anthropic_turns(&request)),
            &request,
            &shared.project,
        ))
    } else if path.ends_with("/messages") {
        // A request without tools is not part of the conversation: the client asks for a title or a summary.
        event_stream_response(&anthropic_events(&Step::say("ok"), &request, &shared.project))
    } else if path.ends_with(":streamGenerateContent") && has_tools {
        event_stream_response(&[gemini_response(shared.step_for(body, gemini_turns(&request)))])
    } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        json_response(&gemini_response(&Step::say("ok")))
    } else {
        json_response(&json!({ "data": [], "models": [], "input_tokens": 1 }))
    };
    connection.write_all(reply.as_bytes())?;
    Ok(connection.flush()?)
}

impl Shared {
    /// Records the request, and returns the step of turn `number`. If the request is nested too deeply to be parsed,
    /// `number` is `None`, and the number of earlier requests is used instead. After the last step, that step is
    /// repeated.
    fn step_for(&self, request: String, number: Option<usize>) -> &Step {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let number = number.unwrap_or(requests.len());
        requests.push(request);
        self.script.get(number).or(self.script.last()).unwrap_or(&EMPTY_STEP)
    }
}

static EMPTY_STEP: Step = Step::Say(String::new());

/// Returns the number of the model's messages in the request's conversation.
fn anthropic_turns(request: &Value) -> Option<usize> {
    let messages = request.get("messages")?.as_array()?;
    Some(messages.iter().filter(|message| message.get("role") == Some(&json!("assistant"))).count())
}

fn gemini_turns(request: &Value) -> Option<usize> {
    let contents = request.get("contents")?.as_array()?;
    Some(contents.iter().filter(|content| content.get("role") == Some(&json!("model"))).count())
}

fn openai_turns(request: &Value) -> Option<usize> {
    let items = request.get("input")?.as_array()?;
    let is_from_model = |item: &&Value| {
        let has = |key: &str, value: &str| item.get(key).and_then(Value::as_str) == Some(value);
        has("type", "function_call") || has("type", "custom_tool_call") || has("role", "assistant")
    };
    Some(items.iter().filter(is_from_model).count())
}

fn read_request(source: &mut impl BufRead) -> Result<(String, String)> {
    let mut line = String::new();
    source.read_line(&mut line)?;
    let path = line.split(' ').nth(1).context("no request line")?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        source.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = Vec::new();
    source.take(length).read_to_end(&mut body)?;
    Ok((path, String::from_utf8(body)?))
}

fn json_response(body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Encodes server-sent events. Each is a JSON object; if it has a `type`, that is the event's name.
fn event_stream_response(events: &[Value]) -> String {
    let mut reply = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
    for event in events {
        if let Some(kind) = event.get("type").and_then(Value::as_str) {
            reply.push_str("event: ");
            reply.push_str(kind);
            reply.push('\n');
        }
        reply.push_str("data: ");
        reply.push_str(&event.to_string());
        reply.push_str("\n\n");
    }
    reply
}

/// Returns JSON of this depth as text, because building it as a value would need a stack of that depth.
fn nested_json(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// Encodes a step in the format of Anthropic Messages. Three clients use this format, with different tools, so the tool
/// to call is chosen from those in the request.
fn anthropic_events(step: &Step, request: &Value, project: &Path) -> Vec<Value> {
    let id = format!("msg_{}", anthropic_turns(request).unwrap_or_default());
    let offered = |name: &str| {
        let tools = request.get("tools").and_then(Value::as_array).into_iter().flatten();
        tools.into_iter().any(|tool| tool.get("name").and_then(Value::as_str) == Some(name))
    };
    let call = |name: &str| json!({ "type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": {} });
    let input = |text: String| json!({ "type": "input_json_delta", "partial_json": text });
    let (block, delta, stop_reason) = match step {
        Step::Say(text) => {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text }), "end_turn")
        }
        Step::Shell(command) => {
            let shell = if offered("bash") { "bash" } else { "Bash" };
            (call(shell), input(json!({ "command": command, "description": "Run it" }).to_string()), "tool_use")
        }
        Step::NewFile(path) => {
            let (name, arguments) = if offered("create") {
                ("create", json!({ "path": project.join(path), "file_text": "new\n" }))
            } else if offered("write") {
                ("write", json!({ "filePath": path, "content": "new\n" }))
            } else {
                ("Write", json!({ "file_path": path, "content": "new\n" }))
            };
            (call(name), input(arguments.to_string()), "tool_use")
        }
        Step::DeepCall { nesting } => {
            let deep = format!(r#"{{"subject":"x","description":"x","metadata":{}}}"#, nested_json(*nesting));
            (call("TaskCreate"), input(deep), "tool_use")
        }
    };
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    vec![
        json!({ "type": "message_start", "message": {
            "id": id, "type": "message", "role": "assistant", "model": request.get("model"), "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop_reason, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ]
}

fn gemini_response(step: &Step) -> Value {
    let call = |name: &str, args: Value| json!({ "functionCall": { "name": name, "args": args } });
    let part = match step {
        Step::Say(text) => json!({ "text": text }),
        Step::Shell(command) => call("run_shell_command", json!({ "command": command })),
        Step::NewFile(path) => call("write_file", json!({ "file_path": path, "content": "new\n" })),
        Step::DeepCall { .. } => json!({ "text": "" }),
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "scripted",
    })
}

fn openai_events(step: &Step, request: &Value) -> Vec<Value> {
    let turn = openai_turns(request).unwrap_or_default();
    let call = |name: &str, arguments: String| {
        json!({ "type": "function_call", "id": format!("fc_{turn}"), "call_id": format!("call_{turn}"),
            "name": name, "arguments": arguments })
    };
    let item = match step {
        Step::Say(text) => json!({ "type": "message", "id": format!("msg_{turn}"), "role": "assistant",
            "content": [{ "type": "output_text", "text": text }] }),
        Step::Shell(command) => call("exec_command", json!({ "cmd": command }).to_string()),
        Step::NewFile(path) => json!({ "type": "custom_tool_call", "id": format!("ctc_{turn}"),
            "call_id": format!("call_{turn}"), "name": "apply_patch",
            "input": format!("*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch") }),
        Step::DeepCall { nesting } => call("update_goal", nested_json(*nesting)),
    };
    let usage = json!({ "input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
        "output_tokens_details": null, "total_tokens": 15 });
    let id = format!("resp_{turn}");
    vec![
        json!({ "type": "response.created", "response": { "id": id } }),
        json!({ "type": "response.output_item.done", "item": item }),
        json!({ "type": "response.completed", "response": { "id": id, "usage": usage } }),
    ]
}
