import { Failure } from '../../core/failure.ts'
import type { Awaitable, Json, JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Enriched, Parsed } from '../../core/message.ts'
import type { Body } from '../../core/ports/destination.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { Run } from '../../core/run.ts'
import { lookupOrder, lookupsWithStatus } from '../../document/reads/lookup-order.ts'
import type { Endpoint, LookupRequest } from '../../document/schema/schema.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { ParserSettings } from '../../formats/codec.ts'
import { hasStatus } from '../../language/status-set.ts'
import type { Step } from '../chain.ts'
import { answersInFhir } from '../reply.ts'
import { andThen, compileReady, prepareAll, settleAll } from '../requests/for-each.ts'
import { compilePages } from '../requests/lookup-pages.ts'
import { compileLookupValidation } from '../requests/lookup-validation.ts'
import { compileInOrder } from '../requests/lookups-in-order.ts'
import { readRefused, refusal } from '../requests/refusal.ts'
import { compileLookupBody } from '../requests/request-body.ts'
import { compileCall, type RequestCall } from '../requests/request-call.ts'
import type { CallScope } from '../requests/request-parameters.ts'
import type { CallEnding } from '../requests/send-call.ts'
import { compileTimed } from '../requests/timed.ts'
import { readIssues, readLookupData } from '../requests/upstream-answer.ts'
import { compileWhen } from '../requests/when.ts'
import type { PipelineSettings, Services } from '../services.ts'

/** Without data if an optional lookup failed and has no default; with the status if the document reads it. */
type Result = { data?: Json; headers: JsonObject; status?: number }

/** Sends a lookup that could be built from the message. */
type Ready = (run: Run) => Promise<Result | Result[]>
type Prepare<Made = Ready> = (message: Parsed, run: Run) => Awaitable<Made>
/** `prepare` gives undefined where its `when` does not hold. */
type Lookup = Readonly<{ id: string; prepare: Prepare<Ready | undefined> }>

/**
 * Makes all lookups at once, after all of them are built from the message; those that read others as soon as these are done.
 *
 * In: `requestBody`. Out: adds `lookupRequests` and `timestamps.lookupRequests`.
 * Lints: everything that compileCall does.
 * Fails: PARAMETER_INVALID and FOREACH_INVALID, before anything is sent unless the lookup reads others; LOOKUP_REFUSED, LOOKUP_UNREACHABLE,
 * LOOKUP_TIMED_OUT, LOOKUP_UNREADABLE, LOOKUP_INVALID, LOOKUP_PAGING_FAILED, LOOKUP_CIRCUIT_OPEN, EGRESS_DENIED, DEADLINE_EXCEEDED, but none of these for an
 * optional lookup. Of several failures, the first in the order of the document.
 */
export function compileLookup(
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Step<Parsed, Enriched> {
  const withStatus = lookupsWithStatus(endpoint)
  const lookups = endpoint.requests.lookup.map((request, index) =>
    compileOne(request, endpoint, services, settings, lint.at('requests', 'lookup', index), withStatus.has(request.id)),
  )
  if (lookups.length === 0) return { adds: { lookupRequests: {} } }
  const timed = compileTimed('lookupTimes')
  const send = (index: number, ready: Ready, run: Run) => timed((lookups[index] as Lookup).id, ready, run)
  const enrich = (message: Parsed, run: Run, lookupRequests: JsonObject): Enriched => {
    const timestamps = { ...message.timestamps, lookupRequests: { ...run.lookupTimes } }
    return { ...message, timestamps, lookupRequests }
  }
  const isConditional = endpoint.requests.lookup.some(({ when }) => when !== undefined)
  const order = lookupOrder(endpoint) ?? (isConditional ? lookups.map(() => []) : undefined)
  if (order !== undefined) {
    const makeAll = compileInOrder(lookups, order, send)
    return (message, run) => andThen(makeAll(message, run), (lookupRequests) => enrich(message, run, lookupRequests))
  }
  const sendAll = (ready: readonly Ready[], message: Parsed, run: Run): Promise<Enriched> =>
    settleAll(
      ready.map((one, index) => send(index, one, run)),
      (results) =>
        enrich(message, run, Object.fromEntries(lookups.map(({ id }, index) => [id, results[index] as Json]))),
    )
  return (message, run) => {
    const ready = prepareAll(lookups, ({ prepare }) => (prepare as Prepare)(message, run))
    return ready instanceof Promise ? ready.then((all) => sendAll(all, message, run)) : sendAll(ready, message, run)
  }
}

function compileOne(
  request: LookupRequest,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
  keepsStatus: boolean,
): Lookup {
  const call = compileCall('LOOKUP', request, endpoint, services, settings, lint)
  const inFhir = answersInFhir(endpoint) ?? request.fhirResponse === true
  const fallback = request.optional === true ? fallbackResult(request) : undefined
  const read = (answer: OutboundAnswer, { trace }: Run): Result => {
    if (!hasStatus(call.allowed, answer.status)) {
      const issues = inFhir ? readIssues(answer) : []
      throw refusal('LOOKUP_REFUSED', call.id, call.path, answer, readRefused(trace, answer), issues)
    }
    return { data: readData(call, answer, settings, endpoint), headers: answer.headers }
  }
  const withStatus = (result: Result, { status }: OutboundAnswer): Result =>
    keepsStatus ? { ...result, status } : result
  const failed = (failure: Failure, run: Run): Result => {
    const { lookup: fault } = failure.kind
    if (fault === 'unanswered') run.lookups.networkError = true
    if (fallback !== undefined && fault !== undefined) return fallback
    throw failure
  }
  const recover = (thrown: unknown, run: Run, answer?: OutboundAnswer): Result => {
    if (!(thrown instanceof Failure)) throw thrown
    answer?.forget?.()
    const result = failed(thrown, run)
    return answer === undefined ? result : withStatus(result, answer)
  }
  const validate = compileLookupValidation(request, services, settings, lint)
  const readValid = (answer: OutboundAnswer, run: Run, item: number | undefined): Awaitable<Result> => {
    run.lookups.highestStatus = Math.max(run.lookups.highestStatus ?? 0, answer.status)
    const result = withStatus(read(answer, run), answer)
    if (validate === undefined) return result
    return andThen(validate(result.data ?? null, item, run), (data) => ({ ...result, data }))
  }
  const ending: CallEnding<Result> = {
    answered: (answer, run, item) => {
      try {
        const result = readValid(answer, run, item)
        return result instanceof Promise ? result.catch((thrown: unknown) => recover(thrown, run, answer)) : result
      } catch (thrown) {
        return recover(thrown, run, answer)
      }
    },
    failed,
  }
  const sendPages = compilePages(request, call, readValid, endpoint, services, settings, lint)
  const readBody = compileLookupBody(request, call, endpoint, services, settings, lint)
  const send = (
    prepared: PreparedRequest,
    body: Body | undefined,
    run: Run,
    item: number | undefined,
    message: CallScope,
  ): Promise<Result> =>
    sendPages === undefined
      ? call.send(prepared, body, run, item, ending)
      : sendPages(prepared, body, message, run).catch((thrown: unknown) => recover(thrown, run))
  const prepare: Prepare = compileReady(call, call.prepare, readBody ?? sendNothing, send)
  const whole = compileWhen('lookup', request, prepare, endpoint, services, settings, lint)
  return { id: request.id, prepare: request.fhirResponse === true ? withOutcomes(whole) : whole }
}

const sendNothing = () => undefined

/** The result of an optional lookup that failed. */
const fallbackResult = ({ default: data }: LookupRequest): Result =>
  data === undefined ? { headers: {} } : { data, headers: {} }

function readData(call: RequestCall, answer: OutboundAnswer, settings: ParserSettings, endpoint: Endpoint): Json {
  try {
    return readLookupData(answer, settings, endpoint)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const sentence = (text: string) => `The answer of the lookup "${call.id}" cannot be read: ${text}`
    const unquoted = sentence(thrown.unquoted)
    throw new Failure('LOOKUP_UNREADABLE', sentence(thrown.message), { path: call.path, unquoted })
  }
}

/** Marks all failures of a lookup with `fhirResponse`, so that the answer is an OperationOutcome. */
function withOutcomes(prepare: Lookup['prepare']): Lookup['prepare'] {
  const rethrow = (thrown: unknown): never => {
    if (!(thrown instanceof Failure)) throw thrown
    throw new Failure(thrown.code, thrown.message, { ...thrown.options, fhir: true, cause: thrown.cause })
  }
  const withRethrow = (send: Ready | undefined): Ready | undefined => send && ((run) => send(run).catch(rethrow))
  return (message, run) => {
    try {
      const send = prepare(message, run)
      return send instanceof Promise ? send.then(withRethrow, rethrow) : withRethrow(send)
    } catch (thrown) {
      return rethrow(thrown)
    }
  }
}
