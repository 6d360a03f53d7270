/** What the message of a test did, in the form in which it is compared and kept as a snapshot. */

import { createHash } from 'node:crypto'
import { type NewDelivery, storedHeaders } from '../../core/deliveries/delivery.ts'
import { changeTexts, isObject, type Json, type JsonObject } from '../../core/json.ts'
import { didYouMean } from '../../core/nearest.ts'
import { isSecretName, REDACTED } from '../../core/secrets/secrets.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { ParserSettings } from '../../formats/codec.ts'
import { detect, type FormatOptions, findCodec } from '../../formats/codecs.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { showTarget } from '../../outbound/targets.ts'
import { describeFailure } from '../dry-run/dry-run-report.ts'
import { showDelivery } from '../dry-run/shown-deliveries.ts'
import type { RunningStep } from './given-services.ts'
import type { Matcher, MatchLocation } from './match.ts'
import { parseOperator } from './operators.ts'
import type { Mismatch } from './test-file.ts'

/** A body and the text that it was read from; both undefined if it is empty. */
type ObservedBody = Readonly<{ value: Json | undefined; text: string | undefined }>

type ObservedCall = Readonly<{
  /** Undefined of a request that would have been stored. */
  kind: CallSpan['kind'] | undefined
  id: string
  item: number | undefined
  /** `method` and `url`, or `topic` and `key`. */
  target: JsonObject
  /** Names in lower case. */
  headers: Readonly<Record<string, Json>>
  body: ObservedBody
  /** The key that keeps the order of deliveries. */
  orderKey?: string
}>

export type Observed = Readonly<{
  outcome: string
  answer: Readonly<{ status: number; headers: Readonly<Record<string, Json>>; body: ObservedBody }>
  /** Those that were sent, in the order in which they started. */
  calls: readonly ObservedCall[]
  /** Those that would have been stored, in the order in which they were made. */
  deliveries: readonly ObservedCall[]
  failure: JsonObject | undefined
  /** Undefined if the message did not come so far. */
  transforms: JsonObject | undefined
  mapped: Json | undefined
  state: JsonObject | undefined
}>

/** The contract's defaults: an expectation is the same whatever the service is set to. */
const XML_FORM: ParserSettings = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }

export function observe(completed: CompletedMessage, step: RunningStep): Observed {
  const { outcome, answer, failure, compiled } = completed
  const endpoint = compiled?.endpoint
  const headers = answer.headers as Readonly<Record<string, Json>>
  const reached = (step.trace.reached ?? {}) as JsonObject
  const { transforms, responseBody } = reached
  return {
    outcome,
    answer: { status: answer.status, headers, body: readBody(answer.body, headers['content-type'], endpoint) },
    calls: step.trace.calls.flatMap((call) => observeCall(call, step.sent(call), endpoint)),
    deliveries: (step.trace.deliveries ?? []).map((delivery) => observeDelivery(delivery, endpoint)),
    failure: failure && describeFailure(failure),
    transforms: isObject(transforms) ? transforms : undefined,
    mapped: responseBody,
    state: step.kept(),
  }
}

function observeCall(
  call: CallSpan,
  sent: ReturnType<RunningStep['sent']>,
  endpoint: FormatOptions | undefined,
): readonly ObservedCall[] {
  if (sent === undefined || sent.source === 'missing') return []
  const { kind, id, item, target } = call
  const headers = Object.fromEntries(sent.headers.map(([name, value]) => [name.toLowerCase(), value]))
  return [
    {
      kind,
      id,
      item,
      target: showTarget(call, target, sent.key),
      headers,
      body: readBody(sent.body ?? '', headers['content-type'], endpoint),
    },
  ]
}

function observeDelivery(delivery: NewDelivery, endpoint: FormatOptions | undefined): ObservedCall {
  const { requestId, item, orderKey, body } = delivery
  const headers = storedHeaders(delivery)
  return {
    kind: undefined,
    id: requestId,
    item,
    target: showDelivery(delivery),
    headers,
    body: readBody(body ?? '', headers['content-type'], endpoint),
    ...(orderKey === undefined ? {} : { orderKey }),
  }
}

/** A body that cannot be read in the type that it declares is its text. `documented`: the document of the endpoint. */
export function readBody(
  body: string | Uint8Array,
  contentType: Json | undefined,
  documented?: FormatOptions,
): ObservedBody {
  const bytes = Buffer.from(body)
  if (bytes.length === 0) return { value: undefined, text: undefined }
  const text = bytes.toString()
  const declared = typeof contentType === 'string' ? parseMediaType(contentType) : undefined
  if (declared === undefined) return { value: detect(text)?.value ?? text, text }
  try {
    return { value: findCodec(declared, documented)?.read(bytes, declared.charset, XML_FORM) ?? text, text }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    return { value: text, text }
  }
}

/** As an expectation of `calls` or `deliveries` sees one of them. */
const asJson = ({ kind, id, item, target, headers, body, orderKey }: ObservedCall): JsonObject => ({
  ...(kind === undefined ? {} : { kind }),
  id,
  ...(item === undefined ? {} : { item }),
  ...target,
  ...(orderKey === undefined ? {} : { orderKey }),
  headers,
  ...(body.value === undefined ? {} : { body: body.value }),
})

/**
 * Everything that the message did to others: a transform under another name changes nothing. Credentials are shown as their
 * digests, so that a change of one is seen.
 */
export function toSnapshot(observed: Observed): JsonObject {
  const { outcome, answer, calls, deliveries, failure, state } = observed
  const { status, headers, body } = answer
  const { error: _sentence, ...shown } = failure ?? {}
  return {
    outcome,
    answer: { status, headers: withDigests(headers), ...(body.value === undefined ? {} : { body: body.value }) },
    ...snapshotOf('calls', calls),
    ...snapshotOf('deliveries', deliveries),
    ...(failure === undefined ? {} : { failure: shown }),
    ...(state === undefined ? {} : { state }),
  }
}

const snapshotOf = (name: 'calls' | 'deliveries', all: readonly ObservedCall[]): JsonObject =>
  all.length === 0 ? {} : { [name]: all.map((one) => asJson({ ...one, headers: withDigests(one.headers) })) }

const withDigests = (headers: Readonly<Record<string, Json>>): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretName(name) ? `${REDACTED} ${computeDigest(value)}` : value,
    ]),
  )

/** Long enough to notice a change, too short to find the value by trying. */
const computeDigest = (value: Json): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8)

/** The same with every text changed. */
export function changeObserved(observed: Observed, change: (text: string) => string): Observed {
  const changed = <T extends Json | undefined>(value: T): T =>
    (value === undefined ? value : changeTexts(value, change)) as T
  const body = ({ value, text }: ObservedBody): ObservedBody => ({ value: changed(value), text: changed(text) })
  const call = (one: ObservedCall): ObservedCall => ({
    ...one,
    target: changed(one.target),
    headers: changed(one.headers),
    body: body(one.body),
    ...(one.orderKey === undefined ? {} : { orderKey: change(one.orderKey) }),
  })
  return {
    ...observed,
    answer: { ...observed.answer, headers: changed(observed.answer.headers), body: body(observed.answer.body) },
    calls: observed.calls.map(call),
    deliveries: observed.deliveries.map(call),
    failure: changed(observed.failure),
    transforms: changed(observed.transforms),
    mapped: changed(observed.mapped),
    state: changed(observed.state),
  }
}

type Made = keyof typeof ONE
const ONE = { calls: 'call', deliveries: 'delivery' } as const

/**
 * Of calls, or of deliveries in the same way. A plain array holds all calls: the n-th expectation of an id is for the n-th call of that request, and the order among
 * different requests does not count, since they are sent at once. An operator sees the array of all calls, in which objects
 * may have more members.
 */
export function callMismatches(
  name: Made,
  expected: Json | undefined,
  calls: readonly ObservedCall[],
  matcher: Matcher,
): readonly Mismatch[] {
  if (expected === undefined) return []
  const pointer = `/expect/${name}`
  if (parseOperator(expected) !== undefined) {
    return matcher.mismatches(expected, calls.map(asJson), { pointer, isPartial: true })
  }
  const left = [...calls]
  const mismatches = (expected as readonly Json[]).flatMap((one, index): readonly Mismatch[] => {
    const wanted = isObject(one) ? one : {}
    const place = { pointer: `${pointer}/${index}` }
    const at = left.findIndex(({ kind, id }) => id === wanted.id && (wanted.kind === undefined || wanted.kind === kind))
    const [call] = at === -1 ? [] : left.splice(at, 1)
    return call === undefined ? [notMade(name, wanted, calls, place)] : oneMismatches(wanted, call, place, matcher)
  })
  return [...mismatches, ...left.map((call) => notExpected(name, call, pointer))]
}

function oneMismatches(
  wanted: JsonObject,
  call: ObservedCall,
  place: MatchLocation,
  matcher: Matcher,
): readonly Mismatch[] {
  const actual = asJson(call)
  return Object.entries(wanted).flatMap(([name, value]) => {
    const at = { pointer: `${place.pointer}/${name}` }
    if (name === 'headers') return headerMismatches(value, call.headers, at, matcher)
    const found = Object.hasOwn(actual, name) ? actual[name] : undefined
    return matcher.mismatches(value, found, name === 'body' ? { ...at, text: call.body.text } : at)
  })
}

/** Headers without an expectation are not checked; upper and lower case of names do not count. */
export function headerMismatches(
  expected: Json,
  headers: ObservedCall['headers'],
  place: MatchLocation,
  matcher: Matcher,
): readonly Mismatch[] {
  if (!isObject(expected) || parseOperator(expected) !== undefined) return matcher.mismatches(expected, headers, place)
  return Object.entries(expected).flatMap(([name, value]) =>
    matcher.mismatches(value, headers[name.toLowerCase()], { pointer: `${place.pointer}/${name}` }),
  )
}

function notMade(name: Made, wanted: JsonObject, calls: readonly ObservedCall[], { pointer }: MatchLocation): Mismatch {
  const ids = [...new Set(calls.map(({ id }) => id))]
  const id = String(wanted.id)
  const made = ids.length === 0 ? `no ${ONE[name]}` : `${name} of ${ids.join(', ')}`
  const more = calls.some((call) => call.id === id) ? `no more ${name} of "${id}"` : `no ${ONE[name]} of "${id}"`
  const hint = ids.includes(id) ? '.' : didYouMean(id, ids)
  return { path: pointer, expected: wanted, message: `The message made ${more}; it made ${made}${hint}` }
}

function notExpected(name: Made, call: ObservedCall, pointer: string): Mismatch {
  const { headers: _headers, ...actual } = asJson(call)
  return {
    path: pointer,
    actual,
    message: `The message made a ${ONE[name]} of "${call.id}" that is not expected; "$contains" allows further ${name}.`,
  }
}
