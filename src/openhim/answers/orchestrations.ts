/** The calls of a message as the orchestrations of an OpenHIM transaction. */
import type { JsonObject } from '../../core/json.ts'
import type { CallSpan, Trace } from '../../core/tracing/trace.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { keptCalls } from '../../records/message-log/record-builder.ts'
import { foreignOrchestration } from './foreign-orchestrations.ts'
import type { Privacy } from './orchestration-privacy.ts'

/** Of a message with more, those of other mediators are left out first. */
const MOST_ORCHESTRATIONS = 200

/** The most characters of other mediators' orchestrations, without bodies: the answer waits until they are searched. */
const MOST_FOREIGN_CHARACTERS = 1024 * 1024

/** An orchestration of another mediator, and when the call started that brought it. */
export type ForeignOrchestration = Readonly<{ orchestration: JsonObject; startMs: number }>

/**
 * Those that mediators reported to the lookups of a message, then those of its answer, if that is a wrapper already; those
 * beyond the bounds are left out.
 */
export function foreignIn(
  trace: Trace | undefined,
  ofAnswer: readonly JsonObject[] = [],
): readonly ForeignOrchestration[] {
  if (trace === undefined) return []
  const found: ForeignOrchestration[] = []
  let left = MOST_FOREIGN_CHARACTERS
  const add = (some: readonly JsonObject[], startMs: number): void => {
    for (const orchestration of some) {
      if (found.length >= MOST_ORCHESTRATIONS) return
      const { length } = JSON.stringify(orchestration, (name, value) => (name === 'body' ? undefined : value))
      if (length > left) continue
      left -= length
      found.push({ orchestration, startMs })
    }
  }
  for (const { answer, startMs } of trace.calls) add(answer?.orchestrations ?? [], startMs)
  add(ofAnswer, trace.lastMs)
  return found
}

/** Out: those of the message in the order in which its calls started, then the foreign ones. */
export function orchestrationsOf(
  { trace, startedAt }: CompletedMessage,
  privacy: Privacy,
  foreign: readonly ForeignOrchestration[],
): readonly JsonObject[] {
  if (trace === undefined) return []
  const timeOf = createTimeOf(startedAt, trace)
  const own = keptCalls(trace.calls).map((call) => orchestrationOf(call, privacy, timeOf))
  const theirs = foreign
    .map(({ orchestration, startMs }) => foreignOrchestration(orchestration, privacy, timeOf(startMs)))
    .filter((one) => one !== undefined)
  return [...own, ...theirs].slice(0, MOST_ORCHESTRATIONS)
}

/** How many calls of the message `orchestrationsOf` leaves out. */
export const omittedCalls = (trace: Trace | undefined): number =>
  trace === undefined ? 0 : trace.calls.length - keptCalls(trace.calls).length

type TimeOf = (ms: number) => string

/** In: milliseconds of `performance.now()`. Out: ISO 8601. */
const createTimeOf =
  (startedAt: number, { startMs }: Trace): TimeOf =>
  (ms) =>
    new Date(Math.round(startedAt + ms - startMs)).toISOString()

function orchestrationOf(call: CallSpan, privacy: Privacy, timeOf: TimeOf): JsonObject {
  const { id, item, startMs, endMs, sent, answer, fault } = call
  const outcome =
    answer === undefined
      ? { error: { message: SENTENCES[fault ?? 'deadline'] } }
      : {
          response: {
            status: answer.status,
            ...privacy.content(answer.headers, answer.body, answer.body.byteLength),
            timestamp: timeOf(endMs),
          },
        }
  return {
    name: item === undefined ? id : `${id}[${item}]`,
    request: {
      ...placeOf(call, privacy),
      ...privacy.content(sent?.headers ?? {}, sent?.body, sent?.size ?? 0),
      timestamp: timeOf(startMs),
    },
    ...outcome,
  }
}

const SENTENCES: Readonly<Record<NonNullable<CallSpan['fault']>, string>> = {
  unreachable: 'The target could not be reached.',
  timeout: 'The target did not answer in time.',
  'too-large': 'The answer of the target was too large.',
  'over-budget': 'The answer of the target was larger than what the message could still read.',
  unreadable: 'The answer of the target could not be read.',
  refused: 'The target refused the request.',
  denied: 'The egress rules do not allow the target.',
  'circuit-open': 'The request was not sent, because the target has failed too often.',
  deadline: 'The message ran out of time.',
  internal: 'The service failed to make the request.',
}

/** A URL, or a reference to a secret in place of its origin. Without credentials before the host. */
const TARGET = /^(?:(https?):\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?|(\$\{[^}]*\}))([^?#]*)(?:\?([^#]*))?/i
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' }

const KAFKA = 'kafka:'

/** A record has no host that the service knows: the broker's client chooses it. */
function placeOf({ method, target }: CallSpan, { text, query }: Privacy): JsonObject {
  if (target.startsWith(KAFKA)) {
    return { host: 'kafka', port: '', path: text(target.slice(KAFKA.length)), querystring: '', method: 'PRODUCE' }
  }
  const [, scheme = '', host, port, reference = '', path = '', querystring = ''] = TARGET.exec(target) ?? []
  return {
    host: text(host ?? reference),
    port: port || (DEFAULT_PORTS[scheme.toLowerCase()] ?? ''),
    path: text(path),
    querystring: query(querystring),
    method,
  }
}
