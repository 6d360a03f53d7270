import type { Endpoint, LookupRequest } from '../../config/schema/schema.ts'
import { Failure, type FailureCode } from '../../domain/failure.ts'
import { createIsoTime } from '../../domain/iso-time.ts'
import type { Json, JsonObject } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import type { Enriched, Parsed } from '../../domain/message.ts'
import type { OutboundAnswer } from '../../domain/ports/http-client-port.ts'
import type { Run } from '../../domain/run.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { Codec, ParserSettings } from '../../formats/codec.ts'
import { CODECS, codecOfFormat, codecOfHeader } from '../../formats/codecs.ts'
import { parseMediaType } from '../../formats/media-type.ts'
import { hasStatus } from '../../language/status-set.ts'
import type { Step } from '../chain.ts'
import { compileCall } from '../requests/compile-call.ts'
import { mapItems, settleAll } from '../requests/for-each.ts'
import type { Body, PreparedRequest, RequestCall } from '../requests/request-call.ts'
import { readContent, refusalText } from '../requests/upstream-content.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { write } from './serialise.ts'

/** Without data where an optional lookup failed that has no default. */
type Result = { data?: Json; headers: JsonObject }

/** A lookup that is ready to be sent: everything that the message could be wrong in was found. */
type Ready = (run: Run) => Promise<Result | Result[]>
type Lookup = Readonly<{ id: string; prepare(message: Parsed, run: Run): Ready }>

/** What a lookup fails with where no answer came: kept with the state. */
const NETWORK_ERRORS: ReadonlySet<FailureCode> = new Set([
  'LOOKUP_UNREACHABLE',
  'LOOKUP_TIMED_OUT',
  'LOOKUP_CIRCUIT_OPEN',
])

/** What an optional lookup may fail with; what is wrong with the message, and bugs, are none of it. */
const OF_CALLS: ReadonlySet<FailureCode> = new Set([
  ...NETWORK_ERRORS,
  'LOOKUP_REFUSED',
  'LOOKUP_UNREADABLE',
  'EGRESS_DENIED',
  'DEADLINE_EXCEEDED',
])

/**
 * Makes all lookups at once, after the calls of all of them could be built from the message.
 *
 * In: `requestBody`. Out: adds `lookupRequests` and `timestamps.lookupRequests`.
 * Lints: everything that compileCall does.
 * Fails: PARAMETER_INVALID and FOREACH_INVALID before anything is sent; LOOKUP_REFUSED, LOOKUP_UNREACHABLE,
 * LOOKUP_TIMED_OUT, LOOKUP_UNREADABLE, LOOKUP_CIRCUIT_OPEN, EGRESS_DENIED, DEADLINE_EXCEEDED, but none of these for one
 * that is optional; with several failures, the first in the order of the document.
 */
export function compileLookup(
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Step<Parsed, Enriched> {
  const lookups = endpoint.requests.lookup.map((request, index) =>
    compileOne(request, endpoint, services, settings, lint.at('requests', 'lookup', index)),
  )
  if (lookups.length === 0) return { adds: { lookupRequests: {} } }
  const times = compileTimes()
  const timed = async (id: string, send: Ready, run: Run): Promise<Result | Result[]> => {
    const start = run.clock()
    try {
      return await send(run)
    } finally {
      run.lookupTimes[id] = times(start, run.clock())
    }
  }
  const widen = (message: Parsed, run: Run, lookupRequests: JsonObject): Enriched => {
    const timestamps = { ...message.timestamps, lookupRequests: { ...run.lookupTimes } }
    return { ...message, timestamps, lookupRequests }
  }

  const [only] = lookups
  if (only !== undefined && lookups.length === 1) {
    // By far the most frequent number: nothing has to be put together.
    const { id, prepare } = only
    return async (message, run) => widen(message, run, { [id]: await timed(id, prepare(message, run), run) })
  }
  return async (message, run) => {
    const ready = lookups.map(({ id, prepare }) => ({ id, send: prepare(message, run) }))
    const results = await settleAll(ready.map(({ id, send }) => timed(id, send, run)))
    return widen(message, run, Object.fromEntries(ready.map(({ id }, index) => [id, results[index] as Json])))
  }
}

function compileTimes(): (start: number, end: number) => JsonObject {
  const isoOfStart = createIsoTime()
  const isoOfEnd = createIsoTime()
  return (start, end) => ({
    requestStart: isoOfStart(start),
    requestEnd: isoOfEnd(end),
    requestDuration: { milliseconds: end - start },
  })
}

function compileOne(
  request: LookupRequest,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Lookup {
  const call = compileCall('LOOKUP', request, endpoint, services, settings, lint)
  const { items } = call
  const instead = request.optional === true ? insteadOf(request) : undefined
  const lookup = async (
    prepared: PreparedRequest,
    body: Body | undefined,
    run: Run,
    item?: number,
  ): Promise<Result> => {
    try {
      const answer = await call.send(prepared, body, run, item)
      run.lookups.highestStatus = Math.max(run.lookups.highestStatus ?? 0, answer.status)
      if (!hasStatus(call.allowed, answer.status)) throw refusal(call, answer)
      return { data: readData(call, answer, settings), headers: answer.headers }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      if (NETWORK_ERRORS.has(thrown.code)) run.lookups.networkError = true
      if (instead !== undefined && OF_CALLS.has(thrown.code)) return instead
      throw thrown
    }
  }
  const finish = (prepare: Lookup['prepare']): Lookup => ({
    id: request.id,
    prepare: request.fhirResponse === true ? withOutcomes(prepare) : prepare,
  })

  if (items === undefined) {
    const forward = request.forwardExistingRequestBody === true ? compileForward(endpoint, call) : () => undefined
    return finish((message, run) => {
      const prepared = call.prepare(message)
      const body = forward(message, run)
      return () => lookup(prepared, body, run)
    })
  }
  const bodyOf = request.forwardExistingRequestBody === true ? compileItemBody(call) : () => undefined
  return finish((message, run) => {
    const calls = items(message).map((item) => [call.prepare({ ...message, item }), bodyOf(item)] as const)
    return () => mapItems(calls, call.concurrency, ([prepared, body], item) => lookup(prepared, body, run, item))
  })
}

/** What the message goes on with where an optional lookup failed: paths into its data find the default, or nothing. */
const insteadOf = ({ default: data }: LookupRequest): Result =>
  data === undefined ? { headers: {} } : { data, headers: {} }

function readData(call: RequestCall, answer: OutboundAnswer, settings: ParserSettings): Json {
  try {
    return readContent(answer, settings).value
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const sentence = (text: string) => `The answer of the lookup "${call.id}" cannot be read: ${text}`
    const unquoted = sentence(thrown.unquoted)
    throw new Failure('LOOKUP_UNREADABLE', sentence(thrown.message), { path: call.path, unquoted })
  }
}

/** An answer outside allowedStatuses: its own status where that is a failure, for the message's sender to see. */
function refusal(call: RequestCall, answer: OutboundAnswer): Failure {
  const { text, unquoted } = refusalText(`The lookup "${call.id}" answered with status ${answer.status}`, answer)
  return new Failure('LOOKUP_REFUSED', text, {
    path: call.path,
    status: answer.status >= 400 && answer.status <= 599 ? answer.status : 502,
    unquoted,
  })
}

/** Marks what a lookup with `fhirResponse` fails with, before it is sent and after, for the answer to be an OperationOutcome. */
function withOutcomes(prepare: Lookup['prepare']): Lookup['prepare'] {
  const rethrow = (thrown: unknown): never => {
    if (!(thrown instanceof Failure)) throw thrown
    throw new Failure(thrown.code, thrown.message, { ...thrown.options, fhir: true, cause: thrown.cause })
  }
  return (message, run) => {
    try {
      const send = prepare(message, run)
      return () => send(run).catch(rethrow)
    } catch (thrown) {
      return rethrow(thrown)
    }
  }
}

/** What a forwarded body is sent as: the format of the request's own Content-Type, else JSON. */
function formOf({ contentType }: RequestCall): Readonly<{ codec: Codec; contentType: string }> {
  return { codec: codecOfHeader(contentType) ?? CODECS.json, contentType: contentType ?? CODECS.json.mediaType }
}

/**
 * The incoming body for `forwardExistingRequestBody`. A body that came in the format that is sent goes on byte for byte, so that
 * neither digits nor the root element are lost. The body of a GET or DELETE was never parsed, and does not go on.
 */
function compileForward(endpoint: Endpoint, call: RequestCall): (message: Parsed, run: Run) => Body {
  const { codec, contentType } = formOf(call)
  const { input } = endpoint.transformation
  const { method } = endpoint.endpoint
  const parsed = method === 'POST' || method === 'PUT'
  const sameForm = parsed && input !== undefined && codecOfFormat(input) === codec
  return (message, run) => {
    const charset = parseMediaType(message.requestHeaders['content-type'] ?? '')?.charset ?? 'utf-8'
    const asItCame = sameForm && run.body !== undefined && run.body.byteLength > 0 && charset.toLowerCase() === 'utf-8'
    return { content: asItCame ? run.body : write(message.requestBody, codec, call.path), contentType }
  }
}

function compileItemBody(call: RequestCall): (item: Json) => Body {
  const { codec, contentType } = formOf(call)
  return (item) => ({ content: write(item, codec, call.path), contentType })
}
