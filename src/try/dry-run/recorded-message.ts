/** A recorded message as a dry run takes it: the message itself, and what other systems answered it. */
import type { JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import type { OutboundFault } from '../../core/ports/http-client-port.ts'
import type {
  BodySummary,
  MaskCause,
  MessageRecord,
  RecordedBody,
  RecordedCall,
} from '../../core/records/message-record.ts'
import { isSecretName } from '../../core/secrets/secrets.ts'
import type { DryRunRequest } from '../../document/checks/dry-run-request.ts'
import { collectDocumentReads, type DocumentReads } from '../../document/reads/document-reads.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import { readTarget } from '../../outbound/targets.ts'
import { usesState } from '../../pipeline/stages/state.ts'
import { answerBodyName, readRequest, toReplay } from '../../records/message-log/bodies.ts'
import { groupKeyFor } from '../../records/message-log/group-key.ts'
import { callMessageLog, type MessageSearch } from '../../records/message-log/message-search.ts'
import type { MessageStore } from '../../store/sql/messages.ts'

export type RecordedAnswer = Readonly<{
  status: number
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  fault: OutboundFault | undefined
}>

/** Of an exchange with another system. `summary`: undefined if its body was not kept. */
export type RecordedExchange = Readonly<{
  call: Pick<RecordedCall, 'kind' | 'id' | 'item'>
  answer: RecordedAnswer | undefined
  summary: RecordedBody['summary'] | undefined
}>

export type RecordedMessage = Readonly<{
  record: MessageRecord
  incoming: Incoming
  /** Of the parts `request` and `incoming`. */
  summaries: readonly RecordedBody['summary'][]
  exchanges: readonly RecordedExchange[]
}>

export type RecordedMessages = Readonly<{
  search: Pick<MessageSearch, 'get' | 'body'>
  store: Pick<MessageStore, 'body'>
}>

/** Fails with ID_MALFORMED, MESSAGE_UNKNOWN, MESSAGE_BODY_UNKNOWN if its request was not kept, STORE_UNAVAILABLE. */
export async function readRecordedMessage(id: string, { search, store }: RecordedMessages): Promise<RecordedMessage> {
  const record = await search.get(id)
  const kept = new Set(record.bodies.map(({ which }) => which))
  const read = async (which: string): Promise<RecordedBody | undefined> =>
    kept.has(which) ? callMessageLog(() => store.body(id, which)) : undefined
  // Fails with what is kept instead.
  const request = (await read('request')) ?? (await search.body(id, 'request'))
  const body = await read('incoming')
  const exchanges: RecordedExchange[] = []
  for (const call of record.calls) {
    const answered = await read(answerBodyName(call))
    exchanges.push({ call, answer: toRecordedAnswer(call, answered), summary: answered?.summary })
  }
  return {
    record,
    incoming: toReplay(record, readRequest(request), body?.content),
    summaries: [request, ...(body === undefined ? [] : [body])].map(({ summary }) => summary),
    exchanges,
  }
}

/** An incomplete response is left out: with it, the message would fail in a way in which it did not. */
function toRecordedAnswer(
  { status, fault, target }: RecordedCall,
  recorded: RecordedBody | undefined,
): RecordedAnswer | undefined {
  if (fault !== undefined) {
    const known = fault === 'deadline' || fault === 'internal' ? 'timeout' : fault
    return { status: 200, headers: {}, body: new Uint8Array(), fault: known }
  }
  // Nothing of the answer is recorded where it is the same whatever the target says.
  if (readTarget(target).target.fixedAnswer !== undefined)
    return { status: 200, headers: {}, body: new Uint8Array(), fault: undefined }
  if (status === undefined || recorded === undefined || recorded.summary.cut) return undefined
  const { contentType } = recorded.summary
  const headers = contentType === '' ? {} : { 'content-type': contentType }
  return { status, headers, body: recorded.content, fault: undefined }
}

// What a dry run of a recorded message cannot have as the message had it.

/** `path`: the part of a dry run that can have it instead, such as `message.headers.authorization`. */
export type NotReproduced = Readonly<{ path: string; reason: string }>

const MASKED = 'Parts of it were redacted before it was recorded (REDACT_PATHS, REDACT_HEADERS, secrets).'
const MASKED_FOR: Readonly<Record<MaskCause, string>> = {
  credential: 'credentials and secrets',
  'redact-paths': 'REDACT_PATHS',
  unreadable: 'it could not be read, and REDACT_PATHS is set',
}
const maskedFor = (causes: readonly MaskCause[] | undefined): string =>
  causes === undefined
    ? MASKED
    : `Parts of it were redacted before it was recorded (${causes.map((cause) => MASKED_FOR[cause]).join('; ')}).`
const CREDENTIAL = 'Headers with credentials are not recorded (REDACT_HEADERS).'

/**
 * In: the request, whose parts replace recorded ones; the document that runs; the names of headers that are
 * never recorded. Out: only what the document can read.
 */
export function notReproduced(
  { message, lookups, responses }: DryRunRequest,
  recorded: RecordedMessage,
  endpoint: Endpoint,
  secretHeaders: ReadonlySet<string>,
): readonly NotReproduced[] {
  const { record, incoming, summaries, exchanges } = recorded
  const documentReads = collectDocumentReads(endpoint)
  const { reads, isWhole } = documentReads
  const of = (which: string): readonly BodySummary[] => summaries.filter((one) => one.which === which)
  const request = message.headers === undefined || message.query === undefined ? of('request') : []
  const body = message.body === undefined ? of('incoming') : []
  const given = Object.keys(message.headers ?? {}).map((name) => name.toLowerCase())
  const has = (name: string): boolean => given.includes(name) || Object.hasOwn(incoming.requestHeaders, name)
  const headers = reads
    .filter(({ path }) => path.root === 'requestHeaders')
    .map(({ path }) => path.names[1])
    .filter((name) => name === undefined || ((secretHeaders.has(name) || isSecretName(name)) && !has(name)))
  return distinct([
    ...request.flatMap((one) => describeLoss(documentPath('message', 'headers'), one)),
    ...(isWhole && !headers.includes(undefined) ? [undefined, ...headers] : headers).map((name) => ({
      path: documentPath('message', 'headers', ...(name === undefined ? [] : [name])),
      reason: CREDENTIAL,
    })),
    ...body.flatMap((one) => describeLoss(documentPath('message', 'body'), one)),
    ...(usesState(endpoint) && message.state === undefined
      ? [{ path: documentPath('message', 'state'), reason: 'The state that the message saw is not recorded.' }]
      : []),
    ...exchanges
      .filter(({ call }) => !Object.hasOwn(call.kind === 'lookup' ? lookups : responses, call.id))
      .flatMap((exchange) => describeExchangeLoss(exchange, endpoint, documentReads)),
    ...((record.callsOmitted ?? 0) > 0
      ? [{ path: 'lookups', reason: `${record.callsOmitted} calls are left out of the record.` }]
      : []),
  ])
}

export const describeLoss = (
  path: string,
  { cut, masked, maskedFor: causes, size }: BodySummary,
): readonly NotReproduced[] => [
  ...(cut ? [{ path, reason: `Only the start of its ${size} bytes was recorded (MESSAGE_LOG_BODY_LIMIT).` }] : []),
  ...(masked ? [{ path, reason: maskedFor(causes) }] : []),
]

function describeExchangeLoss(
  { call: { kind, id, item }, answer, summary }: RecordedExchange,
  endpoint: Endpoint,
  reads: DocumentReads,
): readonly NotReproduced[] {
  const group = kind === 'lookup' ? 'lookups' : 'responses'
  if (!endpoint.requests[kind].some((one) => one.id === id)) return []
  const path = documentPath(group, id, ...(item === undefined ? [] : [item]))
  if (answer === undefined) {
    const why = summary?.cut ? 'only its start was (MESSAGE_LOG_BODY_LIMIT)' : 'the message log does not keep it'
    return [{ path, reason: `Its answer was not recorded: ${why}.` }]
  }
  if (answer.fault !== undefined) return []
  const loss = summary?.masked
    ? [
        {
          path: documentPath(group, id, ...(item === undefined ? [] : [item]), 'body'),
          reason: maskedFor(summary.maskedFor),
        },
      ]
    : []
  if (kind !== 'lookup' || !readsHeaders(id, reads)) return loss
  const headers = documentPath(group, id, 'headers')
  return [...loss, { path: headers, reason: 'Of the headers of its answer, only Content-Type is recorded.' }]
}

const readsHeaders = (id: string, { reads, isWhole }: DocumentReads): boolean =>
  isWhole ||
  reads.some(({ path: { root, names } }) => {
    if (root === 'page') return names[1] === undefined || names[1] === 'headers'
    const [, lookup, part] = names
    if (root !== 'lookupRequests' || (lookup !== undefined && lookup !== id)) return false
    return part === undefined || part === 'headers'
  })

const distinct = (losses: readonly NotReproduced[]): readonly NotReproduced[] => [
  ...new Map(losses.map((one) => [`${one.path}\n${one.reason}`, one])).values(),
]

/** What the message did when it was recorded. */
export const recordedOutcome = ({ record }: RecordedMessage): JsonObject => {
  const { id, endpointId, endpointVersion, outcome, status, code } = record
  const group = groupKeyFor(record)
  return {
    messageId: id,
    ...(endpointId === undefined ? {} : { endpointId }),
    ...(endpointVersion === undefined ? {} : { endpointVersion }),
    outcome,
    status,
    ...(code === undefined ? {} : { code }),
    ...(group === undefined ? {} : { group }),
  }
}
