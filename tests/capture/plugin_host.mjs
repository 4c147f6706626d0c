// A host of plugins, as small as can be: loads one, calls its handlers by name, and prints what came of it.
// stdin: {"plugin", "kind", "steps": [[name, ...arguments]]}; stdout: one JSON object a step: {"ms", "returned", "args"}.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const { plugin, kind, steps, about } = JSON.parse(readFileSync(0, "utf8"))
if (about?.worker) globalThis.Bun = { isMainThread: false }
/** @type {Record<string, Function>} */
const handlers = {}
const hook = (domain) => async (name, action) => void (handlers[`${domain}.${name}`] = action)
const queue = []
let wake = () => {}
let isOver = false
const stream = {
  [Symbol.asyncIterator]() {
    return this
  },
  async next() {
    while (!queue.length && !isOver) await new Promise((resolve) => (wake = resolve))
    return queue.length ? { value: queue.shift(), done: false } : { value: undefined, done: true }
  },
  async return() {
    isOver = true
    wake()
    return { value: undefined, done: true }
  },
}
const tools = {}
const session = { id: about?.session ?? "pi-1", entries: about?.entries ?? [] }
const ctx = {
  cwd: about?.cwd,
  sessionManager: { getSessionId: () => session.id, getBranch: () => session.entries },
}
const hosts = {
  async opencode({ default: { server, setup } }) {
    await setup({ options: {}, agent: {}, tool: {} }) // version 1 calls it, too
    const get = async ({ path }) => ({ data: about.sessions?.[path.id] })
    Object.assign(handlers, await server({ client: { session: { get } }, directory: about.cwd }))
  },
  async opencode2({ default: { setup } }) {
    const get = async ({ sessionID }) => about.sessions?.[sessionID]
    handlers.unload = await setup({
      location: { directory: about.cwd },
      event: { subscribe: () => stream },
      session: { get, hook: hook("session") },
      tool: { hook: hook("tool") },
    })
    handlers.stream = async (event) => {
      queue.push(event)
      wake()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  },
  async pi({ default: extension }) {
    await extension({
      on: (name, action) => (handlers[name] = (event) => action(event, ctx)),
      registerTool: (tool) => (tools[tool.name] = tool),
    })
    handlers.tools = async () => Object.values(tools).map(({ name, label, description, parameters }) => ({ name, label, description, parameters }))
    handlers.use = async (name, args) => tools[name].execute("call-1", args)
  },
  async openclaw({ default: { register } }) {
    register({ on: (name, action) => (handlers[name] = action) })
  },
}
handlers.exit = async () => process.exit(0)

await hosts[kind](await import(pathToFileURL(plugin).href))
for (const [name, ...args] of steps) {
  const began = performance.now()
  let told = {}
  try {
    told = { returned: await handlers[name](...args) }
  } catch (fault) {
    told = { raised: String(fault) }
  }
  process.stdout.write(JSON.stringify({ ms: performance.now() - began, args, ...told }) + "\n")
}
