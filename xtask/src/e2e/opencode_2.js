// A stand-in for OpenCode 2: loads the installed plugin in the same way, and calls its hooks around two shell calls.
import assert from "node:assert"
import { pathToFileURL } from "node:url"

const { default: plugin } = await import(pathToFileURL(process.argv[2]))
assert.equal(plugin.id, "linchpin")
const hooks = {}
await plugin.setup({ directory: process.cwd(), tool: { hook: async (name, hook) => void (hooks[name] = hook) } })

const call = (command, more) => ({ tool: "shell", input: { command }, sessionID: "s", agent: "build", callID: "c", ...more })
await assert.rejects(hooks["execute.before"](call("touch forbidden.txt")), /Do not create forbidden files/)
await hooks["execute.before"](call("touch harmless.txt"))
await hooks["execute.after"](call("touch harmless.txt", { status: "completed", result: { output: "" } }))
await hooks["execute.after"](call("touch harmless.txt", { status: "error", error: new Error("no") }))
