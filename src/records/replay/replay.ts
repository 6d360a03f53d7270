/** Runs a recorded message again, through its endpoint as it is now. */
import { kindForCode } from '../../core/failure-table.ts'
import type { Headers } from '../../core/message.ts'
import { DOORS, type Door, doorOf, HTTP } from '../../core/origin.ts'
import type { BodyName, MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import type { ReplayLookups } from '../../core/replays/replay-lookups.ts'
import { callKey, type Delivered } from '../../core/run.ts'
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
import { type Choices, chooseLookups, readRecordedAnswers, wasPolled } from './recorded-lookups.ts'
import { blocker, maskedBlocker, type ReplayBlocker } from './replay-blocker.ts'

export type Replayed =
  | Readonly<{
      completed: CompletedMessage
      /** Headers, query and URL parameters were not recorded, so the message ran without them. */
      bodyOnly: boolean
      /** What became of the lookups; undefined if the endpoint has none. */
      lookups: ReplayLookups | undefined
    }>
  | Readonly<{ blocker: ReplayBlocker }>

export interface Replay {
  /** The blocker that the record alone shows, if there is one. */
  findBlocker(record: MessageRecord, lookups?: ReplayLookups): ReplayBlocker | undefined
  /** The blocker that the record, its recorded request or the present endpoint shows. Fails with STORE_UNAVAILABLE. */
  check(record: MessageRecord): Promise<ReplayBlocker | undefined>
  /** True if a message that has a blocker can be replayed with another body. */
  takesBody(record: MessageRecord): boolean
  /** Fails with STORE_UNAVAILABLE, OVERLOADED or SHUTTING_DOWN; the message has not run then. */
  run(record: MessageRecord, choices?: ReplayChoices): Promise<Replayed>
}

/**
 * `edited`: a body in place of the recorded one. `lookups`: by default, recorded answers for a message that its lookups make,
 * unless its body is edited. `delivered`: what is not sent again, in place of what the record shows. `original`: the message
 * that the one of the record replays.
 */
export type ReplayChoices = Readonly<{
  edited?: EditedBody | undefined
  lookups?: ReplayLookups | undefined
  delivered?: Delivered | undefined
  original?: string | undefined
}>

export type ReplayOptions = Readonly<{
  store: MessageStore
  registry: Registry
  intake: Intake
  settings: Pick<PipelineSettings, 'validationAcceptNullValues'>
}>

type Ready = Original &
  Readonly<{
    compiled: CompiledEndpoint
    lookups: ReplayLookups | undefined
  }>

export function createReplay({ store, registry, intake, settings }: ReplayOptions): Replay {
  const prepare = async (record: MessageRecord, parts: OriginalParts): Promise<Ready | ReplayBlocker> => {
    const choices = { isEdited: parts.edited !== undefined, lookups: parts.lookups }
    const shown = recordBlocker(record, registry, choices)
    if (shown !== undefined) return shown
    const original = await readOriginal(record, parts, store)
    if ('reason' in original) return original
    // The endpoint may have been deleted while the bodies were read.
    const compiled = registry.get(record.endpointId ?? '')
    if (compiled === undefined) return blocker('endpoint-gone')
    const changed = endpointBlocker(compiled, original.incoming, settings.validationAcceptNullValues)
    if (changed !== undefined) return changed
    const lookups = chooseLookups(record, original.incoming.origin.door, compiled, choices)
    return typeof lookups === 'object' ? lookups : { ...original, compiled, lookups }
  }

  return {
    findBlocker: (record, lookups) => recordBlocker(record, registry, { lookups }),
    check: async (record) => {
      // Only a message that may lack a value can be refused for its body, which may be large.
      const prepared = await prepare(record, { withBody: DOORS[doorOf(record.source)].mayLackValue })
      return 'reason' in prepared ? prepared : undefined
    },
    takesBody: (record) =>
      !DOORS[doorOf(record.source)].neverHasBody && recordBlocker(record, registry, { isEdited: true }) === undefined,
    run: async (record, { edited, lookups, delivered: given, original } = {}) => {
      const prepared = await prepare(record, { edited, lookups, withBody: true })
      if ('reason' in prepared) return { blocker: prepared }
      const { compiled, incoming, bodyOnly, lookups: chosen } = prepared
      const read = (which: string) => callMessageLog(() => store.body(record.id, which))
      const recordedAnswers = chosen === 'recorded' ? await readRecordedAnswers(read) : undefined
      if (recordedAnswers !== undefined && 'reason' in recordedAnswers) return { blocker: recordedAnswers }
      const refused = intake.refusal(compiled)
      if (refused !== undefined) throw refused
      // What a poll finds now may be other records than those that were delivered.
      const isPolledAgain = chosen === 'again' && wasPolled(record, incoming.origin.door, compiled)
      const isSame = edited === undefined && !isPolledAgain
      const delivered = given ?? (isSame ? findDelivered(record, compiled, incoming.origin.door) : undefined)
      const origin = { ...incoming.origin, original }
      const completed = await intake.accept(compiled, { ...incoming, origin, delivered, recordedAnswers })
      return { completed, bodyOnly, lookups: chosen }
    },
  }
}

/**
 * What a message has delivered that was not delivered whole; undefined if its document has changed since, so that its requests may be
 * others.
 */
function findDelivered(record: MessageRecord, { version }: CompiledEndpoint, door: Door): Delivered | undefined {
  const { outcome, code = '', stage, endpointVersion, deliveries = [] } = record
  // Where no one reads an answer, one request that fails fails the message, whatever the others delivered. So does one that the
  // store did not take, at every door.
  const isPartial =
    outcome === 'partial' ||
    (stage === 'respond' && (!DOORS[door].isAnswered || kindForCode(code).store === 'delivery'))
  if (!isPartial || endpointVersion !== version) return undefined
  const delivered = listDelivered(record)
  for (const { request, item } of deliveries) delivered.set(callKey(request, item), true)
  return delivered
}

/** What the calls of a message, or those of its replay, have delivered. */
export function listDelivered({ calls, notMade = [] }: MessageRecord): Map<string, number | true> {
  const delivered = new Map<string, number | true>()
  for (const { kind, id, item, status } of calls) {
    if (kind === 'response' && status !== undefined) delivered.set(callKey(id, item), status)
  }
  for (const { why, id, item } of notMade) if (why === 'delivered') delivered.set(callKey(id, item), true)
  return delivered
}

/** A body that replaces the recorded one; `headers` are those that describe it. */
export type EditedBody = Readonly<{ body: Uint8Array; headers: Headers }>

/** The headers that describe a body; an edited body replaces them. */
export const BODY_HEADERS = ['content-type', 'content-encoding', 'content-length'] as const

/** `bodyOnly`: nothing but the edited body is known. */
type Original = Readonly<{ incoming: Incoming; bodyOnly: boolean }>

/** `withBody`: whether the recorded bodies are read, if no edited one replaces that of the message. */
type OriginalParts = ReplayChoices & Readonly<{ withBody: boolean }>

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

/** The blocker that the record alone shows. */
export function recordBlocker(record: MessageRecord, registry: Registry, choices: Choices): ReplayBlocker | undefined {
  if (record.endpointId === undefined) return blocker('no-endpoint')
  const compiled = registry.get(record.endpointId)
  if (compiled === undefined) return blocker('endpoint-gone')
  const closed = record.source === 'replay' ? undefined : doorBlocker(doorOf(record.source), compiled)
  if (closed !== undefined) return closed
  const isRecorded = record.bodies.some(({ which }) => which === 'request')
  const { isEdited } = choices
  if (!isRecorded) return isEdited ? undefined : blocker('not-kept')
  const ofMessage = bodyBlocker(record, 'request') ?? (isEdited ? undefined : bodyBlocker(record, 'incoming'))
  if (ofMessage !== undefined) return ofMessage
  const lookups = chooseLookups(record, doorOf(record.source), compiled, choices)
  return typeof lookups === 'object' ? lookups : undefined
}

function bodyBlocker({ bodies }: MessageRecord, which: BodyName): ReplayBlocker | undefined {
  const summary = bodies.find((one) => one.which === which)
  if (summary?.masked) return maskedBlocker('masked', summary.maskedFor)
  return summary?.cut ? blocker('cut') : undefined
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
