/** `/endpoints/dry-run`: what an endpoint would make of a message, the same on both ports. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isId } from '../../../domain/id.ts'
import type { DryRun, DryRunCaller, DryRunValue } from '../../../dry-run/dry-run.ts'
import { NO_STORE, refuseOtherMethods, sendAnswer, sendJson } from '../replies.ts'
import { callerOf, leaveNoEntry, needs, noteEffect } from './auth-hook.ts'
import { readDocument } from './read-document.ts'

/**
 * In a scope with the auth hook: a live lookup uses the network of the service, a document may read its secrets, and a
 * recorded message has confidential bodies.
 */
export function serveDryRun(scope: FastifyInstance, dryRun: DryRun, dryRunValue: DryRunValue): void {
  const reads = rememberReads()
  scope.post('/endpoints/dry-run', needs('operator or author'), async (request, reply) =>
    sendJson(reply, 200, await dryRun(readDocument(request), dryRunCaller(request, reads)), NO_STORE),
  )
  scope.post('/endpoints/dry-run/value', needs('operator or author'), async (request, reply) => {
    const whole = await dryRunValue(readDocument(request), dryRunCaller(request, reads))
    if (whole.kind === 'json') return sendJson(reply, 200, whole.value, NO_STORE)
    // A body of the message: no browser may show or run it.
    return sendAnswer(reply, {
      status: 200,
      headers: {
        ...NO_STORE,
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="value"',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
      },
      body: whole.body,
    })
  })
  refuseOtherMethods(scope, '/endpoints/dry-run', ['POST'])
  refuseOtherMethods(scope, '/endpoints/dry-run/value', ['POST'])
}

/**
 * The caller. The audit log gets live dry runs, as these use the network, and the first of a recorded message, as this reads
 * its bodies; an editor may make a dry run at each key.
 */
function dryRunCaller(request: FastifyRequest, isFirstRead: (who: string, messageId: string) => boolean): DryRunCaller {
  const { who = 'unknown', roles = [] } = callerOf(request) ?? {}
  leaveNoEntry(request)
  return {
    roles,
    note: ({ live, messageId }) => {
      // Of what is no id, nothing is read, and it may be any text.
      if (messageId === undefined || !isId(messageId)) {
        if (live) noteEffect(request)
      } else if (isFirstRead(who, messageId) || live) noteEffect(request, { target: messageId })
    },
  }
}

const READS_REMEMBERED = 1_000
const REMEMBERED_MS = 3_600_000

/** Whether a caller has not read this message in the last hour. The oldest reads are forgotten first. */
function rememberReads(): (who: string, messageId: string) => boolean {
  const times = new Map<string, number>()
  return (who, messageId) => {
    const key = JSON.stringify([who, messageId])
    const now = performance.now()
    const at = times.get(key)
    if (at !== undefined && now - at < REMEMBERED_MS) return false
    times.delete(key)
    times.set(key, now)
    const [oldest] = times.keys()
    if (times.size > READS_REMEMBERED && oldest !== undefined) times.delete(oldest)
    return true
  }
}
