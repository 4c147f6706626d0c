/**
 * OpenCode. Version 1 calls `server`, and `setup` too, with a context that has no events; version 2 calls `setup` alone.
 * Neither takes the unloading of a plugin for the end of a session, except where nothing else tells of it: `isInWorker`.
 *
 * @typedef {{
 *   id: string, cwd: string, source: string, parent: string, agent: string, known: Promise<unknown>, hasBegun: boolean,
 *   due: Promise<string>[], given: string[], lastAnswer: string, isBusy: boolean, isCompacting: boolean,
 *   compactedAt: number, inputs: Map<string, unknown>
 * }} Session
 * @typedef {{ parentID?: string, directory?: string, agent?: string, time?: { created?: unknown } }} About
 */

const KEPT_SESSIONS = 200
const SAME_COMPACTION_MS = 1000

class Sessions {
  /**
   * @param {string} directory
   * @param {(id: string) => Promise<About | undefined>} lookUp what the program says of a session
   */
  constructor(directory, lookUp) {
    this.directory = directory
    this.lookUp = lookUp
    this.loadedAt = Date.now()
    /** @type {Map<string, Session>} */
    this.all = new Map()
  }

  /**
   * @param {string} id
   * @param {About} [about] given where its creation was seen
   * @returns {Session}
   */
  meet(id, about) {
    const met = this.all.get(id)
    if (met) return met
    /** @type {Session} */
    const session = {
      ...{ id, cwd: this.directory, source: "startup", parent: "", agent: "", known: Promise.resolve(), hasBegun: false },
      ...{ due: [], given: [], lastAnswer: "", isBusy: false, isCompacting: false, compactedAt: 0, inputs: new Map() },
    }
    /** @param {About | undefined} found */
    const fill = (found) => {
      session.parent = found?.parentID ?? ""
      session.cwd = found?.directory || this.directory
      session.agent = found?.agent ?? ""
      const isNew = Number(new Date(/** @type {any} */ (found?.time?.created ?? 0))) >= this.loadedAt
      session.source = about || isNew ? "startup" : "resume"
    }
    if (about) fill(about)
    else session.known = within(this.lookUp(id), PATIENCE_MS).then(fill)
    this.all.set(id, session)
    if (this.all.size > KEPT_SESSIONS) this.all.delete(String(this.all.keys().next().value))
    return session
  }

  /**
   * In the order of calls, once it is known what the session is. What is told carries the time of the call.
   * @param {Session} session
   * @param {(tell: (event: string, payload: Payload, options?: { wants?: boolean }) => Promise<string>) => void} action
   */
  later(session, action) {
    const timestamp = Date.now()
    void session.known.then(() =>
      quietly(() => {
        const root = this.rootOf(session)
        const whose = root === session ? {} : { agent_id: session.id, agent_type: session.agent }
        const head = { timestamp, session_id: root.id, cwd: session.cwd, ...whose }
        action((event, payload, options) => tell(event, { ...head, ...payload }, options))
      }),
    )
  }

  /** The session that asked for this one, and so on: a subagent's doings belong to it. @param {Session} session */
  rootOf(session) {
    let root = session
    for (let depth = 0; root.parent && depth < 8; depth += 1) root = this.meet(root.parent)
    return root
  }

  /** @param {Session} session @param {string} name */
  begin(session, name) {
    if (session.hasBegun) return
    session.hasBegun = true
    this.later(session, (tell) => {
      if (session.parent) return void tell("other", { hook_event_name: "subagent-start" })
      shared.open.set(session.id, { cwd: session.cwd })
      const start = { hook_event_name: name, source: session.source }
      session.due.push(tell("session-start", start, { wants: true }))
    })
  }

  /** @param {Session} session @param {string} name @param {string} prompt */
  asked(session, name, prompt) {
    session.isBusy = true
    this.begin(session, "session.created")
    this.later(session, (tell) => {
      if (session.parent || !LAUNCH.tellsPrompts) return // the first: nobody typed it
      const wants = asksToReload(prompt)
      const told = tell("user-prompt", { hook_event_name: name, prompt }, { wants })
      if (wants) session.due.push(told)
    })
  }

  /** @param {Session} session @param {string} tool @param {string} call @param {unknown} input */
  calls(session, tool, call, input) {
    session.isBusy = true
    this.begin(session, "session.created")
    session.inputs.set(call, input)
    const payload = { hook_event_name: "tool.execute.before", tool_name: tool, tool_use_id: call }
    const copy = bodyOf({ input })
    this.later(session, (tell) => tell("pre-tool-use", { ...payload, tool_input: JSON.parse(copy || "{}").input }))
  }

  /** @param {Session} session @param {string} tool @param {string} call @param {unknown} result */
  returns(session, tool, call, result) {
    const payload = { hook_event_name: "tool.execute.after", tool_name: tool, tool_use_id: call, tool_response: result }
    const input = session.inputs.get(call)
    session.inputs.delete(call)
    this.later(session, (tell) => tell("post-tool-use", { ...payload, tool_input: input }))
  }

  /** @param {Session} session @param {string} name */
  stops(session, name) {
    if (!session.isBusy) return
    session.isBusy = session.isCompacting = false
    session.inputs.clear()
    const last = session.lastAnswer
    this.later(session, (tell) => {
      if (session.parent) return void tell("other", { hook_event_name: "subagent-stop" })
      void tell("stop", { hook_event_name: name, last_assistant_message: last })
    })
  }

  /** Before a compaction: two hooks may say so, one event is told. @param {Session} session @param {string} name */
  compacts(session, name) {
    if (session.isCompacting) return
    session.isCompacting = true
    this.later(session, (tell) => tell("pre-compact", { hook_event_name: name }))
  }

  /** After it. @param {Session} session @param {string} name @param {string} [summary] */
  compacted(session, name, summary) {
    if (Date.now() - session.compactedAt < SAME_COMPACTION_MS) return
    this.compacts(session, name) // older versions say only that it is over
    session.isCompacting = false
    session.compactedAt = Date.now()
    this.later(session, (tell) => {
      void tell("post-compaction", { hook_event_name: name, summary })
      if (session.parent) return
      session.due.push(tell("session-start", { hook_event_name: name, source: "compact" }, { wants: true }))
    })
  }

  /** @param {Session} session @param {string} name */
  ends(session, name) {
    this.all.delete(session.id)
    if (!shared.open.delete(session.id)) return // a subagent's, or one that never began here
    this.later(session, (tell) => tell("session-end", { hook_event_name: name, reason: "deleted" }))
  }

  /** The plugin is unloaded: everything is told, two seconds at most. */
  async leave() {
    await within(Promise.all([...this.all.values()].map((session) => session.known)), PATIENCE_MS)
    for (const session of isInWorker() ? this.all.values() : []) {
      if (!shared.open.delete(session.id)) continue
      session.hasBegun = false
      session.source = "resume"
      this.later(session, (tell) => tell("session-end", { hook_event_name: "dispose", reason: "dispose" }))
    }
    await Promise.resolve() // until that is in the queue
    await drained()
  }

  /**
   * What the session was given. It stands in each of its requests from then on, since the program keeps it nowhere.
   * @param {Session} session
   * @returns {Promise<string[]>}
   */
  async contextOf(session) {
    const found = await within(session.known.then(() => Promise.all(session.due)), PATIENCE_MS)
    if (found) session.given.push(...found.filter((text) => text))
    if (found) session.due.splice(0, found.length) // else it is late, and stands in the next request
    return session.given
  }
}

/** @param {any} result of a tool of the program, or of an MCP server */
function resultOf(result) {
  const exit = result?.metadata?.exit
  return {
    output: result?.output ?? textOf(result?.content),
    success: result?.isError !== true,
    ...(Number.isInteger(exit) ? { exit_code: exit } : {}),
  }
}

/** @type {import("@opencode-ai/plugin").Plugin} */
const server = async ({ client, directory }) => {
  const sessions = new Sessions(directory, async (id) => (await client.session.get({ path: { id } })).data)
  return {
    event: async ({ event }) => quietly(() => hear(sessions, event)),
    "chat.message": async ({ sessionID }, { parts }) =>
      quietly(() => sessions.asked(sessions.meet(sessionID), "chat.message", textOf(parts))),
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) =>
      quietly(() => sessions.calls(sessions.meet(sessionID), tool, callID, args)),
    "tool.execute.after": async ({ tool, sessionID, callID }, result) =>
      quietly(() => sessions.returns(sessions.meet(sessionID), tool, callID, resultOf(result))),
    "experimental.text.complete": async ({ sessionID }, { text }) => {
      sessions.meet(sessionID).lastAnswer = text
    },
    "experimental.session.compacting": async ({ sessionID }) =>
      quietly(() => sessions.compacts(sessions.meet(sessionID), "experimental.session.compacting")),
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID || isForTitle(system)) return
      const texts = await quietly(() => sessions.contextOf(sessions.meet(sessionID)))
      if (texts) system.push(...texts)
    },
    dispose: () => sessions.leave(),
  }
}

/**
 * Whether this is the server inside the terminal interface of version 1: a thread that is ended without a word, so that
 * its unloading is the last moment. A session that goes on after a reload there is a resumed one.
 */
function isInWorker() {
  return /** @type {any} */ (globalThis).Bun?.isMainThread === false
}

/** A title made of a handoff would be one for the session before. @param {string[]} system */
function isForTitle(system) {
  return system.some((text) => text.startsWith("You are a title generator"))
}

/**
 * @param {Sessions} sessions
 * @param {{ type: string, properties: any }} event of version 1
 */
function hear(sessions, { type, properties }) {
  const id = properties?.sessionID ?? properties?.info?.id ?? properties?.part?.sessionID
  if (typeof id !== "string") return
  switch (type) {
    case "session.created":
      return sessions.begin(sessions.meet(id, properties.info), type)
    case "session.deleted":
      return sessions.ends(sessions.meet(id), type)
    case "session.idle":
      return sessions.stops(sessions.meet(id), type)
    case "session.compacted":
      return sessions.compacted(sessions.meet(id), type)
    case "message.part.updated": {
      // a tool that failed: no other hook tells of it
      const { type: kind, tool, callID, state } = properties.part ?? {}
      if (kind !== "tool" || state?.status !== "error") return
      const session = sessions.meet(id)
      if (session.inputs.has(callID)) sessions.returns(session, tool, callID, { error: state.error, is_error: true })
    }
  }
}

/**
 * Version 2. Its package of types is not published yet, so that no more is assumed of it than is looked for.
 * @param {any} ctx
 * @returns {Promise<(() => Promise<void>) | undefined>}
 */
async function setup(ctx) {
  if (typeof ctx?.event?.subscribe !== "function" || typeof ctx?.session?.hook !== "function") return undefined
  const sessions = new Sessions(String(ctx.location?.directory ?? process.cwd()), async (sessionID) => {
    const found = await ctx.session.get({ sessionID })
    const about = found?.data ?? found
    return about && { ...about, directory: about.location?.directory ?? about.directory }
  })
  await ctx.session.hook("prompt", (/** @type {any} */ { sessionID, prompt }) =>
    quietly(() => sessions.asked(sessions.meet(sessionID), "session.prompt", textOf(prompt?.text))),
  )
  await ctx.session.hook("context", async (/** @type {any} */ { sessionID, system }) => {
    const texts = await quietly(() => sessions.contextOf(sessions.meet(sessionID)))
    for (const text of texts ?? []) system.push({ type: "text", text })
  })
  await ctx.tool.hook("execute.before", (/** @type {any} */ { sessionID, tool, id, input }) =>
    quietly(() => sessions.calls(sessions.meet(sessionID), tool, id, input)),
  )
  await ctx.tool.hook("execute.after", (/** @type {any} */ { sessionID, tool, id, status, result, error }) =>
    quietly(() => {
      const failed = { error: error?.message ?? String(error), is_error: true }
      sessions.returns(sessions.meet(sessionID), tool, id, status === "error" ? failed : resultOf(result))
    }),
  )
  const stream = ctx.event.subscribe()[Symbol.asyncIterator]()
  void quietly(() => listen(sessions, stream))
  return async () => {
    void quietly(() => stream.return?.())
    await drained()
  }
}

/**
 * @param {Sessions} sessions
 * @param {AsyncIterator<any>} stream
 */
async function listen(sessions, stream) {
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    quietly(() => hearOfAll(sessions, next.value))
  }
}

/**
 * The stream of version 2 tells of the sessions of every folder: only those count that were created or asked here.
 * @param {Sessions} sessions
 * @param {any} event
 */
function hearOfAll(sessions, { type, data, location }) {
  const id = data?.sessionID
  if (typeof id !== "string") return
  if (type === "session.created") {
    const directory = data.location?.directory ?? location?.directory
    if (!directory || directory === sessions.directory) sessions.meet(id, { ...data, directory })
    return
  }
  const session = sessions.all.get(id)
  if (!session) return
  switch (type) {
    case "session.deleted":
      return sessions.ends(session, type)
    case "session.text.ended":
      session.lastAnswer = textOf(data.text)
      return
    case "session.execution.succeeded":
    case "session.execution.failed":
    case "session.execution.interrupted":
      return sessions.stops(session, type)
    case "session.compaction.started":
      return sessions.compacts(session, type)
    case "session.compaction.ended":
      return sessions.compacted(session, type, textOf(data.text))
  }
}

export default { id: "ai-memory", server, setup }
