//! Functions about MCP calls, which read the variables of the behavior `mcp_call_tracking`.

use minijinja::{Error, State, Value};

use super::{
    compare, context,
    error::{failure, wrong_arity},
    json::to_json,
    values::text_argument,
    work_budget::{self, WorkBudget},
};
use crate::behavior_names::{CALLS, FAILURES, RESULTS, dropped_size};

/// `mcp_called(server[, tool])`: true if a call of the tool has succeeded; without `tool`, true if a call of any tool
/// of the server has succeeded.
pub(super) fn called(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let (server, tool) = match args {
        [server] => (server, None),
        [server, tool] => (server, Some(tool)),
        _ => return Err(wrong_arity()),
    };
    let tools = server_entry(state, CALLS, server, "mcp_called")?;
    let mut tools = tools.iter().flat_map(Value::try_iter).flatten();
    Ok(Value::from(tools.any(|known| tool.is_none_or(|tool| known == *tool))))
}

/// `mcp_failed(server, tool)`: true if the last call of the tool failed.
pub(super) fn failed(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [server, tool] = args else { return Err(wrong_arity()) };
    let tools = server_entry(state, FAILURES, server, "mcp_failed")?;
    Ok(Value::from(tools.iter().flat_map(Value::try_iter).flatten().any(|known| known == *tool)))
}

/// `mcp_result_is_null(server, tool)`: true if the last successful call of the tool returned null, or if no call has
/// succeeded.
pub(super) fn result_is_null(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [server, tool] = args else { return Err(wrong_arity()) };
    let result = result(state, server, tool, "mcp_result_is_null")?;
    Ok(Value::from(result.is_none_or(|result| result.is_none())))
}

/// `mcp_result_has(server, tool, field, value)`: true if the result of the last successful call has this value in this
/// field.
pub(super) fn result_has(state: &mut State, args: &[Value]) -> Result<Value, Error> {
    let [server, tool, field, value] = args else { return Err(wrong_arity()) };
    let Some(result) = result(state, server, tool, "mcp_result_has")? else { return Ok(Value::from(false)) };
    if let Some(size) = to_json(&result, &mut WorkBudget::default()).ok().as_ref().and_then(dropped_size) {
        return Err(failure(format!(
            "`mcp_result_has` cannot check the result: its {size} bytes were too many to keep"
        )));
    }
    let actual = result.get_item(field).unwrap_or_default();
    if actual.is_undefined() {
        return Ok(Value::from(false));
    }
    compare::equal(&actual, value, work_budget::of(state)).map(Value::from)
}

fn result(state: &State, server: &Value, tool: &Value, function: &str) -> Result<Option<Value>, Error> {
    let tools = server_entry(state, RESULTS, server, function)?;
    Ok(tools.and_then(|tools| tools.get_item(tool).ok()).filter(|result| !result.is_undefined()))
}

/// The entry of a server in `variable`, which is one of the variables of `mcp_call_tracking`.
fn server_entry(state: &State, variable: &str, server: &Value, function: &str) -> Result<Option<Value>, Error> {
    text_argument(server, function)?;
    let servers = context::variable(state, variable, function)?;
    Ok(servers.and_then(|servers| servers.get_item(server).ok()).filter(|tools| !tools.is_undefined()))
}
