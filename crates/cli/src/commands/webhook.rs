//! Asks a webhook whether a move is allowed. The network client is in this crate, because hooks never send requests.

use std::time::Duration;

use engine::workflow::{ExpectedResponse, Webhook};
use guard::Environment;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Request, Response};

/// The maximum duration of the whole request, including name resolution.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of the webhook's answer. A larger answer is rejected.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Sends the question to the webhook. Fails with the reason if the webhook does not agree. The reason contains no
/// header values and nothing from the answer, because both may be secret.
pub fn ask(webhook: &Webhook, question: &Value, environment: &Environment) -> Result<(), String> {
    let response = send(webhook, question, environment)?;
    check_response(response, &webhook.expect)
}

fn send(webhook: &Webhook, question: &Value, environment: &Environment) -> Result<Response<ureq::Body>, String> {
    let is_secure = webhook.url.starts_with("https://");
    let config = Agent::config_builder()
        .https_only(is_secure)
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(TIMEOUT))
        .user_agent(concat!("linchpin/", env!("CARGO_PKG_VERSION")));
    // Only URLs on this machine may lack `https`. A request to them must not go through a proxy.
    let config = if is_secure { config } else { config.proxy(None) };
    let agent = Agent::new_with_config(config.build());
    let mut request = Request::builder().method(webhook.method.as_str()).uri(&webhook.url);
    for (name, value) in &webhook.headers {
        request = request.header(name, header_value(name, value, environment)?);
    }
    // Replaces the original error, whose text could contain a header value.
    let invalid_request = |_| "its `url` or `headers` are invalid".to_owned();
    let answer = if webhook.method == "GET" {
        agent.run(request.body(()).map_err(invalid_request)?)
    } else {
        let request = request.header("content-type", "application/json");
        agent.run(request.body(question.to_string()).map_err(invalid_request)?)
    };
    answer.map_err(|error| match error {
        ureq::Error::Timeout(_) => format!("no answer within {} s", TIMEOUT.as_secs()),
        ureq::Error::Io(error) => format!("it could not be reached: {error}"),
        error => error.to_string(),
    })
}

/// Returns a header's value. `env:NAME` means the value of that environment variable.
fn header_value(header: &str, value: &str, environment: &Environment) -> Result<String, String> {
    match value.strip_prefix(Webhook::FROM_ENVIRONMENT) {
        None => Ok(value.to_owned()),
        Some(name) => environment
            .get(name)
            .ok_or_else(|| format!("the environment variable `{name}` for the header `{header}` is not set")),
    }
}

fn check_response(mut response: Response<ureq::Body>, expect: &ExpectedResponse) -> Result<(), String> {
    let status = response.status().as_u16();
    if status != expect.status {
        return Err(format!("it answered with status {status}, not {}", expect.status));
    }
    let Some(wanted) = expect.json.as_ref().and_then(|json| serde_json::from_str::<Value>(json).ok()) else {
        return Ok(());
    };
    let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
    let body = body.map_err(|error| format!("its answer cannot be read: {error}"))?;
    let answer: Value = serde_json::from_slice(&body).map_err(|_| "its answer is not JSON".to_owned())?;
    if contains(&answer, &wanted) { Ok(()) } else { Err(format!("its answer does not contain {wanted}")) }
}

/// True if the answer contains all fields that are wanted, with equal values. The answer may contain other fields.
fn contains(answer: &Value, wanted: &Value) -> bool {
    match (answer, wanted) {
        (Value::Object(answer), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| answer.get(key).is_some_and(|answer| contains(answer, wanted)))
        }
        (answer, wanted) => answer == wanted,
    }
}
