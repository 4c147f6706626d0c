/**
 * Tells ai-memory what happens here: each event is one short run of its hook, with the event as JSON on stdin.
 * Nothing waits for it, with two exceptions of at most two seconds: the context of a session's first request, and the
 * end of the program. Nothing here decides what is kept; the hook does. Whatever fails is left out in silence.
 *
 * @typedef {{ hook: string[], agent: string, tellsPrompts: boolean, bridge: string[] }} Launch
 * @typedef {Record<string, unknown>} Payload
 * @typedef {{
 *   session: string, event: string, body: string, isTool: boolean, wants: boolean, done: (context: string) => void
 * }} Waiting
 */

const MAX_WAITING = 100
const MAX_CHARS = 32 * 1024 * 1024
const MAX_CHILDREN = 4
const CHILD_MS = 5000
const PATIENCE_MS = 2000
const ROOM_FOR_ENDS_MS = 500

/** @type {Waiting[]} */
const waiting = []
/** Sessions of which a hook runs now: the next event of each waits, so that the order stays. @type {Set<string>} */
const running = new Set()
/** @type {Set<() => void>} */
const idlers = new Set()

/**
 * Leave one event. Settles when its hook ended, with the context that it gave; never fails.
 * @param {string} event canonical kind
 * @param {Payload} payload
 * @param {{ wants?: boolean }} [options] `wants`: the hook's answer is read
 * @returns {Promise<string>}
 */
function tell(event, payload, options = {}) {
  return new Promise((done) => {
    const isTool = event === "pre-tool-use" || event === "post-tool-use"
    const body = bodyOf({ timestamp: Date.now(), ...payload })
    const one = { session: String(payload.session_id ?? ""), event, body, isTool, wants: options.wants === true, done }
    if (!body || !one.session || !makeRoom(one)) return done("")
    waiting.push(one)
    pump()
  })
}

/** @param {Payload} payload */
function bodyOf(payload) {
  try {
    return JSON.stringify(payload)
  } catch {
    // a cycle or a BigInt: the event stays, without what cannot be written
  }
  try {
    return JSON.stringify({ ...payload, tool_input: undefined, tool_response: undefined })
  } catch {
    return ""
  }
}

/**
 * Whether there is room. The oldest tool events give way, prompts and lifecycle events never.
 * @param {Waiting} one
 */
function makeRoom(one) {
  let chars = waiting.reduce((sum, other) => sum + other.body.length, one.body.length)
  while (waiting.length >= MAX_WAITING || chars > MAX_CHARS) {
    const at = waiting.findIndex((other) => other.isTool)
    if (at < 0) return !one.isTool
    const [dropped] = waiting.splice(at, 1)
    chars -= dropped.body.length
    dropped.done("")
  }
  return true
}

function pump() {
  for (let at = 0; at < waiting.length && running.size < MAX_CHILDREN; ) {
    const one = waiting[at]
    if (running.has(one.session)) {
      at += 1
      continue
    }
    waiting.splice(at, 1)
    running.add(one.session)
    void runHook(one).then((context) => {
      running.delete(one.session)
      one.done(context)
      pump()
    })
  }
  if (waiting.length === 0 && running.size === 0) {
    for (const wake of idlers) wake()
    idlers.clear()
  }
}

/**
 * @param {Waiting} one
 * @returns {Promise<string>}
 */
function runHook(one) {
  return new Promise((resolve) => {
    try {
      const [program, ...words] = [...LAUNCH.hook, one.event]
      const child = spawn(program, words, { stdio: ["pipe", one.wants ? "pipe" : "ignore", "ignore"], windowsHide: true })
      const deadline = setTimeout(() => child.kill("SIGKILL"), CHILD_MS)
      /** @type {Buffer[]} */
      const parts = []
      /** @param {string} context */
      const finish = (context) => {
        clearTimeout(deadline)
        resolve(context)
      }
      child.on("error", () => finish(""))
      child.on("close", () => finish(contextOf(Buffer.concat(parts).toString("utf8"))))
      child.stdout?.on("data", (part) => parts.push(part))
      child.stdout?.on("error", () => {})
      child.stdin?.on("error", () => {})
      child.stdin?.end(one.body)
    } catch {
      resolve("")
    }
  })
}

/** @param {string} answer what the hook printed: an object, with the context where there is one */
function contextOf(answer) {
  try {
    const context = JSON.parse(answer).context
    return typeof context === "string" ? context : ""
  } catch {
    return ""
  }
}

/**
 * What `promise` gives, or nothing once so much time is over.
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T | undefined>}
 */
function within(promise, ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms)
    /** @param {T | undefined} found */
    const settle = (found) => {
      clearTimeout(timer)
      resolve(found)
    }
    promise.then(settle, () => settle(undefined))
  })
}

/** Until every event was told, two seconds at most. @returns {Promise<void>} */
async function drained() {
  if (waiting.length === 0 && running.size === 0) return
  await within(new Promise((resolve) => idlers.add(() => resolve(undefined))), PATIENCE_MS)
}

/** @param {unknown} value */
function textOf(value) {
  if (typeof value === "string") return value
  if (!Array.isArray(value)) return ""
  const texts = value.filter((part) => part && part.type === "text" && !part.synthetic && typeof part.text === "string")
  return texts.map((part) => part.text).join("\n")
}

/** Whether a prompt asks for what was compacted: its hook answers then. @param {string} prompt */
function asksToReload(prompt) {
  return prompt.trimStart().slice(0, 14).toLowerCase() === "reload context"
}

/**
 * Run it; whatever it raises, the agent must not notice.
 * @template T
 * @param {() => T} action
 * @returns {T | undefined}
 */
function quietly(action) {
  try {
    const found = action()
    if (found instanceof Promise) return /** @type {T} */ (found.catch(() => undefined))
    return found
  } catch {
    return undefined
  }
}

/** The last moment of the program: what still waits is told, then that its sessions end. Two seconds at most. */
function tellEnds() {
  const ends = [...shared.open].map(([session, payload]) => ({
    event: "session-end",
    body: bodyOf({ timestamp: Date.now(), ...payload, session_id: session, hook_event_name: "exit", reason: "exit" }),
  }))
  shared.open.clear()
  const until = Date.now() + PATIENCE_MS
  for (const one of waiting.splice(0)) runHookNow(one, until - ROOM_FOR_ENDS_MS)
  for (const one of ends) runHookNow(one, until)
}

/**
 * @param {{ event: string, body: string }} one
 * @param {number} until
 */
function runHookNow(one, until) {
  const timeout = until - Date.now()
  if (timeout <= 0) return
  const [program, ...words] = [...LAUNCH.hook, one.event]
  quietly(() => spawnSync(program, words, { input: one.body, stdio: ["pipe", "ignore", "ignore"], timeout, windowsHide: true }))
}

/**
 * One a program, however often it loads this file: open sessions → the members that their end is told with.
 * @type {{ open: Map<string, Payload>, tellEnds?: () => void }}
 */
const shared = quietly(() => {
  /** @type {any} */
  const all = globalThis
  const key = Symbol.for(`ai-memory.${LAUNCH.agent}`)
  if (!all[key]) {
    const made = { open: new Map(), tellEnds }
    process.once("exit", () => quietly(made.tellEnds))
    all[key] = made
  }
  all[key].tellEnds = tellEnds
  return all[key]
}) ?? { open: new Map() }
