/** Runs a recorded message again, through its endpoint as it is now. */
import type { Headers } from '../../core/message.ts'
import { DOORS, type Door, doorOf, HTTP } from '../../core/origin.ts'
import type { BodyName, MaskCause, MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import { type Delivered, deliveryKey } from '../../core/run.ts'
import { DOCUMENT_DOORS } from '../../document/doors.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import type { Intake } from '../../inbound/intake.ts'
import { nullBody, refusesNull } from '../../inbound/kafka/process-record.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import type { PipelineSettings } from '../../pipeline/services.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { readRequest, toReplay } from '../message-log/bodies.ts'
import { callMessageLog } from '../message-log/message-search.ts'

export type Replayed =
  | Readonly<{
      completed: CompletedMessage
      /** Headers, query and URL parameters were not recorded, so the message ran without them. */
      bodyOnly: boolean
    }>
  | Readonly<{ blocker: ReplayBlocker }>

export interface Replay {
  /** The blocker that the record alone shows, if there is one. */
  findBlocker(record: MessageRecord): ReplayBlocker | undefined
  /** The blocker that the record, its recorded request or the present endpoint shows. Fails with STORE_UNAVAILABLE. */
  check(record: MessageRecord): Promise<ReplayBlocker | undefined>
  /** True if a message that has a blocker can be replayed with another body. */
  takesBody(record: MessageRecord): boolean
  /**
   * `delivered`: what is not sent again, in place of what the record shows of a partial message. Fails with
   * STORE_UNAVAILABLE, OVERLOADED or SHUTTING_DOWN; the message has not run then.
   */
  run(record: MessageRecord, edited?: EditedBody, delivered?: Delivered): Promise<Replayed>
}

export type ReplayOptions = Readonly<{
  store: MessageStore
  registry: Registry
  intake: Intake
  settings: Pick<PipelineSettings, 'validationAcceptNullValues'>
}>

type Ready = Original & Readonly<{ compiled: CompiledEndpoint }>

export function createReplay({ store, registry, intake, settings }: ReplayOptions): Replay {
  const prepare = async (record: MessageRecord, parts: OriginalParts): Promise<Ready | ReplayBlocker> => {
    const shown = recordBlocker(record, registry, parts.edited !== undefined)
    if (shown !== undefined) return shown
    const original = await readOriginal(record, parts, store)
    if ('reason' in original) return original
    // The endpoint may have been deleted while the bodies were read.
    const compiled = registry.get(record.endpointId ?? '')
    if (compiled === undefined) return blocker('endpoint-gone')
    const changed = endpointBlocker(compiled, original.incoming, settings.validationAcceptNullValues)
    return changed ?? { ...original, compiled }
  }

  return {
    findBlocker: (record) => recordBlocker(record, registry, false),
    check: async (record) => {
      // Only a message that may lack a value can be refused for its body, which may be large.
      const prepared = await prepare(record, { withBody: DOORS[doorOf(record.source)].mayLackValue })
      return 'reason' in prepared ? prepared : undefined
    },
    takesBody: (record) => recordBlocker(record, registry, true) === undefined,
    run: async (record, edited, given) => {
      const prepared = await prepare(record, { edited, withBody: true })
      if ('reason' in prepared) return { blocker: prepared }
      const { compiled, incoming, bodyOnly } = prepared
      const refused = intake.refusal(compiled)
      if (refused !== undefined) throw refused
      const delivered = given ?? (edited === undefined ? findDelivered(record, compiled) : undefined)
      return { completed: await intake.accept(compiled, { ...incoming, delivered }), bodyOnly }
    },
  }
}

/** What a partial message has delivered; undefined if its document has changed since, so that its requests may be others. */
function findDelivered(
  { outcome, endpointVersion, calls, notMade = [], deliveries = [] }: MessageRecord,
  { version }: CompiledEndpoint,
): Delivered | undefined {
  if (outcome !== 'partial' || endpointVersion !== version) return undefined
  const delivered = new Map<string, number | true>()
  for (const { kind, id, item, status } of calls) {
    if (kind === 'response' && status !== undefined) delivered.set(deliveryKey(id, item), status)
  }
  for (const { why, id, item } of notMade) if (why === 'delivered') delivered.set(deliveryKey(id, item), true)
  for (const { request, item } of deliveries) delivered.set(deliveryKey(request, item), true)
  return delivered
}

/** A body that replaces the recorded one; `headers` are those that describe it. */
export type EditedBody = Readonly<{ body: Uint8Array; headers: Headers }>

/** The headers that describe a body; an edited body replaces them. */
export const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length'] as const

/** `bodyOnly`: nothing but the edited body is known. */
type Original = Readonly<{ incoming: Incoming; bodyOnly: boolean }>

/** `withBody`: whether the recorded body is read, if no edited one replaces it. */
type OriginalParts = Readonly<{ edited?: EditedBody | undefined; withBody: boolean }>

/**
 * In: a record without a blocker (`recordBlocker`). Out: the message.
 * Fails with STORE_UNAVAILABLE.
 */
async function readOriginal(
  record: MessageRecord,
  { edited, withBody }: OriginalParts,
  store: MessageStore,
): Promise<Original | ReplayBlocker> {
  const has = (which: string): boolean => record.bodies.some((body) => body.which === which)
  const read = (which: string) => callMessageLog(() => store.body(record.id, which))
  if (!has('request')) {
    if (edited === undefined) return blocker('not-kept')
    const { headers: requestHeaders, body } = edited
    return { incoming: toReplay(record, { requestHeaders, query: {}, urlParams: {} }, body), bodyOnly: true }
  }
  const needsBody = withBody && edited === undefined && has('incoming')
  const [request, incoming] = await Promise.all([read('request'), needsBody ? read('incoming') : undefined])
  if (request === undefined || (needsBody && incoming === undefined)) return blocker('removed')
  if (isCut(request) || (incoming !== undefined && isCut(incoming))) return blocker('cut')
  const recorded = readRequest(request)
  const requestHeaders =
    edited === undefined
      ? recorded.requestHeaders
      : { ...withoutBodyHeaders(recorded.requestHeaders), ...edited.headers }
  const body = edited?.body ?? incoming?.content
  return { incoming: toReplay(record, { ...recorded, requestHeaders }, body), bodyOnly: false }
}

const isCut = ({ summary, content }: RecordedBody): boolean => content.byteLength !== summary.size

const withoutBodyHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !BODY_HEADERS.some((one) => one === name)))

const BLOCKERS = {
  'no-endpoint': 'No endpoint took the message.',
  'endpoint-gone': 'Its endpoint is not active any more: it was deleted, or has faults.',
  'no-topic': 'It arrived from a topic, and its endpoint consumes no topic any more.',
  'no-mllp': 'It arrived over MLLP, and its endpoint has no port for MLLP any more.',
  'no-schedule': 'It was a run of a schedule, and its endpoint has no schedule any more.',
  'no-route': 'It arrived at a route, and its endpoint has no route any more.',
  'route-changed': 'The route of its endpoint now has parameters that the message did not have.',
  'not-kept':
    'Its request was not recorded: the message log does not record its bodies (MESSAGE_LOG, or messageLog of its endpoint), or the message was refused before it was read.',
  cut: 'Only the start of its request was recorded.',
  masked: 'Parts of its recorded request are masked: they hold a credential, or REDACT_PATHS names them.',
  tombstone: 'It is a record without a value, and the schema of its endpoint does not accept null.',
  'tried-again': 'The consumer of its topic tried it again: a later message replaces it.',
  replayed: 'A replay of it has succeeded already.',
  'under-way': 'It is being replayed at this moment, by hand or by a plan.',
  removed: 'Its record was removed from the message log.',
} as const

/** `reason` for programs, `error` for people. */
export type ReplayBlocker = Readonly<{ reason: keyof typeof BLOCKERS; error: string }>

/** More exact than that of `masked`, for records that have the causes. */
const MASKED: Readonly<Record<MaskCause, string>> = {
  credential: 'they hold a credential, such as a token or a secret',
  'redact-paths': 'REDACT_PATHS names them',
  unreadable: 'REDACT_PATHS is set, and the body could not be read to apply it',
}

export const blocker = (reason: ReplayBlocker['reason']): ReplayBlocker => ({ reason, error: BLOCKERS[reason] })

/** The blocker that the record alone shows. `edited`: whether the caller replaces the body. */
export function recordBlocker(record: MessageRecord, registry: Registry, edited: boolean): ReplayBlocker | undefined {
  if (record.endpointId === undefined) return blocker('no-endpoint')
  const compiled = registry.get(record.endpointId)
  if (compiled === undefined) return blocker('endpoint-gone')
  const closed = record.source === 'replay' ? undefined : doorBlocker(doorOf(record.source), compiled)
  if (closed !== undefined) return closed
  const isRecorded = record.bodies.some(({ which }) => which === 'request')
  if (!isRecorded) return edited ? undefined : blocker('not-kept')
  return bodyBlocker(record, 'request') ?? (edited ? undefined : bodyBlocker(record, 'incoming'))
}

function bodyBlocker({ bodies }: MessageRecord, which: BodyName): ReplayBlocker | undefined {
  const summary = bodies.find((one) => one.which === which)
  if (summary?.masked) return maskedBlocker(summary.maskedFor)
  return summary?.cut ? blocker('cut') : undefined
}

function maskedBlocker(causes: readonly MaskCause[] | undefined): ReplayBlocker {
  if (causes === undefined) return blocker('masked')
  const why = causes.map((cause) => MASKED[cause]).join('; ')
  return { reason: 'masked', error: `Parts of its recorded request are masked: ${why}.` }
}

/** The blocker that the present endpoint causes: its route or topic may have changed since the message arrived. */
function endpointBlocker(
  compiled: CompiledEndpoint,
  { origin, urlParams = {}, body }: Incoming,
  acceptsNull: boolean,
): ReplayBlocker | undefined {
  const closed = doorBlocker(origin.door, compiled)
  if (closed !== undefined) return closed
  if (DOORS[origin.door].mayLackValue) {
    const isNull = body !== undefined && nullBody(compiled)?.equals(body)
    return isNull && !acceptsNull && refusesNull(compiled) ? blocker('tombstone') : undefined
  }
  if (origin.door !== HTTP.door) return undefined
  const pattern = parseRoutePattern(compiled.endpoint.endpoint.pattern ?? '/')
  const hasValue = (name: string): boolean => Object.hasOwn(urlParams, name)
  return !pattern.ok || pattern.value.parameters.every(hasValue) ? undefined : blocker('route-changed')
}

const CLOSED: Readonly<Record<Door, ReplayBlocker['reason']>> = {
  http: 'no-route',
  kafka: 'no-topic',
  mllp: 'no-mllp',
  schedule: 'no-schedule',
}

const doorBlocker = (door: Door, { endpoint }: CompiledEndpoint): ReplayBlocker | undefined =>
  DOCUMENT_DOORS[door].isOpen(endpoint) ? undefined : blocker(CLOSED[door])
