/**
 * Pi reads no settings of MCP servers: its extension offers our server's tools itself, over the server's stdio.
 *
 * @typedef {{ name: string, description: string, inputSchema: any, annotations?: { title?: string } }} Tool
 */

const CALL_MS = 60_000

class Bridge {
  constructor() {
    /** @type {import("node:child_process").ChildProcess | undefined} */
    this.child = undefined
    /** @type {Map<number, { resolve: (result: any) => void, reject: (fault: Error) => void }>} */
    this.calls = new Map()
    this.number = 0
    this.rest = ""
  }

  /** @param {number} ms @returns {Promise<Tool[]>} the server's tools; it runs from then on */
  async start(ms) {
    const [program, ...words] = LAUNCH.bridge
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    this.child = child
    child.on("error", () => this.isGone(child))
    child.on("close", () => this.isGone(child))
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (part) => this.hear(part))
    child.unref()
    for (const stream of [child.stdin, child.stdout]) /** @type {any} */ (stream).unref?.()
    const clientInfo = { name: LAUNCH.agent, version: "1" }
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }, ms)
    this.write({ method: "notifications/initialized" })
    return (await this.ask("tools/list", {}, ms)).tools
  }

  /** @param {import("node:child_process").ChildProcess} child */
  isGone(child) {
    if (this.child !== child) return
    this.child = undefined
    for (const { reject } of this.calls.values()) reject(new Error("ai-memory's server has ended"))
    this.calls.clear()
  }

  /** @param {string} part */
  hear(part) {
    const lines = (this.rest + part).split("\n")
    this.rest = lines.pop() ?? ""
    for (const line of lines) {
      const { id, result, error } = quietly(() => JSON.parse(line)) ?? {}
      const call = this.calls.get(id)
      this.calls.delete(id)
      if (error) call?.reject(new Error(String(error.message)))
      else call?.resolve(result)
    }
  }

  /** @param {Record<string, unknown>} message */
  write(message) {
    this.child?.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  /** @param {string} method @param {unknown} params @param {number} ms @returns {Promise<any>} */
  ask(method, params, ms) {
    const id = (this.number += 1)
    return new Promise((resolve, reject) => {
      if (!this.child) return reject(new Error("ai-memory's server does not run"))
      const timer = setTimeout(() => reject(new Error(`ai-memory did not answer within ${ms / 1000} s`)), ms)
      const over = () => clearTimeout(timer)
      this.calls.set(id, {
        resolve: (result) => (over(), resolve(result)),
        reject: (fault) => (over(), reject(fault)),
      })
      this.write({ id, method, params })
    })
  }

  /** @param {string} name @param {unknown} args */
  async call(name, args) {
    if (!this.child) await this.start(CALL_MS)
    const { content, isError } = await this.ask("tools/call", { name, arguments: args }, CALL_MS)
    const text = textOf(content)
    if (isError) throw new Error(text) // how a tool of Pi says that it failed
    return { content: [{ type: /** @type {const} */ ("text"), text }], details: undefined }
  }

  end() {
    this.child?.stdin?.end()
  }
}

const bridge = new Bridge()

/** @param {Host} pi @returns {Promise<void>} once the tools are there, or cannot be */
async function offerTools(pi) {
  if (LAUNCH.bridge.length === 0) return
  for (const { name, description, inputSchema, annotations } of await bridge.start(PATIENCE_MS)) {
    const label = annotations?.title ?? name
    const execute = (/** @type {string} */ _id, /** @type {unknown} */ args) => bridge.call(name, args)
    pi.registerTool({ name, label, description, parameters: inputSchema, execute })
  }
}
