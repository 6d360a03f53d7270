/**
 * The one way into the pipeline, whatever a message came by: gives it an id and a deadline, bounds how many run at
 * once, refuses new ones while the service stops, and reports what became of it.
 */
import { Failure } from '../domain/failure.ts'
import { createIsoTime } from '../domain/iso-time.ts'
import type { Awaitable } from '../domain/json.ts'
import type { Received } from '../domain/message.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Clock, Run } from '../domain/run.ts'
import { startTrace, type Trace, traceSoFar } from '../domain/tracing/trace.ts'
import type { TraceContext } from '../domain/tracing/trace-context.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { KeyedHandle } from '../pipeline/idempotency/idempotency-middleware.ts'
import type { Outcome } from '../pipeline/outcome.ts'
import { codeOf, nameOf } from '../pipeline/outcome.ts'
import { answerFailure } from '../pipeline/reply.ts'
import { type AdmissionLimits, createAdmission, type Peer } from './admission/admission.ts'
import type { Gate } from './admission/concurrency-limiter.ts'
import type { CompletedMessage } from './completed-message.ts'
import { type Incoming, sourceOf } from './incoming-message.ts'
import { createMessageLines } from './message-line.ts'

export interface Intake {
  /**
   * Runs a message; never throws or rejects. It may wait for a place first, as long as its caller does; what was not
   * asked for by somebody who waits for the answer, such as a replay, has none.
   */
  accept(compiled: CompiledEndpoint, incoming: Incoming, peer?: Peer): Awaitable<CompletedMessage>
  /** The same with nobody told of it: a message of a dry run, whose trace the caller keeps. */
  rehearse(compiled: CompiledEndpoint, incoming: Incoming, trace: Trace): Awaitable<CompletedMessage>
  /** Why a message would neither be let in now nor wait for that: OVERLOADED or SHUTTING_DOWN; undefined where it would. */
  refusalAtDoor(compiled: CompiledEndpoint): Failure | undefined
  /** The same of one that does not wait; without `compiled`, of one that is of no endpoint in force. */
  refusal(compiled?: CompiledEndpoint): Failure | undefined
  /** Counts one more for the `rateLimit` of its endpoint; RATE_LIMITED where it is one too many. */
  overRate(compiled: CompiledEndpoint): Failure | undefined
  /** The same of a record, whose consumer bounds by itself how many are under way: SHUTTING_DOWN or nothing. */
  recordRefusal(): Failure | undefined
  /** Answers a failure of a message that did not come as far as the pipeline. */
  refuse(compiled: CompiledEndpoint | undefined, failure: Failure, incoming?: Incoming): CompletedMessage
  readonly inFlight: number
  /** Those that wait for a place. */
  readonly waiting: number
  /** Forgets what was counted of endpoints that are gone; `get` finds what is in force, by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void
  /** Lets no message in any more; resolves when those under way are done. */
  drain(): Promise<void>
  /**
   * Reports the messages still under way as failed, since nobody will be left to tell how they end. Their late end is not
   * reported again.
   */
  giveUp(): void
}

export type IntakeOptions = AdmissionLimits &
  Readonly<{
    clock: Clock
    newId: () => string
    logger: Logger
    messageTimeoutMs: number
    /** Told of each message when it has ended, before it is answered: it must be quick and must not throw. */
    observe: (finished: CompletedMessage) => void
    /** Where a message stands in a trace; left out where nobody traces. */
    traceContext?: ((incoming: Incoming) => TraceContext) | undefined
  }>

export function createIntake(options: IntakeOptions): Intake {
  const { clock, newId, logger, messageTimeoutMs, observe, traceContext } = options
  const isoOf = createIsoTime()
  const logMessage = createMessageLines(logger)
  /** Those that wait for something; the others end within one turn. */
  const waiting = new Set<Waiting>()
  const admission = createAdmission(options)
  /** How to end those that wait for a place. */
  const queued = new Set<(failure: Failure) => void>()
  let inFlight = 0
  let whenIdle: (() => void) | undefined
  let draining = false

  const report = (finished: CompletedMessage): CompletedMessage => {
    logMessage(finished)
    observe(finished)
    return finished
  }
  const finish = ({ compiled, incoming, gate }: Begun, run: Run, result: Outcome): CompletedMessage => {
    inFlight -= 1
    if (!isConsumed(incoming)) admission.free(gate)
    if (inFlight + queued.size === 0) whenIdle?.()
    const { messageId, startedAt, trace } = run
    return finishedOf(result, { messageId, compiled, incoming, startedAt, trace })
  }
  /** Whoever calls this has taken a place for it, unless it is a record. `tell` gets what became of it. */
  const run = (
    begun: Begun,
    startedAt: number,
    trace: Trace,
    tell: (finished: CompletedMessage) => CompletedMessage,
  ) => {
    const { compiled, incoming, handle } = begun
    inFlight += 1
    const messageId = newId()
    const account: Run = {
      messageId,
      clock,
      startedAt,
      deadlineAt: startedAt + messageTimeoutMs,
      isRecord: incoming.isRecord ?? false,
      isPatient: !isRequest(incoming),
      body: incoming.body,
      lookupTimes: {},
      lookups: { highestStatus: undefined, networkError: false },
      trace,
      extracted: undefined,
    }
    const outcome = handle(receive(compiled, incoming, isoOf(startedAt)), account, incoming.caller)
    if (!(outcome instanceof Promise)) return tell(finish(begun, account, outcome))
    const one: Waiting = { messageId, compiled, incoming, startedAt, trace, tell }
    waiting.add(one)
    return outcome.then((result) => {
      const finished = finish(begun, account, result)
      return waiting.delete(one) ? tell(finished) : finished
    })
  }
  /** Its deadline counts from now on, not from when it begins. */
  const queue = (begun: Begun, peer: Peer | undefined): Promise<CompletedMessage> =>
    new Promise((resolve) => {
      const { compiled, incoming, gate } = begun
      const startedAt = clock()
      const trace = startTrace(traceContext?.(incoming))
      const end = (failure: Failure): void => {
        if (queued.delete(end)) resolve(refuse(compiled, failure, incoming, startedAt))
      }
      const begin = (): void => {
        trace.lastMs = performance.now()
        if (queued.delete(end)) resolve(run(begun, startedAt, trace, report))
        else admission.free(gate)
      }
      queued.add(end)
      // Whoever made room is to be answered first.
      admission.wait(compiled, gate, { begin: () => void setImmediate(begin), refuse: end }, peer)
    })
  /** What is no fault of whoever tried the message belongs into the log all the same. */
  const reportBug = (finished: CompletedMessage): CompletedMessage => {
    if (finished.failure?.kind.bug) logMessage(finished)
    return finished
  }
  const recordRefusal = (): Failure | undefined => (draining ? stopping() : undefined)
  const refusal = (compiled?: CompiledEndpoint): Failure | undefined =>
    recordRefusal() ?? admission.refusal(compiled, false)
  const refuse = (
    compiled: CompiledEndpoint | undefined,
    failure: Failure,
    incoming?: Incoming,
    startedAt = clock(),
  ): CompletedMessage => {
    const messageId = newId()
    const answer = answerFailure(failure, compiled?.endpoint.transformation.output ?? 'JSON', messageId)
    return report(finishedOf({ answer, failure }, { messageId, compiled, incoming, startedAt, trace: undefined }))
  }

  return {
    refusal,
    recordRefusal,
    refuse,
    refusalAtDoor: (compiled) => recordRefusal() ?? admission.refusal(compiled, true),
    overRate: admission.overRate,
    keep: admission.keep,
    accept: (compiled, incoming, peer) => {
      const late = recordRefusal()
      if (late !== undefined) return refuse(compiled, late, incoming)
      const gate = admission.gateOf(compiled)
      const { handleKeyed, handle } = compiled
      const begun = {
        compiled,
        incoming,
        gate,
        handle: handleKeyed === undefined || !isRequest(incoming) ? handle : handleKeyed,
      }
      if (isConsumed(incoming) || admission.take(gate)) {
        return run(begun, clock(), startTrace(traceContext?.(incoming)), report)
      }
      const refused = admission.refusal(compiled, incoming.replayOf === undefined)
      return refused === undefined ? queue(begun, peer) : refuse(compiled, refused, incoming)
    },
    rehearse: (compiled, incoming, trace) => {
      const refused = refusal()
      if (refused !== undefined) throw refused
      admission.take(undefined)
      return run({ compiled, incoming, gate: undefined, handle: compiled.handle }, clock(), trace, reportBug)
    },
    get waiting() {
      return queued.size
    },
    get inFlight() {
      return inFlight
    },
    drain: () => {
      draining = true
      if (inFlight + queued.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        whenIdle = resolve
      })
    },
    giveUp: () => {
      for (const end of queued) end(stopping())
      for (const one of waiting) one.tell(givenUp(one))
      waiting.clear()
    },
  }
}

const stopping = (): Failure =>
  new Failure('SHUTTING_DOWN', 'The service is stopping; send the message again in a moment.')

/** A record as it comes from its topic; one that is replayed is asked for by somebody, as a request is. */
const isConsumed = ({ isRecord, replayOf }: Incoming): boolean => isRecord === true && replayOf === undefined

/** Whoever replays a message wants it to be worked on again; records are told apart by their place in the topic. */
const isRequest = ({ isRecord, replayOf }: Incoming): boolean => isRecord !== true && replayOf === undefined

type Circumstances = Pick<CompletedMessage, 'messageId' | 'compiled' | 'incoming' | 'startedAt' | 'trace'>

/** A message with the gate of its endpoint, in which it counts, and what works on it. */
type Begun = Readonly<{ compiled: CompiledEndpoint; incoming: Incoming; gate: Gate | undefined; handle: KeyedHandle }>

type Waiting = Circumstances &
  Readonly<{ compiled: CompiledEndpoint; trace: Trace; tell: (finished: CompletedMessage) => CompletedMessage }>

function givenUp({ messageId, compiled, incoming, startedAt, trace }: Waiting): CompletedMessage {
  const failure = new Failure(
    'SHUTTING_DOWN',
    'The service stopped before the message ended; what it had sent by then may have arrived.',
  )
  const answer = answerFailure(failure, compiled.endpoint.transformation.output, messageId)
  return finishedOf({ answer, failure }, { messageId, compiled, incoming, startedAt, trace: traceSoFar(trace) })
}

const finishedOf = (
  result: Outcome,
  { messageId, compiled, incoming, startedAt, trace }: Circumstances,
): CompletedMessage => ({
  answer: result.answer,
  failure: result.failure,
  messageId,
  source: incoming === undefined ? 'http' : sourceOf(incoming),
  outcome: nameOf(result),
  code: codeOf(result),
  compiled,
  incoming,
  startedAt,
  ms: trace === undefined ? 0 : performance.now() - trace.startMs,
  trace,
})

function receive(
  compiled: CompiledEndpoint,
  { requestHeaders, query, urlParams }: Incoming,
  endpointStart: string,
): Received {
  return {
    constants: compiled.endpoint.constants,
    requestHeaders,
    query,
    urlParams,
    timestamps: { endpointStart, lookupRequests: {} },
  }
}
