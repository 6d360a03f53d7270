/** `/messages/{id}/replay` and `/messages/replay`: the replay of one message, or of many by a plan. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Failure } from '../../../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../../../domain/json.ts'
import type { Answer } from '../../../domain/message.ts'
import { CODECS, codecOfHeader } from '../../../formats/codecs.ts'
import type { CompletedMessage } from '../../../intake/completed-message.ts'
import { type FilterTexts, wrongValue } from '../../../message-log/message-filter.ts'
import type { MessageRecords } from '../../../replay/message-records.ts'
import { readRunLimits } from '../../../replay/plans/run-limits.ts'
import { BODY_HEADERS, type EditedBody } from '../../../replay/replay-original.ts'
import { needs } from '../management/auth-hook.ts'
import { readJson } from '../management/read-document.ts'
import { type ById, NO_STORE, refuseOtherMethods, sendJson } from '../replies.ts'

export function serveReplay(
  scope: FastifyInstance,
  { search, replayByHand, plans }: Pick<MessageRecords, 'search' | 'replayByHand' | 'plans'>,
): void {
  const takesMessage = { config: { ...needs('operator').config, takesMessage: true } }
  scope.post<ById>('/messages/:id/replay', takesMessage, async (request, reply) => {
    const record = await search.get(request.params.id)
    const { replayed, alreadyDoneBy } = await replayByHand(record, editedBody(request))
    if ('blocker' in replayed) {
      throw new Failure('REPLAY_REFUSED', `The message '${record.id}' cannot be replayed. ${replayed.blocker.error}`)
    }
    const { completed, bodyOnly } = replayed
    return sendJson(reply, 200, describe(completed, { replayOf: record.id, bodyOnly, alreadyDoneBy }), NO_STORE)
  })
  scope.get('/messages/replay', needs('viewer'), async (_request, reply) =>
    sendJson(reply, 200, { plans: await plans.all() }),
  )
  scope.post('/messages/replay', needs('operator'), async (request, reply) => {
    const plan = await plans.plan(textsOf(readJson(request)))
    return sendJson(reply, 201, plan, { location: `/messages/replay/${plan.id}` })
  })
  scope.get<ById>('/messages/replay/:id', needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, await plans.get(request.params.id)),
  )
  scope.post<ById>('/messages/replay/:id/run', needs('operator'), async (request, reply) =>
    sendJson(reply, 202, await plans.run(request.params.id, readRunLimits(readJson(request)))),
  )
  scope.post<ById>('/messages/replay/:id/continue', needs('operator'), async (request, reply) =>
    sendJson(reply, 202, await plans.continue(request.params.id)),
  )
  scope.post<ById>('/messages/replay/:id/pause', needs('operator'), async (request, reply) =>
    sendJson(reply, 200, await plans.pause(request.params.id)),
  )
  scope.post<ById>('/messages/replay/:id/cancel', needs('operator'), async (request, reply) =>
    sendJson(reply, 200, await plans.cancel(request.params.id)),
  )
  refuseOtherMethods(scope, '/messages/:id/replay', ['POST'])
  refuseOtherMethods(scope, '/messages/replay', ['GET', 'POST'])
  refuseOtherMethods(scope, '/messages/replay/:id', ['GET'])
  const actions = ['run', 'continue', 'pause', 'cancel']
  for (const action of actions) refuseOtherMethods(scope, `/messages/replay/:id/${action}`, ['POST'])
}

function editedBody({ body, headers }: FastifyRequest): EditedBody | undefined {
  const bytes = body as Uint8Array | undefined
  if (bytes === undefined || bytes.byteLength === 0) return undefined
  const own = BODY_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
  return { body: bytes, headers: Object.fromEntries(own) }
}

/** Filters in JSON are those of the query: a value, or several in an array. */
function textsOf(raw: Json): FilterTexts {
  if (!isObject(raw)) {
    throw new Failure(
      'FILTER_INVALID',
      'The filter is an object such as { "endpoint": "Orders", "outcome": "failed" }.',
    )
  }
  return new Map(Object.entries(raw).map(([name, value]) => [name, [value].flat().map((one) => textOf(name, one))]))
}

function textOf(name: string, value: Json): string {
  if (value !== null && typeof value !== 'object') return String(value)
  throw wrongValue(name, JSON.stringify(value), 'a text, a number, true or false, or an array of them')
}

type ReplayNotes = Readonly<{ replayOf: string; bodyOnly: boolean; alreadyDoneBy: string | undefined }>

function describe(
  { messageId, outcome, code, ms, answer, failure }: CompletedMessage,
  { replayOf, bodyOnly, alreadyDoneBy }: ReplayNotes,
) {
  return {
    id: messageId,
    replayOf,
    ...(alreadyDoneBy === undefined ? {} : { alreadyDoneBy }),
    outcome,
    ...(code === '' ? {} : { code }),
    ...(failure === undefined ? {} : { error: failure.message }),
    status: answer.status,
    ms: Math.round(ms * 1_000) / 1_000,
    ...(bodyOnly ? { withoutHeadersAndQuery: true } : {}),
    answer: bodyOf(answer),
  }
}

/** A JSON body as JSON, any other body as text. */
function bodyOf({ headers, body }: Answer): Json {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString()
  if (codecOfHeader(String(headers['content-type'] ?? '')) !== CODECS.json) return text
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return text
  }
}
