/** What the tests of `Idempotency-Key` have in common: messages with keys, and an upstream that distinguishes its calls. */
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, startUpstream, type Upstream } from '../service.ts'

export const keyed = (key: string, body: Json = {}, headers: Record<string, string> = {}): RequestInit =>
  json('POST', body, { 'idempotency-key': `"${key}"`, ...headers })

export const REPLAYED = 'idempotency-replayed'

/** An endpoint that passes on what it gets to `url`, and answers with its answer. */
export const passingOn = (url: string, changes: JsonObject = {}): JsonObject => ({
  endpoint: { pattern: '/orders' },
  idempotency: {},
  requests: { response: { id: 'target', config: { method: 'POST', url } } },
  ...changes,
})

/** An upstream that answers each call with its number, on request. */
export type Held = Upstream &
  Readonly<{
    /** Resolves when there were so many calls. */
    called(times: number): Promise<void>
    /** Answers the calls that wait, and from now on all of them at once. */
    letGo(): void
    /** From now on calls wait again. */
    hold(): void
  }>

export async function startHeld(statusOf: (call: number) => number = () => 200): Promise<Held> {
  let gate = Promise.withResolvers<void>()
  const waiting = new Set<() => void>()
  const upstream = await startUpstream(async (_request, response) => {
    const call = upstream.received.length
    for (const look of waiting) look()
    await gate.promise
    response.statusCode = statusOf(call)
    return { call }
  })
  return {
    ...upstream,
    called: (times) =>
      new Promise((resolve) => {
        const look = () => {
          if (upstream.received.length < times) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    letGo: () => gate.resolve(),
    hold: () => {
      gate = Promise.withResolvers()
    },
    stop: async () => {
      gate.resolve()
      await upstream.stop()
    },
  }
}
