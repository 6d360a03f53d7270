/**
 * The services of a dry run: they give the answers that its caller supplied. Only lookups that are to be live reach the
 * network; nothing is produced and no state is written.
 */
import type { Canned, CannedAnswers, DryRunRequest } from '../config/checks/dry-run-request.ts'
import { Failure } from '../domain/failure.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { documentPath } from '../domain/lint.ts'
import { type OutboundAnswer, OutboundError } from '../domain/ports/http-client-port.ts'
import type { CallSpan } from '../domain/tracing/trace.ts'
import type { Services } from '../pipeline/services.ts'
import { rootOf } from '../pipeline/stages/state.ts'

/** Where the answer to a call came from; assumed: the caller supplied none. */
export type AnswerSource = 'canned' | 'live' | 'assumed' | 'missing'

/** The request that a call would have sent. */
export type Sent = Readonly<{
  source: AnswerSource
  headers: readonly (readonly [name: string, value: string])[]
  body: string | Uint8Array | undefined
  /** Key of a record. */
  key?: string | null
}>

export type CannedServices = Readonly<{
  services: Services
  /** Undefined if the message ran out of time before the call. */
  sent(call: CallSpan): Sent | undefined
  /** The root `state` that the next message would have seen. */
  kept(): JsonObject | undefined
}>

/** `current`: the call that is being sent. The pipeline adds it to the trace synchronously before it calls the service. */
export function cannedServices(
  { message, lookups, responses, live }: DryRunRequest,
  current: () => CallSpan,
  real: Services,
): CannedServices {
  const sent = new Map<CallSpan, Sent>()
  let kept: JsonObject | undefined

  const cannedFor = (call: CallSpan): Canned | undefined =>
    cannedOf(call.kind === 'lookup' ? lookups : responses, call.id, call.item)

  const sourceOf = (call: CallSpan, canned: Canned | undefined): AnswerSource => {
    if (canned !== undefined) return 'canned'
    if (call.kind === 'response') return 'assumed'
    return live ? 'live' : 'missing'
  }

  return {
    sent: (call) => sent.get(call),
    kept: () => kept,
    services: {
      ...real,
      http: {
        send: async (request) => {
          const call = current()
          const canned = cannedFor(call)
          const source = sourceOf(call, canned)
          sent.set(call, { source, headers: Object.entries(request.headers), body: request.body })
          if (source === 'live') return real.http.send(request)
          if (source === 'missing') throw missing(call)
          return answerOf(canned ?? {})
        },
        close: async () => undefined,
      },
      producer: {
        produce: async ({ topic, key, value, headers }) => {
          const call = current()
          const canned = cannedFor(call)
          sent.set(call, {
            source: sourceOf(call, canned),
            headers: headers.map(([name, text]) => [String(name), text === null ? '' : String(text)] as const),
            body: value ?? undefined,
            key: key === null ? null : String(key),
          })
          if (canned?.fault !== undefined) throw faultOf(canned.fault)
          return { topic, partition: 0, offset: 0 }
        },
      },
      states: {
        newest: () => message.state && { values: message.state, lookupStatus: undefined, networkError: undefined },
        append: async (_endpointId, record) => {
          kept = rootOf(record)
        },
      },
    },
  }
}

/** A single answer counts for every item. */
function cannedOf(answers: CannedAnswers, id: string, item: number | undefined): Canned | undefined {
  const given = Object.hasOwn(answers, id) ? answers[id] : undefined
  return Array.isArray(given) ? given[item ?? 0] : (given as Canned | undefined)
}

function missing({ id, item }: CallSpan): Failure {
  const where = item === undefined ? documentPath('lookups', id) : documentPath('lookups', id, item)
  return new Failure(
    'DRY_RUN_ANSWER_MISSING',
    `The dry run has no answer for the lookup "${id}"; give one in "${where}", or set "live": true to make the call.`,
  )
}

const faultOf = (fault: NonNullable<Canned['fault']>): OutboundError =>
  new OutboundError(fault, 'the dry run was asked for this outcome.')

function answerOf({ status = 200, headers = {}, body, fault }: Canned): OutboundAnswer {
  if (fault !== undefined) throw faultOf(fault)
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const type = body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }
  return { status, headers: { ...type, ...own }, body: bytesOf(body) }
}

/** Text unchanged, any other value as JSON. */
export const bytesOf = (body: Json | undefined): Uint8Array =>
  Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
