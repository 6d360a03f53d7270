import type { NewDelivery } from '../../core/deliveries/delivery.ts'
import { Failure } from '../../core/failure.ts'
import { sendsNoBody } from '../../core/http.ts'
import type { Awaitable, Json } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Answered, Serialised } from '../../core/message.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import { callKey, type Run } from '../../core/run.ts'
import { noteAnswer, noteDelivery, noteNotMade } from '../../core/tracing/trace.ts'
import { type Endpoint, isDurable, mapsAnswer, type ResponseRequest, soleAmong } from '../../document/schema/schema.ts'
import type { Codec, ParserSettings } from '../../formats/codec.ts'
import {
  codecForFormat,
  codecForSending,
  DEFAULT_FORMAT,
  type OutputFormat,
  outputFormat,
} from '../../formats/codecs.ts'
import { parsePath } from '../../language/paths/path.ts'
import { hasStatus } from '../../language/status-set.ts'
import { targetOf } from '../../outbound/targets.ts'
import type { Stage } from '../chain.ts'
import { createExpressionCompiler } from '../expressions.ts'
import { compileEntries } from '../mapping-entries.ts'
import { andThen, compileReady, prepareAll, settleAll } from '../requests/for-each.ts'
import { readRefused, refusal } from '../requests/refusal.ts'
import { compileCall, type RequestCall } from '../requests/request-call.ts'
import type { CallScope } from '../requests/request-parameters.ts'
import {
  aggregate,
  isAtFault,
  passOn,
  type RequestOutcome,
  type RequestResult,
  withoutResponse,
} from '../requests/response-answer.ts'
import { compileResponses } from '../requests/response-roots.ts'
import type { CallEnding } from '../requests/send-call.ts'
import { compileStoredAnswer, storedResult } from '../requests/stored-answer.ts'
import type { StoredCall } from '../requests/stored-call.ts'
import { compileTimed } from '../requests/timed.ts'
import { NOTHING, readAnyContent } from '../requests/upstream-answer.ts'
import { compileWhen } from '../requests/when.ts'
import type { PipelineSettings, Services } from '../services.ts'
import { writePaid } from './serialise.ts'
import { usesState } from './state.ts'

type Ready = (run: Run) => Promise<RequestResult | RequestResult[]>
type Prepare<Made = Ready> = (message: Serialised, run: Run) => Awaitable<Made>
/** `prepare` gives undefined where its `when` does not hold. */
type Response = Readonly<{ id: string; path: string; prepare: Prepare<Ready | undefined> }>

/** The response requests that are made for a message. `alone`: the index of the one whose answer is passed on, or -1. */
type Made = Readonly<{
  responses: readonly Response[]
  alone: number
  promised: readonly number[]
  /** All of them are stored and none is sent. */
  isStored: boolean
}>

/**
 * Sends the output to the response requests that are made for the message, all at once, and makes the answer from their answers.
 *
 * In: `output`. Out: adds `answer`, and `responses` for a document with `answer`; without response requests, the output itself.
 * Lints: everything that compileCall does. Fails: PARAMETER_INVALID, FOREACH_INVALID and NOT_ROUTED before anything is sent. Then
 * RESPONSE_UNREACHABLE, RESPONSE_TIMED_OUT, RESPONSE_REFUSED and RESPONSE_UNREADABLE: of the only or primary response and
 * of every topic; for a record, of every response.
 */
export function compileRespond(
  endpoint: Endpoint,
  id: string,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Stage<Serialised, Answered> {
  const format = outputFormat(endpoint.transformation.output, endpoint)
  const requests = endpoint.requests.response
  if (requests.length === 0) return answerOutput(format)
  const responses = requests.map((request, index) =>
    compileOne(request, endpoint, id, services, settings, lint.at('requests', 'response', index)),
  )
  // A format that holds the answers of all requests: the document makes another body of them.
  const together = mapsAnswer(endpoint) ? outputFormat(DEFAULT_FORMAT) : format
  const answerStored = compileStoredAnswer(id, mapsAnswer(endpoint) ? DEFAULT_FORMAT : endpoint.transformation.output)
  const choose = (indexes: readonly number[]): Made => {
    const made = indexes.map((index) => requests[index] as ResponseRequest)
    const sole = soleAmong(made)
    return {
      responses: indexes.map((index) => responses[index] as Response),
      alone: sole === undefined ? -1 : made.indexOf(sole),
      isStored: made.every(isDurable),
      promised: made.flatMap((request, index) => (targetOf(request).promise === undefined ? [] : [index])),
    }
  }

  const answer = (
    { responses, alone, promised, isStored }: Made,
    message: Serialised,
    run: Run,
    outcomes: readonly (RequestResult | RequestResult[])[],
  ): Answered => {
    if (isStored) return { ...message, answer: answerStored(run) }
    if (!run.door.isAnswered) refuseFailed(responses, outcomes)
    const outcome = alone < 0 ? undefined : (outcomes[alone] as RequestResult)
    if (outcome instanceof Failure) throw outcome
    refuseUndelivered(promised, outcomes)
    if (outcome === undefined) {
      const aggregated = aggregate(responses, outcomes, together, run)
      return {
        ...message,
        answer: aggregated.partial ? { ...aggregated, ...findCause(responses, outcomes) } : aggregated,
      }
    }
    if ('forgiven' in outcome) return { ...message, answer: withoutResponse(message.output, outcome, format) }
    const passed = passOn(outcome.answer, outcome.content, format, run)
    if (!outcome.ok)
      return {
        ...message,
        answer: { ...passed, refused: true, ...findCause([responses[alone] as Response], [outcome]) },
      }
    const partial = outcomes.flat().some(isAtFault)
    return { ...message, answer: partial ? { ...passed, partial, ...findCause(responses, outcomes) } : passed }
  }
  const gather = compileResponses(endpoint, settings)
  // Only a state has the times: other endpoints do not pay for them.
  const timed = usesState(endpoint) ? compileTimed('responseTimes') : undefined
  const sendAll = (made: Made, ready: readonly Ready[], message: Serialised, run: Run): Promise<Answered> =>
    settleAll(
      ready.map((send, index) => timed?.((made.responses[index] as Response).id, send, run) ?? send(run)),
      (outcomes) => {
        const answered = answer(made, message, run, outcomes)
        run.isDelivered = outcomes.flat().every((outcome) => 'ok' in outcome && outcome.ok)
        return gather === undefined ? answered : { ...answered, responses: gather(made.responses, outcomes) }
      },
    )
  if (requests.every(({ when }) => when === undefined)) {
    const all = choose([...requests.keys()])
    return (message, run) => {
      const ready = prepareAll(responses, ({ prepare }) => (prepare as Prepare)(message, run))
      return ready instanceof Promise
        ? ready.then((built) => sendAll(all, built, message, run))
        : sendAll(all, ready, message, run)
    }
  }
  const unrouted = endpoint.unrouted === 'answer' ? answerOutput(format) : refuseUnrouted
  return (message, run) =>
    andThen(
      prepareAll(responses, ({ prepare }) => prepare(message, run)),
      (ready) => {
        const indexes = [...ready.keys()].filter((index) => ready[index] !== undefined)
        if (indexes.length === 0) return unrouted(message, run)
        return sendAll(
          choose(indexes),
          ready.filter((one) => one !== undefined),
          message,
          run,
        )
      },
    )
}

const refuseUnrouted = (): never => {
  throw new Failure(
    'NOT_ROUTED',
    'None of the response requests is made for this message: "when" gave true for none of them.',
    {
      path: 'requests.response',
    },
  )
}

function answerOutput({ mediaType }: OutputFormat): Stage<Serialised, Answered> {
  const headers = { 'content-type': mediaType }
  return (message, run) => {
    run.isDelivered = true
    return { ...message, answer: { status: 200, headers, body: message.output } }
  }
}

function compileOne(
  request: ResponseRequest,
  endpoint: Endpoint,
  endpointId: string,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): Response {
  const call = compileCall('RESPONSE', request, endpoint, services, settings, lint)
  const { output } = endpoint.transformation
  const form = outgoingForm(call.contentType, endpoint)
  if (call.contentType !== undefined && form.contentType !== call.contentType) {
    lint
      .at('config', 'headers')
      .warning(
        `A Content-Type that nothing can be written as gives way to ${form.contentType}, the type of the output.`,
      )
  }
  const { method } = request.config ?? {}
  const bodiless = targetOf(request).isHttp && sendsNoBody(method)
  const asOutput = form.codec === codecForFormat(output, endpoint)
  const outcomes = createOutcomeEnding(call, settings, endpoint)
  const ending = request.optional === true ? forgiving(outcomes, request.default) : outcomes
  const source = repeatableSource(request)
  const wasDelivered = (run: Run, item: number | undefined): boolean => {
    const isSame = source === 'message' || (source === 'lookups' && run.recordedAnswers !== undefined)
    const before = isSame ? run.delivered?.get(callKey(call.id, item)) : undefined
    if (before !== true && (before === undefined || !hasStatus(call.allowed, before))) return false
    noteNotMade(run.trace, {
      kind: 'response',
      id: call.id,
      ...(item === undefined ? {} : { item }),
      why: 'delivered',
    })
    return true
  }
  const send = (prepared: PreparedRequest, content: Content, run: Run, item: number | undefined) => {
    const body = bodiless ? undefined : { content, contentType: form.contentType }
    return call.send(prepared, body, run, item, ending)
  }
  const { deliveries } = services
  const store = ({ request: made, ...names }: StoredCall, content: Content, run: Run, item: number | undefined) => {
    const delivery: NewDelivery = {
      ...names,
      id: deliveries.newId(),
      messageId: run.messageId,
      endpointId,
      endpoint: endpoint.name,
      requestId: call.id,
      ...(item === undefined ? {} : { item }),
      request: { ...made, contentType: bodiless ? undefined : form.contentType },
      body: bodiless ? undefined : content,
    }
    noteDelivery(run.trace, delivery)
    return Promise.resolve(storedResult(delivery))
  }
  const ofMessage = (message: CallScope, run: Run): Content =>
    asOutput ? (message as Serialised).output : writePaid(message.responseBody as Json, form.codec, run, call.path)
  const ofItem = ({ item }: CallScope, run: Run): Content =>
    bodiless ? '' : writePaid(item as Json, form.codec, run, call.path)
  const mapped = compileOwnMapping(request, form.codec, endpoint, services, settings, lint)
  const readContent = mapped ?? (call.items === undefined ? ofMessage : ofItem)
  const compileSending = <Prepared>(prepareOne: PrepareOne<Prepared>, sendOne: SendOne<Prepared>): Prepare =>
    compileReady(call, prepareOne, readContent, (prepared, content, run, item) =>
      wasDelivered(run, item) ? Promise.resolve(DELIVERED_BEFORE) : sendOne(prepared, content, run, item),
    )
  const { prepare, prepareStored } = call
  const ready = prepareStored === undefined ? compileSending(prepare, send) : compileSending(prepareStored, store)
  const whole = compileWhen('response', request, ready, endpoint, services, settings, lint)
  return { id: request.id, path: call.path, prepare: whole }
}

/** What the items of a replay are of, if they are the same as before: those of lookups are, unless these are asked again. */
function repeatableSource({ forEach }: ResponseRequest): 'message' | 'lookups' | undefined {
  const items = parsePath(forEach?.items ?? 'requestBody')
  const root = items.ok ? items.value.root : undefined
  if (root === 'lookupRequests') return 'lookups'
  return root === 'payload' || root === 'requestBody' ? 'message' : undefined
}

/** What an earlier run of the message has delivered; its answer is not known any more. */
const DELIVERED_BEFORE: RequestResult = {
  answer: { status: 204, headers: {}, body: new Uint8Array() },
  content: NOTHING,
  ok: true,
}

type Content = string | Uint8Array
type PrepareOne<Prepared> = (scope: CallScope, run: Run) => Awaitable<Prepared>
type SendOne<Prepared> = (
  prepared: Prepared,
  content: Content,
  run: Run,
  item: number | undefined,
) => Promise<RequestResult>

/** The body of a request with a mapping of its own; undefined without one. */
function compileOwnMapping(
  { mapping, forEach }: ResponseRequest,
  codec: Codec,
  endpoint: Endpoint,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): ((scope: CallScope, run: Run) => Awaitable<Content>) | undefined {
  if (mapping === undefined) return undefined
  const stage = forEach === undefined ? 'respond' : 'respond-item'
  const sink = lint.at('mapping')
  const compileExpression = createExpressionCompiler(endpoint, settings, services)
  const apply = compileEntries(mapping, stage, endpoint, sink, compileExpression, services.observer?.mapping)
  return (scope, run) => andThen(apply(scope, run), (value) => writePaid(value, codec, run, sink.path))
}

/** What an outgoing body is sent as: the format of the request's own Content-Type if it has one, else the output's. */
function outgoingForm(own: string | undefined, endpoint: Endpoint): Readonly<{ codec: Codec; contentType: string }> {
  const named = codecForSending(own, endpoint)
  if (own !== undefined && named !== undefined) return { codec: named, contentType: own }
  const { codec, mediaType } = outputFormat(endpoint.transformation.output, endpoint)
  return { codec, contentType: mediaType }
}

/** Waits for nothing. */
type OutcomeEnding = Readonly<{
  answered(answer: OutboundAnswer, run: Run): RequestOutcome
  failed(failure: Failure, run: Run): RequestOutcome
}>

/** Reads the answer. Does not throw a Failure, as only the other responses decide whether it fails the message. */
const createOutcomeEnding = (
  { allowed }: RequestCall,
  settings: ParserSettings,
  endpoint: Endpoint,
): OutcomeEnding => ({
  answered: (answer, run) => {
    const ok = hasStatus(allowed, answer.status)
    const content = readAnyContent(answer, settings, !ok, endpoint)
    if (content.unreadable !== undefined) noteAnswer(run.trace, answer, content.unreadable)
    return ok ? { answer, content, ok } : { answer, content, ok, refused: readRefused(run.trace, answer) }
  },
  failed: (failure) => failure,
})

const forgiving = (ending: OutcomeEnding, instead: Json | undefined): CallEnding<RequestResult> => ({
  answered: (answer, run) => forgive(ending.answered(answer, run), instead),
  failed: (failure, run) => forgive(ending.failed(failure, run), instead),
})

/** A success promises some deliveries, such as that of a record, so it is never partial without them. */
function refuseUndelivered(promised: readonly number[], outcomes: readonly (RequestResult | RequestResult[])[]): void {
  throwFirst(promised.flatMap((index) => outcomes[index] ?? []).filter((outcome) => outcome instanceof Failure))
}

/** A record has no reader of its answer, so a failure of any response fails the record. */
function refuseFailed(responses: readonly Response[], outcomes: readonly (RequestResult | RequestResult[])[]): void {
  throwFirst(listFailures(responses, outcomes))
}

/** Those of optional requests are none. */
function listFailures(
  responses: readonly Response[],
  outcomes: readonly (RequestResult | RequestResult[])[],
): readonly Failure[] {
  return outcomes.flatMap((outcome, index) =>
    [outcome].flat().flatMap((one) => {
      if (one instanceof Failure) return [one]
      return 'forgiven' in one || one.ok ? [] : [createRefusal(responses[index] as Response, one)]
    }),
  )
}

/** The first request that did not succeed, for those who read the record: the answer has the statuses and bodies alone. */
function findCause(
  responses: readonly Response[],
  outcomes: readonly (RequestResult | RequestResult[])[],
): Readonly<{ why?: Failure }> {
  const [why] = listFailures(responses, outcomes)
  if (why === undefined) return {}
  why.stage = 'respond'
  return { why }
}

/** A failure that may succeed later comes first: only that is worth sending the message again. */
function throwFirst(failures: readonly Failure[]): void {
  const first = failures.find(({ retry }) => retry) ?? failures[0]
  if (first !== undefined) throw first
}

const createRefusal = ({ id, path }: Response, { answer, refused }: Exclude<RequestOutcome, Failure>): Failure =>
  refusal('RESPONSE_REFUSED', id, path, answer, refused)

const forgive = (outcome: RequestOutcome, instead: Json | undefined): RequestResult =>
  isAtFault(outcome) ? { forgiven: outcome, instead } : outcome
