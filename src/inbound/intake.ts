/**
 * The one way into the pipeline for requests, records, replays and dry runs: gives a message its id and deadline, bounds
 * how many run at once, rejects messages while the service stops, and reports how each one ended.
 */
import { Failure } from '../core/failure.ts'
import { createIsoTime } from '../core/iso-time.ts'
import type { Awaitable } from '../core/json.ts'
import type { Received } from '../core/message.ts'
import { type BudgetLimits, createBudgets } from '../core/message-budget.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock, Run } from '../core/run.ts'
import { startTrace, type Trace, type TraceContext, traceSoFar } from '../core/tracing/trace.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { KeyedHandle } from '../pipeline/idempotency/idempotency-middleware.ts'
import { codeOf, nameOf, type Outcome } from '../pipeline/outcome.ts'
import { failedOutcome } from '../pipeline/reply.ts'
import { type AdmissionLimits, createAdmission, type Peer } from './admission/admission.ts'
import type { PermitPool } from './admission/concurrency-limiter.ts'
import { type AdmitRequest, createRequestAdmission } from './admit-request.ts'
import type { CompletedMessage } from './completed-message.ts'
import { type Incoming, sourceOf } from './incoming-message.ts'
import { createMessageLines, type MessageLogging } from './message-line.ts'
import { stoppedBefore, stopping } from './shutdown.ts'

export interface Intake {
  /** Whether the message of a request may come in; asked once, before its body is read. */
  admit: AdmitRequest
  /**
   * Runs a message; never throws or rejects. A request waits for a permit first if it must, until its `peer` leaves.
   * A replay does not wait: it is rejected if there is no permit.
   */
  accept(compiled: CompiledEndpoint, incoming: Incoming, peer?: Peer): Awaitable<CompletedMessage>
  /** Runs the message of a dry run: nothing reports it but its `trace`. Throws OVERLOADED or SHUTTING_DOWN. */
  rehearse(compiled: CompiledEndpoint, incoming: Incoming, trace: Trace): Awaitable<CompletedMessage>
  /**
   * The reason to reject a message that does not wait: OVERLOADED or SHUTTING_DOWN; undefined if it can run now.
   * Without `compiled`, the message belongs to no active endpoint.
   */
  refusal(compiled?: CompiledEndpoint): Failure | undefined
  /** Answers and reports a failure of a message that does not reach the pipeline. */
  refuse(compiled: CompiledEndpoint | undefined, failure: Failure, incoming?: Incoming): CompletedMessage
  readonly inFlight: number
  /** Messages that wait for a permit. */
  readonly waiting: number
  /** Whether the intake rejects every new message because the service stops. */
  readonly isDraining: boolean
  /** Forgets the counts of removed endpoints; `get` finds the active ones, by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void
  /** Rejects every new message; resolves when none runs or waits any more. */
  drain(): Promise<void>
  /** Reports the messages that still run as failed; how they end later is not reported again. */
  giveUp(): void
}

export type IntakeOptions = AdmissionLimits &
  BudgetLimits &
  Readonly<{
    clock: Clock
    newId: () => string
    logger: Logger
    logMessages: MessageLogging
    messageTimeoutMs: number
    /** Of the body of a message; a listener refuses a larger one before it reads it. */
    parserLimitBytes: number
    /** Called for each completed message, before it is answered: must be quick and must not throw. */
    observe: (completed: CompletedMessage) => void
    /** The trace that a message continues; left out if tracing is off. */
    traceContext?: ((incoming: Incoming) => TraceContext) | undefined
  }>

export function createIntake(options: IntakeOptions): Intake {
  const { clock, newId, logger, logMessages, messageTimeoutMs, parserLimitBytes, observe, traceContext } = options
  const isoOf = createIsoTime()
  const logMessage = createMessageLines(logger, logMessages)
  /** Messages that have returned a promise; any other is completed before it could be listed. */
  const running = new Set<Running>()
  const admission = createAdmission(options)
  /** Rejects the messages that wait for a permit. */
  const queued = new Set<(failure: Failure) => void>()
  const newBudget = createBudgets(options)
  let inFlight = 0
  let whenIdle: (() => void) | undefined
  let isDraining = false

  const open = (incoming: Incoming): Trace => startTrace(traceContext?.(incoming), incoming.sentBytes)
  const report = (completed: CompletedMessage): CompletedMessage => {
    logMessage(completed)
    observe(completed)
    return completed
  }
  const complete = ({ compiled, incoming, pool }: Admitted, run: Run, result: Outcome): CompletedMessage => {
    inFlight -= 1
    if (!isConsumed(incoming)) admission.release(pool)
    if (inFlight + queued.size === 0) whenIdle?.()
    const { messageId, startedAt, trace, budget } = run
    budget.release()
    return completedOf(result, { messageId, compiled, incoming, startedAt, trace })
  }
  /** The caller has acquired a permit, unless the message is a record. */
  const run = (
    admitted: Admitted,
    startedAt: number,
    trace: Trace,
    notify: (completed: CompletedMessage) => CompletedMessage,
  ) => {
    const { compiled, incoming, handle } = admitted
    inFlight += 1
    const messageId = newId()
    const account: Run = {
      messageId,
      clock,
      startedAt,
      deadlineAt: startedAt + messageTimeoutMs,
      budget: newBudget(),
      isRecord: incoming.isRecord ?? false,
      isPatient: !isRequest(incoming),
      turn: incoming.turn,
      producer: incoming.producer,
      body: incoming.body,
      lookupTimes: {},
      responseTimes: {},
      lookups: { highestStatus: undefined, networkError: false },
      trace,
      extracted: undefined,
    }
    const outcome = handle(receive(compiled, incoming, isoOf(startedAt)), account, incoming.caller)
    if (!(outcome instanceof Promise)) return notify(complete(admitted, account, outcome))
    const one: Running = { messageId, compiled, incoming, startedAt, trace, notify }
    running.add(one)
    return outcome.then((result) => {
      const completed = complete(admitted, account, result)
      return running.delete(one) ? notify(completed) : completed
    })
  }
  /** The deadline of the message counts from now on, not from when it starts. */
  const queue = (admitted: Admitted, peer: Peer | undefined): Promise<CompletedMessage> =>
    new Promise((resolve) => {
      const { compiled, incoming, pool } = admitted
      const startedAt = clock()
      const trace = open(incoming)
      const reject = (failure: Failure): void => {
        if (queued.delete(reject)) resolve(refuse(compiled, failure, incoming, startedAt))
      }
      const start = (): void => {
        trace.lastMs = performance.now()
        if (queued.delete(reject)) resolve(run(admitted, startedAt, trace, report))
        else admission.release(pool)
      }
      queued.add(reject)
      // The message that released the permit is answered first.
      admission.wait(compiled, pool, { start: () => void setImmediate(start), reject }, peer)
    })
  /** A dry run has no line in the log, but a bug of the service does. */
  const reportBug = (completed: CompletedMessage): CompletedMessage => {
    if (completed.failure?.kind.bug) logMessage(completed)
    return completed
  }
  const refusalOfBody = ({ body }: Incoming): Failure | undefined => {
    const bytes = body?.byteLength ?? 0
    if (bytes <= parserLimitBytes) return undefined
    return new Failure('BODY_TOO_LARGE', `The body has ${bytes} bytes; PARSER_LIMIT is ${parserLimitBytes}.`)
  }
  const refusal = (compiled: CompiledEndpoint | undefined, mayWait: boolean): Failure | undefined =>
    isDraining ? stopping() : admission.refusal(compiled, mayWait)
  const refuse = (
    compiled: CompiledEndpoint | undefined,
    failure: Failure,
    incoming?: Incoming,
    startedAt = clock(),
  ): CompletedMessage => {
    const messageId = newId()
    const outcome = failedOutcome(failure, compiled?.endpoint, messageId)
    return report(completedOf(outcome, { messageId, compiled, incoming, startedAt, trace: undefined }))
  }

  return {
    admit: createRequestAdmission({
      refusal: (compiled) => refusal(compiled, true),
      overRate: admission.overRate,
      refuse,
    }),
    refusal: (compiled) => refusal(compiled, false),
    refuse,
    keep: admission.keep,
    accept: (compiled, incoming, peer) => {
      const refused = isDraining ? stopping() : refusalOfBody(incoming)
      if (refused !== undefined) return refuse(compiled, refused, incoming)
      const pool = admission.poolOf(compiled)
      const { handleKeyed, handle } = compiled
      const admitted = {
        compiled,
        incoming,
        pool,
        handle: handleKeyed === undefined || !isRequest(incoming) ? handle : handleKeyed,
      }
      if (isConsumed(incoming) || admission.acquire(pool)) {
        return run(admitted, clock(), open(incoming), report)
      }
      const failure = admission.refusal(compiled, incoming.replayOf === undefined)
      return failure === undefined ? queue(admitted, peer) : refuse(compiled, failure, incoming)
    },
    rehearse: (compiled, incoming, trace) => {
      const failure = refusal(undefined, false)
      if (failure !== undefined) throw failure
      const refused = refusalOfBody(incoming)
      if (refused !== undefined) {
        const messageId = newId()
        const outcome = failedOutcome(refused, compiled.endpoint, messageId)
        return completedOf(outcome, { messageId, compiled, incoming, startedAt: clock(), trace })
      }
      admission.acquire(undefined)
      return run({ compiled, incoming, pool: undefined, handle: compiled.handle }, clock(), trace, reportBug)
    },
    get waiting() {
      return queued.size
    },
    get inFlight() {
      return inFlight
    },
    get isDraining() {
      return isDraining
    },
    drain: () => {
      isDraining = true
      if (inFlight + queued.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        whenIdle = resolve
      })
    },
    giveUp: () => {
      for (const reject of queued) reject(stopping())
      for (const { notify, ...one } of running) {
        const outcome = failedOutcome(stoppedBefore(), one.compiled.endpoint, one.messageId)
        notify(completedOf(outcome, { ...one, trace: traceSoFar(one.trace) }))
      }
      running.clear()
    },
  }
}

/** A record from its consumer. The replay of a record does not count: its caller waits for it, as for a request. */
const isConsumed = ({ isRecord, replayOf }: Incoming): boolean => isRecord === true && replayOf === undefined

/** The `Idempotency-Key` counts for requests only: a replay is to run again, and the offset of a record identifies it. */
const isRequest = ({ isRecord, replayOf }: Incoming): boolean => isRecord !== true && replayOf === undefined

type Circumstances = Pick<CompletedMessage, 'messageId' | 'compiled' | 'incoming' | 'startedAt' | 'trace'>

/** A message with the pool of its endpoint, in which it counts, and what processes it. */
type Admitted = Readonly<{
  compiled: CompiledEndpoint
  incoming: Incoming
  pool: PermitPool | undefined
  handle: KeyedHandle
}>

type Running = Circumstances &
  Readonly<{ compiled: CompiledEndpoint; trace: Trace; notify: (completed: CompletedMessage) => CompletedMessage }>

const completedOf = (
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
