//! `mcp_call_tracking`: records which tools of which MCP servers the session called, and their results.
//!
//! Successes and failures are separate: `mcp_calls[server]` lists the tools that succeeded at least once,
//! `mcp_results[server][tool]` is the result of the last success, and `mcp_failures[server]` lists the tools whose last
//! call failed. Every hook of the session reads these variables, so their size is limited: a result that is too large
//! is replaced by its size.

use serde_json::{Map, Value, json};

use super::call_result::CallResult;
use super::{VALUE_LIMIT, VariableChanges};
use crate::behavior_names::{CALLS, DROPPED, FAILURES, RESULTS};
use crate::event::McpTool;
use crate::facts::Missing;
use crate::situation::Situation;

const SERVERS_LIMIT: usize = 32;
const TOOLS_LIMIT: usize = 64;
const NAME_LIMIT: usize = 128;
/// The maximum size of all results of a session together, in bytes.
const RESULTS_LIMIT: usize = 64 * 1024;

pub(super) fn observe(situation: &Situation) -> Result<VariableChanges, Missing> {
    let mut changes = VariableChanges::new();
    let Some(call) = situation.event.tool.as_ref().filter(|call| !call.mcp.is_empty()) else { return Ok(changes) };
    let Some(result) = CallResult::of(&situation.event) else { return Ok(changes) };
    let has_short_names = |tool: &&McpTool| tool.server.len() <= NAME_LIMIT && tool.tool.len() <= NAME_LIMIT;
    let tools: Vec<&McpTool> = call.mcp.iter().filter(has_short_names).collect();
    let stored = |name: &str| match situation.facts.variable(name)? {
        Some(Value::Object(servers)) => Ok(servers),
        _ => Ok(Map::new()),
    };
    let mut failures = stored(FAILURES)?;
    if let CallResult::Success(result) = &result {
        let (mut calls, mut results) = (stored(CALLS)?, stored(RESULTS)?);
        for tool in &tools {
            add(&mut calls, tool);
            remove(&mut failures, tool);
            store_result(&mut results, tool, result);
        }
        changes.insert(CALLS.to_owned(), Some(Value::Object(calls)));
        changes.insert(RESULTS.to_owned(), Some(Value::Object(results)));
    } else {
        for tool in &tools {
            add(&mut failures, tool);
        }
    }
    // As long as no call has failed, `mcp_failures` is not set.
    let had_failures = situation.facts.variable(FAILURES)?.is_some();
    if had_failures || !failures.is_empty() {
        changes.insert(FAILURES.to_owned(), Some(Value::Object(failures)));
    }
    Ok(changes)
}

/// Returns the entry of a server. A missing entry is created with the value `empty`. `None` if the entry is missing and
/// the number of servers has reached the limit.
fn server_entry<'m>(servers: &'m mut Map<String, Value>, name: &str, empty: Value) -> Option<&'m mut Value> {
    if !servers.contains_key(name) && servers.len() >= SERVERS_LIMIT {
        return None;
    }
    Some(servers.entry(name).or_insert(empty))
}

fn add(servers: &mut Map<String, Value>, tool: &McpTool) {
    let Some(Value::Array(tools)) = server_entry(servers, &tool.server, json!([])) else { return };
    if tools.len() < TOOLS_LIMIT && !tools.iter().any(|known| known == tool.tool.as_str()) {
        tools.push(Value::from(tool.tool.as_str()));
    }
}

fn remove(servers: &mut Map<String, Value>, tool: &McpTool) {
    if let Some(Value::Array(tools)) = servers.get_mut(&tool.server) {
        tools.retain(|known| known != tool.tool.as_str());
    }
}

fn store_result(servers: &mut Map<String, Value>, tool: &McpTool, result: &Value) {
    let size = result.to_string().len();
    let Some(Value::Object(tools)) = server_entry(servers, &tool.server, json!({})) else { return };
    if tools.contains_key(&tool.tool) || tools.len() < TOOLS_LIMIT {
        tools.insert(tool.tool.clone(), if size > VALUE_LIMIT { dropped_result(size) } else { result.clone() });
    }
    drop_largest(servers, tool);
}

fn dropped_result(size: usize) -> Value {
    json!({ DROPPED: size })
}

/// Drops the largest results until the total is within the limit. The newest result is never dropped, even if this
/// result alone exceeds the limit.
fn drop_largest(servers: &mut Map<String, Value>, newest: &McpTool) {
    let mut sizes: Vec<(usize, String, String)> = Vec::new();
    for (server, tools) in servers.iter() {
        for (tool, result) in tools.as_object().into_iter().flatten() {
            sizes.push((result.to_string().len(), server.clone(), tool.clone()));
        }
    }
    let mut total: usize = sizes.iter().map(|(size, ..)| size).sum();
    sizes.sort();
    while total > RESULTS_LIMIT {
        let Some((size, server, tool)) = sizes.pop() else { return };
        let is_newest = server == newest.server && tool == newest.tool;
        if let (false, Some(result)) = (is_newest, servers.get_mut(&server).and_then(|tools| tools.get_mut(&tool))) {
            *result = dropped_result(size);
            total -= size;
        }
    }
}
