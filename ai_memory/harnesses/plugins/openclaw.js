/**
 * OpenClaw. Its gateway serves many sessions; a subagent's is known by its key.
 *
 * @typedef {{ sessionId?: string, sessionKey?: string, workspaceDir?: string, trigger?: string }} Context
 * @typedef {{ id: string, cwd: string, due: Promise<string>[], hasBegun: boolean, lastAnswer: string }} Session
 */

const KEPT_SESSIONS = 200
const NOBODYS_PROMPTS = ["heartbeat", "cron", "memory"]

/** @type {Map<string, Session>} */
const sessions = new Map()

/** @param {Context} context @returns {Session | undefined} */
function meet({ sessionId, workspaceDir }) {
  if (!sessionId) return undefined
  let session = sessions.get(sessionId)
  if (!session) {
    session = { id: sessionId, cwd: "", due: [], hasBegun: false, lastAnswer: "" }
    sessions.set(sessionId, session)
    if (sessions.size > KEPT_SESSIONS) sessions.delete(String(sessions.keys().next().value))
  }
  session.cwd = workspaceDir || session.cwd
  return session
}

/**
 * @param {Session} session
 * @param {Context} context
 * @param {string} event
 * @param {string} name
 * @param {Payload} [payload]
 * @param {{ wants?: boolean }} [options]
 */
function tellOf(session, { sessionKey }, event, name, payload, options) {
  const agent_id = sessionKey?.includes(":subagent:") ? sessionKey : undefined
  const cwd = session.cwd || undefined
  return tell(event, { session_id: session.id, cwd, agent_id, hook_event_name: name, ...payload }, options)
}

/**
 * The start is told with the first prompt: only then it is known where the session works.
 * @param {Session} session
 * @param {Context} context
 * @param {string} source
 */
function begin(session, context, source) {
  if (session.hasBegun) return
  session.hasBegun = true
  if (!context.sessionKey?.includes(":subagent:")) shared.open.set(session.id, { cwd: session.cwd })
  session.due.push(tellOf(session, context, "session-start", "session_start", { source }, { wants: true }))
}

/** @param {any} event @param {Context} context */
async function contextFor(event, context) {
  const session = meet(context)
  if (!session) return undefined
  begin(session, context, event.messages?.length ? "resume" : "startup")
  const prompt = String(event.currentUserMessage ?? event.prompt ?? "")
  if (LAUNCH.tellsPrompts && prompt && !NOBODYS_PROMPTS.includes(context.trigger ?? "")) {
    const wants = asksToReload(prompt)
    const told = tellOf(session, context, "user-prompt", "before_prompt_build", { prompt }, { wants })
    if (wants) session.due.push(told)
  }
  const found = await within(Promise.all(session.due), PATIENCE_MS)
  if (!found) return undefined // it is late: the next prompt carries it
  session.due.splice(0, found.length)
  const prependContext = found.filter((text) => text).join("\n")
  return prependContext ? { prependContext } : undefined
}

/** @param {any} event @param {Context} context */
function ends(event, context) {
  const session = sessions.get(event.sessionId)
  if (!session || event.reason === "restart") return // a restart loads the plugin anew and goes on
  sessions.delete(session.id)
  if (event.reason === "compaction" && event.nextSessionId) {
    sessions.set(event.nextSessionId, session) // the same work under another id
    return
  }
  shared.open.delete(session.id)
  if (session.hasBegun) void tellOf(session, context, "session-end", "session_end", { reason: event.reason })
}

/** @param {any} api */
function register(api) {
  /**
   * @param {string} name
   * @param {(session: Session, event: any, context: Context) => unknown} action
   */
  const on = (name, action) =>
    api.on(name, (/** @type {any} */ event, /** @type {Context} */ context) => {
      const session = quietly(() => meet(context))
      if (session) quietly(() => void action(session, event, context))
    })
  api.on("before_prompt_build", (/** @type {any} */ event, /** @type {Context} */ context) =>
    quietly(() => contextFor(event, context)),
  )
  api.on("session_end", (/** @type {any} */ event, /** @type {Context} */ context) => quietly(() => ends(event, context)))
  api.on("gateway_stop", drained)
  on("before_tool_call", (session, { toolName, toolCallId, params }, context) => {
    const call = { tool_name: toolName, tool_use_id: toolCallId, tool_input: params }
    return tellOf(session, context, "pre-tool-use", "before_tool_call", call)
  })
  on("after_tool_call", (session, { toolName, toolCallId, params, result, error }, context) => {
    const call = { tool_name: toolName, tool_use_id: toolCallId, tool_input: params }
    const tool_response = error ? { error, is_error: true } : { content: result?.content ?? result, success: true }
    return tellOf(session, context, "post-tool-use", "after_tool_call", { ...call, tool_response })
  })
  on("before_compaction", (session, _event, context) => tellOf(session, context, "pre-compact", "before_compaction"))
  on("after_compaction", (session, _event, context) => {
    void tellOf(session, context, "post-compaction", "after_compaction")
    const again = { source: "compact" }
    session.due.push(tellOf(session, context, "session-start", "after_compaction", again, { wants: true }))
  })
  on("agent_end", (session, { messages }, context) => {
    const last = (messages ?? []).findLast((/** @type {any} */ one) => one?.role === "assistant" && textOf(one.content))
    return tellOf(session, context, "stop", "agent_end", { last_assistant_message: textOf(last?.content) })
  })
}

export default { id: "ai-memory", name: "ai-memory", description: "Long-term memory for coding agents", register }
