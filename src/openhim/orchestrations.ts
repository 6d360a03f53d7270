/** The calls and the stored requests of a message as the orchestrations of an OpenHIM transaction. */
import { isUtf8 } from 'node:buffer'
import { type NewDelivery, storedHeaders } from '../core/deliveries/delivery.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { isSecretName, isSecretParameter, MASK } from '../core/secrets/secrets.ts'
import type { CallSpan, Trace } from '../core/tracing/trace.ts'
import { readHeaders } from '../formats/openhim-wrapper.ts'
import type { CompletedMessage } from '../inbound/completed-message.ts'
import { appendEncoded } from '../language/url-template.ts'
import { formatTarget, readTarget, targetNamed } from '../outbound/targets.ts'
import { captureBodies, createBodyCapture } from '../records/message-log/bodies.ts'
import { keptCalls } from '../records/message-log/record-builder.ts'
import {
  type Credentialed,
  compileRedaction,
  createSecretsFinder,
  hideValues,
  holdsToken,
  redactedKeys,
  secretHeaderNames,
  withoutSecretsIn,
} from '../records/message-log/redaction.ts'

/** Of a message with more, those of other mediators are left out first. */
const MAX_ORCHESTRATIONS = 200

/** The most characters of other mediators' orchestrations, without bodies: the answer waits until they are searched. */
const MAX_FOREIGN_CHARACTERS = 1024 * 1024

/** An orchestration of another mediator, and when the call started that brought it. */
type ForeignOrchestration = Readonly<{ orchestration: JsonObject; startMs: number }>

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
  let left = MAX_FOREIGN_CHARACTERS
  const add = (some: readonly JsonObject[], startMs: number): void => {
    for (const orchestration of some) {
      if (found.length >= MAX_ORCHESTRATIONS) return
      const { length } = JSON.stringify(orchestration, (name, value) => (name === 'body' ? undefined : value))
      if (length > left) continue
      left -= length
      found.push({ orchestration, startMs })
    }
  }
  for (const { answer, startMs } of madeCalls(trace)) add(answer?.orchestrations ?? [], startMs)
  add(ofAnswer, trace.lastMs)
  return found
}

/** Out: those of the message in the order in which its calls started, then of what it stored, then the foreign ones. */
export function toOrchestrations(
  { trace, startedAt }: CompletedMessage,
  privacy: Privacy,
  foreign: readonly ForeignOrchestration[],
): readonly JsonObject[] {
  if (trace === undefined) return []
  const formatTime = createTimeFormat(startedAt, trace)
  const own = keptCalls(madeCalls(trace)).map((call) => toOrchestration(call, privacy, formatTime))
  const theirs = foreign
    .map(({ orchestration, startMs }) => foreignOrchestration(orchestration, privacy, formatTime(startMs)))
    .filter((one) => one !== undefined)
  const stored = (trace.deliveries ?? [])
    .slice(0, MAX_ORCHESTRATIONS - own.length)
    .map((delivery) => storedOrchestration(delivery, privacy, formatTime(trace.lastMs)))
  return [...own, ...stored, ...theirs].slice(0, MAX_ORCHESTRATIONS)
}

/** How many calls and stored requests of the message `toOrchestrations` leaves out. */
export const omittedCalls = (trace: Trace | undefined): number =>
  trace === undefined ? 0 : Math.max(0, madeCalls(trace).length + (trace.deliveries?.length ?? 0) - MAX_ORCHESTRATIONS)

/** Without those whose answer came from the cache of their lookup. */
const madeCalls = ({ calls }: Trace): readonly CallSpan[] =>
  calls.some(({ cached }) => cached) ? calls.filter(({ cached }) => !cached) : calls

type FormatTime = (ms: number) => string

/** In: milliseconds of `performance.now()`. Out: ISO 8601. */
const createTimeFormat =
  (startedAt: number, { startMs }: Trace): FormatTime =>
  (ms) =>
    new Date(Math.round(startedAt + ms - startMs)).toISOString()

function toOrchestration(call: CallSpan, privacy: Privacy, formatTime: FormatTime): JsonObject {
  const { id, item, startMs, endMs, sent, answer, fault } = call
  const outcome =
    answer === undefined
      ? { error: { message: SENTENCES[fault ?? 'deadline'] } }
      : {
          response: {
            status: answer.status,
            ...privacy.content(answer.headers, answer.body, answer.body.byteLength),
            timestamp: formatTime(endMs),
          },
        }
  return {
    name: nameOf(id, item),
    request: {
      ...describeDestination(call, privacy),
      ...privacy.content(sent?.headers ?? {}, sent?.body, sent?.size ?? 0),
      timestamp: formatTime(startMs),
    },
    ...outcome,
  }
}

const nameOf = (id: string, item: number | undefined): string => (item === undefined ? id : `${id}[${item}]`)

/** A request that is sent later, with references in place of secrets. `at`: ISO 8601, when it was stored. */
function storedOrchestration(delivery: NewDelivery, privacy: Privacy, at: string): JsonObject {
  const { requestId, item, request, body } = delivery
  return {
    name: nameOf(requestId, item),
    group: 'deliveries',
    request: {
      ...describeDestination({ method: request.method, target: storedTarget(request) }, privacy),
      ...privacy.content(storedHeaders(delivery), body, Buffer.byteLength(body ?? '')),
      timestamp: at,
    },
  }
}

const storedTarget = ({ to, url, query }: NewDelivery['request']): string =>
  formatTarget(targetNamed(to.target), to.address, query === undefined ? url : appendEncoded(url, query))

/** Of what the message stored, as far as it may hold credentials. */
const listStored = (trace: Trace | undefined): readonly Credentialed[] =>
  (trace?.deliveries ?? []).map((delivery) => {
    const target = storedTarget(delivery.request)
    return { headers: storedHeaders(delivery), query: target.slice(target.indexOf('?') + 1 || target.length) }
  })

const SENTENCES: Readonly<Record<NonNullable<CallSpan['fault']>, string>> = {
  unreachable: 'The target could not be reached.',
  timeout: 'The target did not answer in time.',
  'too-large': 'The answer of the target was too large.',
  'over-budget': 'The answer of the target was larger than what the message could still read.',
  unreadable: 'The answer of the target could not be read.',
  refused: 'The target refused the request.',
  denied: 'The egress rules do not allow the target.',
  'circuit-open': 'The request was not sent, because the target has failed too often.',
  'no-auth': 'The request was not sent, because there was no token or certificate to send it with.',
  deadline: 'The message ran out of time.',
  internal: 'The service failed to make the request.',
}

/** A URL, or a reference to a secret in place of its origin. Without credentials before the host. */
const TARGET =
  /^(?:([a-z][a-z0-9+.-]*):\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?|(\$\{[^}]*\}))([^?#]*)(?:\?([^#]*))?/i
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' }

/** A target that isn't a URL has no host that the service knows: the broker's client chooses that of a record. */
function describeDestination(
  { method, target }: Pick<CallSpan, 'method' | 'target'>,
  { text, query }: Privacy,
): JsonObject {
  const {
    target: { own },
    address,
  } = readTarget(target)
  if (own !== undefined) return { host: own.host, port: '', path: text(address), querystring: '', method: own.method }
  const [, scheme = '', host, port, reference = '', path = '', querystring = ''] = TARGET.exec(target) ?? []
  return {
    host: text(host ?? reference),
    port: port || (DEFAULT_PORTS[scheme.toLowerCase()] ?? ''),
    path: text(path),
    querystring: query(querystring),
    method,
  }
}

// Takes credentials and redacted values out of what a core learns of one message.

export type PrivacySettings = Readonly<{
  redactHeaders: readonly string[]
  redactPaths: readonly string[]
  messageLogBodyLimitBytes: number
  /** What a core learns of calls: nothing, each without its bodies, or with them. */
  openhimOrchestrations: 'off' | 'metadata' | 'bodies'
}>

type HeaderValues = Readonly<Record<string, string | readonly string[]>>

export type Privacy = Readonly<{
  /** Without secrets and redacted values. */
  text(text: string): string
  /** Also without the values of secret parameters. */
  query(query: string): string
  /**
   * The headers of a request or response, without the values of secret ones; with `bodies` also its body as a text, cut
   * and redacted as in the message log. `size`: of the body, in bytes.
   */
  content(headers: HeaderValues, body: string | Uint8Array | undefined, size: number): JsonObject
  /** Values of business keys; a redacted value is replaced whole. */
  key(value: string): string
}>

/** More bytes of bodies are not read: the answer waits for it. */
const MAX_READ_BYTES = 4 * 1024 * 1024

/** More redacted values take too long to search for. */
const MAX_SEARCHED_VALUES = 1_000

/** `foreign`: orchestrations of other mediators that the core gets. */
type CreatePrivacy = (completed: CompletedMessage, foreign: readonly Credentialed[]) => Privacy

export function compilePrivacy(settings: PrivacySettings): CreatePrivacy {
  const { redactHeaders, redactPaths, messageLogBodyLimitBytes, openhimOrchestrations } = settings
  const secretHeaders = secretHeaderNames(redactHeaders)
  const redaction = compileRedaction(redactPaths)
  const names = {
    isHeader: (name: string) => secretHeaders.has(name) || isSecretName(name),
    isParameter: isSecretParameter,
  }
  const findSecrets = createSecretsFinder(names)

  /** The values that `REDACT_PATHS` finds anywhere in the message; undefined if finding or hiding them takes too long. */
  function redactedIn(completed: CompletedMessage): ReadonlySet<string> | undefined {
    const capture = createBodyCapture(0, redaction, [], { documented: completed.compiled?.endpoint })
    if (redaction === undefined) return capture.redacted
    if (bytesIn(completed) > MAX_READ_BYTES) return undefined
    captureBodies(completed, capture, secretHeaders)
    for (const { sent } of completed.trace?.calls ?? []) {
      if (sent?.body !== undefined) capture.addBody('', sent.headers['content-type'] ?? '', toBytes(sent.body))
    }
    for (const { request, body } of completed.trace?.deliveries ?? []) {
      if (body !== undefined) capture.addBody('', request.contentType ?? '', toBytes(body))
    }
    return capture.redacted.size > MAX_SEARCHED_VALUES ? undefined : capture.redacted
  }

  return (completed, foreign) => {
    const redacted = redactedIn(completed)
    const secrets = findSecrets(completed, [...foreign, ...listStored(completed.trace)])
    const hide = redacted === undefined ? () => MASK : hideValues(redacted)
    const isRedactedKey = redacted && redactedKeys(redacted)
    const capture = createBodyCapture(messageLogBodyLimitBytes, redaction, secrets, {
      hide,
      documented: completed.compiled?.endpoint,
    })
    let left = MAX_READ_BYTES

    const text = (given: string): string => (given === '' ? '' : hide(withoutSecretsIn(given, secrets)))
    const value = (name: string, given: string): string =>
      names.isHeader(name) || holdsToken(given) ? MASK : text(given)

    const shownHeaders = (headers: HeaderValues): JsonObject =>
      Object.fromEntries(
        Object.entries(headers).map(([name, given]) => [
          storableName(name),
          typeof given === 'string' ? value(name, given) : given.map((one) => value(name, one)),
        ]),
      )
    const shownBody = (contentType: string, content: string | Uint8Array | undefined, size: number): string => {
      if (size === 0) return ''
      if (content === undefined || redacted === undefined || size > left) return notShown(size)
      left -= size
      capture.addBody('', contentType, toBytes(content))
      const added = capture.bodies.at(-1)
      return shownText(added?.content ?? NO_BYTES, added?.summary.cut === true, size)
    }

    return {
      text,
      query: (query) =>
        query
          .split('&')
          .map((pair) => queryPair(pair, text))
          .join('&'),
      content: (headers, body, size) => ({
        headers: shownHeaders(headers),
        ...(openhimOrchestrations === 'bodies' ? { body: shownBody(detectType(headers), body, size) } : {}),
      }),
      key: (given) => (isRedactedKey?.(given) ? MASK : text(given)),
    }
  }
}

const NO_BYTES = new Uint8Array()

function bytesIn({ incoming, trace, answer }: CompletedMessage): number {
  let bytes = (incoming?.body?.byteLength ?? 0) + answer.body.length
  for (const call of trace?.calls ?? []) bytes += (call.answer?.body.byteLength ?? 0) + (call.sent?.size ?? 0)
  for (const { body } of trace?.deliveries ?? []) bytes += body?.length ?? 0
  return bytes
}

const toBytes = (body: string | Uint8Array): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body)

const detectType = ({ 'content-type': type }: HeaderValues): string => [type ?? ''].flat()[0] ?? ''

const notShown = (size: number): string => `[${size} bytes, not shown]`

/** The core stores bodies as texts. */
function shownText(content: Uint8Array, cut: boolean, size: number): string {
  if (content.byteLength === 0) return notShown(size)
  if (!isUtf8(content)) return `[${size} bytes that are not text]`
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString()
  return cut ? `${text}… [cut, ${size} bytes in all]` : text
}

function queryPair(pair: string, text: (given: string) => string): string {
  const [name = ''] = pair.split('=', 1)
  if (name === pair) return text(pair)
  const [decoded = name] = new URLSearchParams(pair).keys()
  const value = pair.slice(name.length + 1)
  return `${text(name)}=${isSecretParameter(decoded) || holdsToken(value) ? MASK : text(value)}`
}

/**
 * The core escapes dots and dollars in the names of its own headers only, and older databases of cores refuse them in names
 * (openhim-core, messageStore.js).
 */
export const storableName = (name: string): string =>
  name.replaceAll('.', '\uff0e').replaceAll('$', '\uff04').replaceAll('\0', '')

// Orchestrations of other mediators, rebuilt from the members that openhim-core stores: one with a wrong type would make
// the core lose the whole transaction.

/** `at`: ISO 8601, the time of one that names none. Undefined if it has no name, which the core requires. */
function foreignOrchestration(
  { name, group, request, response, error }: JsonObject,
  privacy: Privacy,
  at: string,
): JsonObject | undefined {
  if (typeof name !== 'string' || name === '') return undefined
  const exchange = (part: JsonObject): JsonObject => {
    const body = typeof part.body === 'string' ? part.body : ''
    const content = privacy.content(
      readHeaders(isObject(part.headers) ? part.headers : {}),
      body,
      Buffer.byteLength(body),
    )
    return { ...content, timestamp: formatTime(part.timestamp) ?? at }
  }
  return {
    name: privacy.text(name),
    ...(typeof group === 'string' ? { group: privacy.text(group) } : {}),
    ...(isObject(request) ? { request: { ...foreignPlace(request, privacy), ...exchange(request) } } : {}),
    ...(isObject(response) ? { response: { ...readStatus(response.status), ...exchange(response) } } : {}),
    ...(isObject(error) ? { error: { message: privacy.text(toText(error.message)) } } : {}),
  }
}

/** The request and the response of an orchestration, as far as they may hold credentials. */
export function listExchanges({ request, response }: JsonObject): readonly Credentialed[] {
  return [request, response].filter(isObject).map((part) => ({
    headers: readHeaders(isObject(part.headers) ? part.headers : {}),
    query: parseTarget(part).query,
  }))
}

function foreignPlace(request: JsonObject, { text, query }: Privacy): JsonObject {
  const target = parseTarget(request)
  return {
    host: text(toText(request.host).replace(/^.*@/s, '')),
    port: toText(request.port),
    path: text(target.path),
    querystring: query(target.query),
    method: toText(request.method),
  }
}

/** Some mediators write the query into the path, and its name as `queryString`. */
function parseTarget({ path, querystring, queryString }: JsonObject): Readonly<{ path: string; query: string }> {
  const [ownPath = '', inPath = ''] = toText(path).split(/\?(.*)/s)
  return { path: ownPath, query: toText(querystring) || toText(queryString) || inPath }
}

const toText = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function readStatus(value: Json | undefined): JsonObject {
  const status = Number(toText(value))
  return Number.isInteger(status) && status >= 100 && status <= 599 ? { status } : {}
}

/** Times are ISO 8601, or milliseconds since the epoch. */
function formatTime(value: Json | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
