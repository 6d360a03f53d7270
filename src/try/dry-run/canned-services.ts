/**
 * The services of a dry run: they give the answers that its caller supplied. Only lookups that are to be live reach the
 * network; nothing is produced and no state is written.
 */
import { Failure } from '../../core/failure.ts'
import { NO_ID } from '../../core/id.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import { type OutboundAnswer, OutboundError, type OutboundFault, tooLarge } from '../../core/ports/http-client-port.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import { parseReferences, type Reference, type SecretSource } from '../../core/secrets/secrets.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'
import type { Canned, CannedAnswers, DryRunRequest } from '../../document/checks/dry-run-request.ts'
import { targetNamed } from '../../outbound/targets.ts'
import type { DeliveryIntake, Services } from '../../pipeline/services.ts'
import { toStateRoot } from '../../pipeline/stages/state.ts'
import type { RecordedAnswer, RecordedExchange } from './recorded-message.ts'

/** Where the answer to a call came from; recorded: with the message; assumed: the caller supplied none. */
type AnswerSource = 'canned' | 'recorded' | 'live' | 'assumed' | 'missing'

/** The request that a call would have sent. */
export type Sent = Readonly<{
  source: AnswerSource
  headers: readonly (readonly [name: string, value: string])[]
  body: string | Uint8Array | undefined
  /** Key of a record. */
  key: string | null
}>

export type CannedServices = Readonly<{
  services: Services
  /** A message that ran out of time before the call sent nothing. */
  sent(call: CallSpan): Sent | undefined
  /** The root `state` that the next message would have seen. */
  kept(): JsonObject | undefined
}>

/** `answerLimitBytes`: as for the answer of another system. `exchanges`: of a recorded message. */
export function cannedServices(
  { message, lookups, responses, live }: DryRunRequest,
  real: Services,
  answerLimitBytes: number,
  exchanges: readonly RecordedExchange[] = [],
): CannedServices {
  const sent = new Map<CallSpan, Sent>()
  let kept: JsonObject | undefined

  const recorded = new Map(exchanges.map(({ call, answer }) => [callKey(call), answer]))

  const cannedFor = (call: CallSpan): Canned | undefined =>
    findCanned(call.kind === 'lookup' ? lookups : responses, call.id, call.item)

  const recordedFor = (call: CallSpan): RecordedAnswer | undefined =>
    Object.hasOwn(call.kind === 'lookup' ? lookups : responses, call.id) ? undefined : recorded.get(callKey(call))

  const findSource = (call: CallSpan, canned: Canned | undefined): AnswerSource => {
    if (canned !== undefined) return 'canned'
    if (recordedFor(call) !== undefined) return 'recorded'
    if (call.kind === 'response') return 'assumed'
    return live ? 'live' : 'missing'
  }

  return {
    sent: (call) => sent.get(call),
    kept: () => kept,
    services: {
      ...real,
      outbound: {
        send: async (to, outgoing, run, call) => {
          const { prepared, body } = outgoing
          const canned = cannedFor(call)
          const target = targetNamed(to.target)
          const source = findSource(call, canned)
          const isHere = source === 'missing' && target.answerHere !== undefined
          const headers = target.listHeaders(prepared, body, run, call)
          sent.set(call, { source: isHere ? 'live' : source, headers, body: body?.content, key: prepared.key })
          if (source === 'live') return real.outbound.send(to, outgoing, run, call)
          if (isHere) return target.answerHere(prepared.url, run, call)
          if (source === 'missing') throw missing(call)
          const answer = recordedFor(call)
          if (target.fixedAnswer !== undefined) {
            const fault = canned?.fault ?? answer?.fault
            if (fault !== undefined) throw toOutboundError(fault)
            return target.fixedAnswer.of(to.address)
          }
          return answer === undefined
            ? within(answerLimitBytes, toOutboundAnswer(canned ?? {}), prepared)
            : answerAsRecorded(answer)
        },
      },
      deliveries: STORES_NOTHING,
      states: {
        newest: () => message.state && { values: message.state, lookupStatus: undefined, networkError: undefined },
        append: async (_endpointId, record) => {
          kept = toStateRoot(record)
        },
      },
    },
  }
}

/** Takes the deliveries of messages that are only tried. */
export const STORES_NOTHING: DeliveryIntake = {
  accept: async () => 'accepted',
  newId: () => NO_ID,
  onAccepted: () => undefined,
}

const callKey = ({ kind, id, item }: Pick<CallSpan, 'kind' | 'id'> & { item?: number | undefined }): string =>
  JSON.stringify([kind, id, item ?? null])

/** A single answer counts for every item. */
function findCanned(answers: CannedAnswers, id: string, item: number | undefined): Canned | undefined {
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

const toOutboundError = (fault: OutboundFault): OutboundError =>
  new OutboundError(fault, 'the dry run was asked for this outcome.')

function within(limitBytes: number, answer: OutboundAnswer, { method, url }: PreparedRequest): OutboundAnswer {
  const { protocol, host, pathname } = new URL(url)
  if (answer.body.byteLength > limitBytes) throw tooLarge(`${method} ${protocol}//${host}${pathname}`, limitBytes)
  return answer
}

function answerAsRecorded({ status, headers, body, fault }: RecordedAnswer): OutboundAnswer {
  if (fault !== undefined) throw new OutboundError(fault, 'this was the outcome of the recorded call.')
  return { status, headers, body }
}

function toOutboundAnswer({ status = 200, headers = {}, body, fault }: Canned): OutboundAnswer {
  if (fault !== undefined) throw toOutboundError(fault)
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const type = body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }
  return { status, headers: { ...type, ...own }, body: encodeBody(body) }
}

/** Text unchanged, any other value as JSON. */
export const encodeBody = (body: Json | undefined): Uint8Array =>
  Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))

// Secrets where the real ones must not be used: values that the caller gives, else the name of the secret.

/** `given`: the value that the caller gives for a name or path. */
export const createStandInSecrets = (given: (name: string) => string | undefined): SecretSource => ({
  isStandIn: true,
  resolve: (text) =>
    parseReferences(text)
      ?.map((part) => (typeof part === 'string' ? part : (given(part.name) ?? standInFor(part))))
      .join('') ?? text,
})

/** A text that any part of a URL can hold, its host too. */
const standInFor = ({ name }: Reference): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
