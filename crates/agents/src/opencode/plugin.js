// Calls Linchpin at OpenCode's events and carries out the answers. `server` is the plugin interface of OpenCode 1,
// `setup` that of OpenCode 2. Linchpin makes all decisions. The plugin decides only what happens if Linchpin cannot be
// called or gives no valid answer.
import { spawn, spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const ARGUMENTS = ["hook", "opencode"]
// How long the plugin waits for Linchpin, in milliseconds: far longer than Linchpin's own deadline. At a stop, the
// plugin waits longer, because rules may run commands at a stop.
const TIMEOUT = 60_000
const STOP_TIMEOUT = 600_000

// `opencode run` ends as soon as the session is idle. To hold a stop, the plugin has to call Linchpin synchronously
// before that.
const HEADLESS = process.argv.includes("run")

const isStop = (event) => /Stop$/.test(event.hook_event_name)

function answerOf(event, { error, status, stdout, stderr }) {
  // A stop that cannot be judged is not held, because it would be held forever.
  const failed = (text) => (isStop(event) ? { message: text } : { refuse: text })
  if (error) {
    // A project's plugin must not lock out people who do not have Linchpin.
    if (error.code === "ENOENT" && !FAIL_CLOSED) return {}
    return failed(`Linchpin could not be called: ${error.message}`)
  }
  if (status !== 0) return failed(stderr.trim() || `Linchpin ended with ${status}`)
  if (!stdout.trim()) return {}
  try {
    const answer = JSON.parse(stdout)
    if (typeof answer !== "object" || Array.isArray(answer)) throw new Error("not an object")
    const { decision, reason, systemMessage, hookSpecificOutput = {} } = answer
    const { permissionDecision, permissionDecisionReason, additionalContext } = hookSpecificOutput
    // Every decision except an approval is a refusal.
    const isRefused = (decision ?? "approve") !== "approve" || (permissionDecision ?? "allow") !== "allow"
    // The reason of a refusal can be missing.
    const refuse = isRefused ? reason || permissionDecisionReason || "Refused by Linchpin" : undefined
    return { refuse, context: additionalContext, message: systemMessage }
  } catch {
    return failed("Linchpin's answer could not be read")
  }
}

const limit = (event) => (isStop(event) ? STOP_TIMEOUT : TIMEOUT)

// Starting a program in a deleted directory fails with ENOENT, as if the program were missing.
const existingDirectory = (event) => (event.cwd && existsSync(event.cwd) ? event.cwd : undefined)

function ask(event) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ARGUMENTS, { timeout: limit(event), cwd: existingDirectory(event) })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (text) => (stdout += text))
    child.stderr.on("data", (text) => (stderr += text))
    child.on("error", (error) => resolve(answerOf(event, { error })))
    child.on("close", (status) => resolve(answerOf(event, { status, stdout, stderr })))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

// Like `ask`, but synchronous: OpenCode does nothing else meanwhile.
function askSynchronously(event) {
  const options = { input: JSON.stringify(event), encoding: "utf8", timeout: limit(event), cwd: existingDirectory(event) }
  return answerOf(event, spawnSync(PROGRAM, ARGUMENTS, options))
}

// Appends the token usage of a request to a file that serves as transcript. OpenCode has no transcript, but a database.
function recordUsage(session, info, agent) {
  const directory = usageDirectory()
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const { id, tokens } = info
    const line = { type: "usage", id, timestamp: new Date().toISOString(), agent, tokens }
    appendFileSync(join(directory, `${session}.jsonl`), JSON.stringify(line) + "\n", { mode: 0o600 })
  } catch {
    // If the file cannot be written, the usage stays unknown.
  }
}

const usageDirectory = () => join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "linchpin", "opencode")

const appendText = (text, more) => (text ? `${text}\n\n${more}` : more)

const server = async ({ client, directory }) => {
  // The sessions by id, each with its parent, agent, model and last message, and whether its start was reported and its
  // stop was held.
  const sessions = new Map()
  // Texts that are added to the results of calls, by the id of the call.
  const texts = new Map()
  // The ids of refused calls.
  const refused = new Set()

  const state = (id) => {
    if (!sessions.has(id)) sessions.set(id, {})
    return sessions.get(id)
  }

  async function parentOf(id) {
    const known = state(id)
    if (!("parent" in known)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      known.parent = found?.data?.parentID
    }
    return known.parent
  }

  async function rootOf(id) {
    for (let depth = 0; depth < 16; depth++) {
      const parent = await parentOf(id)
      if (!parent) break
      id = parent
    }
    return id
  }

  function payload(name, id, root, more) {
    const own = id === root ? {} : { agent_id: id, agent_type: state(id).agent }
    const transcript_path = join(usageDirectory(), `${root}.jsonl`)
    return { hook_event_name: name, session_id: root, cwd: directory, transcript_path, ...own, ...more }
  }

  const show = (message) => {
    if (message) client.tui?.showToast?.({ body: { title: "Linchpin", message, variant: "warning" } })?.catch?.(() => {})
  }

  async function askAndShow(name, id, more) {
    const answer = await ask(payload(name, id, await rootOf(id), more))
    show(answer.message)
    return answer
  }

  async function reportStart(id) {
    const known = state(id)
    if (known.isStartReported) return undefined
    known.isStartReported = true
    const isMain = !(await parentOf(id))
    const answer = await askAndShow(isMain ? "SessionStart" : "SubagentStart", id, isMain ? { source: "startup" } : {})
    return answer.context ?? answer.refuse
  }

  function stopEvent(id, root) {
    const { lastMessage, held } = state(id)
    const name = id === root ? "Stop" : "SubagentStop"
    return payload(name, id, root, { last_assistant_message: lastMessage, stop_hook_active: Boolean(held) })
  }

  async function holdIfRefused(id, answer) {
    const known = state(id)
    known.held = Boolean(answer.refuse)
    show(answer.message)
    if (!answer.refuse) return
    const parts = [{ type: "text", text: answer.refuse, synthetic: true }]
    await client.session.prompt({
      path: { id },
      body: { noReply: HEADLESS, agent: known.agent, model: known.model, parts },
    })
  }

  async function handleEvent(event) {
    const { info, part, sessionID } = event.properties ?? {}
    if (event.type === "session.created") {
      state(info.id).parent = info.parentID
    } else if (event.type === "message.updated" && info.role === "assistant") {
      const known = state(info.sessionID)
      known.agent = info.agent ?? info.mode
      known.model = { providerID: info.providerID, modelID: info.modelID }
      if (info.time?.completed) {
        const root = await rootOf(info.sessionID)
        recordUsage(root, info, info.sessionID === root ? undefined : info.sessionID)
      }
    } else if (event.type === "message.part.updated" && part.type === "text" && part.time?.end && !part.synthetic) {
      state(part.sessionID).lastMessage = part.text
    } else if (event.type === "message.part.updated" && part.type === "tool" && part.state.status === "error") {
      if (refused.delete(part.callID)) return
      const { input, error } = part.state
      const call = { tool_name: part.tool, tool_input: input, tool_use_id: part.callID }
      await askAndShow("PostToolUseFailure", part.sessionID, { ...call, error })
    } else if (event.type === "message.part.updated" && part.type === "step-finish") {
      const isLast = !["tool-calls", "unknown"].includes(part.reason)
      // Right after this event, OpenCode checks for new messages, so Linchpin is called synchronously.
      const root = state(part.sessionID).parent ?? part.sessionID
      if (HEADLESS && isLast) await holdIfRefused(part.sessionID, askSynchronously(stopEvent(part.sessionID, root)))
    } else if (event.type === "session.idle" && !HEADLESS && state(sessionID).isStartReported) {
      await holdIfRefused(sessionID, await ask(stopEvent(sessionID, await rootOf(sessionID))))
    }
  }

  return {
    "chat.message": async ({ sessionID, agent }, { parts }) => {
      if (agent) state(sessionID).agent = agent
      const start = await reportStart(sessionID)
      const own = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (own.length === 0) return
      state(sessionID).held = false
      const answer = await askAndShow("UserPromptSubmit", sessionID, { prompt: own.map((part) => part.text).join("\n") })
      if (answer.refuse) throw new Error(answer.refuse)
      for (const text of [start, answer.context].filter(Boolean)) own[0].text = appendText(own[0].text, text)
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const answer = await askAndShow("PreToolUse", sessionID, call)
      if (answer.refuse) {
        refused.add(callID)
        throw new Error(answer.refuse)
      }
      if (answer.context) texts.set(callID, answer.context)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const { output, metadata, content } = result
      const answer = await askAndShow("PostToolUse", sessionID, { ...call, tool_response: { output, metadata, content } })
      const before = texts.get(callID)
      texts.delete(callID)
      for (const text of [before, answer.refuse, answer.context].filter(Boolean)) {
        if (Array.isArray(result.content)) result.content.push({ type: "text", text })
        else result.output = appendText(result.output, text)
      }
    },
    "shell.env": async ({ sessionID }, { env }) => {
      if (sessionID) env.LINCHPIN_OPENCODE_SESSION = await rootOf(sessionID)
    },
    "experimental.session.compacting": async ({ sessionID }, { context }) => {
      const answer = await askAndShow("PreCompact", sessionID, {})
      if (answer.context) context.push(answer.context)
    },
    event: ({ event }) => handleEvent(event).catch(() => {}),
  }
}

// The plugin for OpenCode 2. It can refuse calls and add texts to their results, but it cannot hold a stop.
const setup = async (context) => {
  const directory = context.location?.directory ?? context.directory ?? process.cwd()
  const texts = new Map()
  const payload = (name, event, more) => {
    const call = { tool_name: event.tool, tool_input: event.input, tool_use_id: event.callID ?? event.id }
    return { hook_event_name: name, session_id: event.sessionID, agent_type: event.agent, cwd: directory, ...call, ...more }
  }
  await context.tool.hook("execute.before", async (event) => {
    const answer = await ask(payload("PreToolUse", event))
    if (answer.refuse) throw new Error(answer.refuse)
    if (answer.context) texts.set(event.callID ?? event.id, answer.context)
  })
  await context.tool.hook("execute.after", async (event) => {
    const failed = event.status === "error" || event.error !== undefined
    const name = failed ? "PostToolUseFailure" : "PostToolUse"
    const more = failed ? { error: String(event.error?.message ?? event.error) } : { tool_response: event.result }
    const answer = await ask(payload(name, event, more))
    const before = texts.get(event.callID ?? event.id)
    texts.delete(event.callID ?? event.id)
    for (const text of [before, answer.refuse, answer.context].filter(Boolean)) {
      if (Array.isArray(event.result?.content)) event.result.content.push({ type: "text", text })
      else if (typeof event.result?.output === "string") event.result.output = appendText(event.result.output, text)
    }
  })
}

export default { id: "linchpin", server, setup }
