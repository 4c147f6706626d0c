/**
 * Pi and Oh My Pi: an extension. One session at a time; a subagent's is one without a person.
 *
 * @typedef {import("@earendil-works/pi-coding-agent").ExtensionAPI} Host
 * @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context
 */

/** @type {Promise<string>[]} */
let due = []
/** Once the memory's own tools are offered, or cannot be. */
let offered = Promise.resolve()

const SOURCES = /** @type {Record<string, string>} */ ({ new: "clear", resume: "resume", fork: "resume" })

/**
 * @param {Context} ctx
 * @param {string} event
 * @param {string} name
 * @param {Payload} [payload]
 * @param {{ wants?: boolean }} [options]
 * @returns {Promise<string>}
 */
function tellOf(ctx, event, name, payload, options) {
  const session_id = ctx.sessionManager.getSessionId()
  return tell(event, { session_id, cwd: ctx.cwd, hook_event_name: name, ...payload }, options)
}

/** Whether the session holds a conversation already: it was resumed by the command line. @param {Context} ctx */
function isResumed(ctx) {
  return ctx.sessionManager.getBranch().some((/** @type {any} */ entry) => entry.type === "message")
}

/** @param {readonly any[]} messages */
function lastAnswerIn(messages) {
  const last = messages.findLast((message) => message.role === "assistant" && textOf(message.content))
  return last ? textOf(last.content) : ""
}

/** @param {Context} ctx @param {string} reason */
function begin(ctx, reason) {
  const source = SOURCES[reason] ?? (isResumed(ctx) ? "resume" : "startup")
  shared.open.set(ctx.sessionManager.getSessionId(), { cwd: ctx.cwd })
  due = [tellOf(ctx, "session-start", "session_start", { source }, { wants: true })]
}

/**
 * @param {Context} ctx
 * @param {string} prompt
 */
async function contextFor(ctx, prompt) {
  if (!shared.open.has(ctx.sessionManager.getSessionId())) begin(ctx, "startup")
  if (LAUNCH.tellsPrompts) {
    const wants = asksToReload(prompt)
    const told = tellOf(ctx, "user-prompt", "before_agent_start", { prompt }, { wants })
    if (wants) due.push(told)
  }
  const [found] = await Promise.all([within(Promise.all(due), PATIENCE_MS), within(offered, PATIENCE_MS)])
  if (!found) return undefined // it is late: the next prompt carries it
  due = []
  const content = found.filter((text) => text).join("\n")
  return content ? { message: { customType: "ai-memory", content, display: false } } : undefined
}

/** @param {Host} pi */
export default function (pi) {
  pi.on("session_start", ({ reason }, ctx) => {
    if (reason !== "reload") quietly(() => begin(ctx, reason))
  })
  pi.on("before_agent_start", ({ prompt }, ctx) => quietly(() => contextFor(ctx, prompt)))
  pi.on("tool_call", ({ toolName, toolCallId, input }, ctx) => {
    const call = { tool_name: toolName, tool_use_id: toolCallId, tool_input: input }
    quietly(() => tellOf(ctx, "pre-tool-use", "tool_call", call))
  })
  pi.on("tool_result", ({ toolName, toolCallId, input, content, isError }, ctx) => {
    const call = { tool_name: toolName, tool_use_id: toolCallId, tool_input: input }
    const tool_response = { content, success: !isError }
    quietly(() => tellOf(ctx, "post-tool-use", "tool_result", { ...call, tool_response }))
  })
  pi.on("agent_end", ({ messages }, ctx) => {
    quietly(() => tellOf(ctx, "stop", "agent_end", { last_assistant_message: lastAnswerIn(messages) }))
  })
  pi.on("session_before_compact", (_event, ctx) => {
    quietly(() => tellOf(ctx, "pre-compact", "session_before_compact"))
  })
  pi.on("session_compact", ({ compactionEntry }, ctx) => {
    quietly(() => {
      void tellOf(ctx, "post-compaction", "session_compact", { summary: compactionEntry?.summary })
      due.push(tellOf(ctx, "session-start", "session_compact", { source: "compact" }, { wants: true }))
    })
  })
  pi.on("session_shutdown", async ({ reason }, ctx) => {
    if (reason !== "reload") {
      quietly(() => {
        shared.open.delete(ctx.sessionManager.getSessionId())
        void tellOf(ctx, "session-end", "session_shutdown", { reason: reason ?? "quit" })
      })
    }
    quietly(() => bridge.end())
    await drained()
  })
  offered = quietly(() => offerTools(pi)) ?? offered
}
