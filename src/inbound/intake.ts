/**
 * The one way into the pipeline for requests, records, replays and dry runs: gives a message its id and deadline, bounds
 * how many run at once, rejects messages while the service stops, and reports how each one ended.
 */

import { Failure } from '../core/failure.ts'
import { createIsoTime } from '../core/iso-time.ts'
import type { Awaitable } from '../core/json.ts'
import type { Headers, Received } from '../core/message.ts'
import { type BudgetLimits, createBudgets } from '../core/message-budget.ts'
import { classifySource, DOORS, isReplay, type Origin } from '../core/origin.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock, Run } from '../core/run.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import { startTrace, type Trace, type TraceContext, traceSoFar } from '../core/tracing/trace.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { KeyedHandle } from '../pipeline/idempotency/idempotency-middleware.ts'
import { classifyOutcome, type Outcome, outcomeCode } from '../pipeline/outcome.ts'
import { failedOutcome } from '../pipeline/reply.ts'
import { type Admission, type AdmissionLimits, type CallerConnection, createAdmission } from './admission/admission.ts'
import type { PermitPool } from './admission/concurrency-limiter.ts'
import type { CompletedMessage } from './completed-message.ts'
import type { Incoming } from './incoming-message.ts'
import { createMessageLines, type MessageLogging } from './message-line.ts'
import { refusalIfPaused } from './paused.ts'
import { stoppedBefore, stopping } from './shutdown.ts'

const NO_TABLES: Readonly<{ current: TableSet }> = { current: new Map() }

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
    /** Of which each message reads one set; without it, there are none. */
    tables?: Readonly<{ current: TableSet }>
    /** Called for each completed message, before it is answered: must be quick and must not throw. */
    observe: (completed: CompletedMessage) => void
    /** The trace that a message continues; left out if tracing is off. */
    traceContext?: ((incoming: Incoming) => TraceContext) | undefined
  }>

/** A message whose sender waits for the answer, before its body is read. */
export interface Arrival {
  readonly origin: Origin
  readonly headers: Headers
  /** The connection of the sender: while the message waits for a permit, it ends with it. */
  readonly connection: CallerConnection | undefined
  /** True if the sender left before the body was read. */
  hasLeft(): boolean
  /**
   * Reads the body of an admitted message and calls `accept` with the message, unless it fails or the sender leaves.
   * `caller`: authenticated; `requestHeaders`: without the credentials.
   */
  read(requestHeaders: Headers, caller: string | undefined, accept: (incoming: Incoming) => void): void
  /** Answers a message whose body was not read. `caller`: authenticated, even if it is refused for another reason. */
  refuse(refused: CompletedMessage, caller: string | undefined): void
  /** Answers a message whose body was read. */
  answer(completed: CompletedMessage): void
  /** Answers for a fault of the service. */
  fail(fault: Error): void
}

type Notify = (completed: CompletedMessage) => CompletedMessage

export class Intake {
  readonly #options: IntakeOptions
  readonly #admission: Admission
  readonly #newBudget: ReturnType<typeof createBudgets>
  readonly #formatTime = createIsoTime()
  readonly #logMessage: (completed: CompletedMessage) => void
  /** Messages that have returned a promise; any other is completed before it could be listed. */
  readonly #running = new Set<Running>()
  /** Rejects the messages that wait for a permit. */
  readonly #queued = new Set<(failure: Failure) => void>()
  #inFlight = 0
  #isDraining = false
  #whenIdle: (() => void) | undefined

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#admission = createAdmission(options)
    this.#newBudget = createBudgets(options)
    this.#logMessage = createMessageLines(options.logger, options.logMessages)
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Messages that wait for a permit. */
  get waiting(): number {
    return this.#queued.size
  }

  /** What a message that begins now reads. */
  get tables(): TableSet {
    return (this.#options.tables ?? NO_TABLES).current
  }

  /** The intake rejects every new message because the service stops. */
  get isDraining(): boolean {
    return this.#isDraining
  }

  /**
   * Takes a message from its arrival to its answer. It is checked once, before its body is read: the cheapest check first,
   * but the rate last, since a request without good credentials must not use up the rate of others. Nothing more is done if
   * the sender has left meanwhile.
   */
  receive(compiled: CompiledEndpoint, arrival: Arrival): void {
    const failure = refusalIfPaused(compiled) ?? this.#refusal(compiled, true)
    if (failure !== undefined) arrival.refuse(this.refuse(compiled, failure, arrival.origin), undefined)
    else if (compiled.auth === undefined) this.#admit(compiled, arrival, arrival.headers, undefined)
    else this.#authenticate(compiled, compiled.auth, arrival).catch((fault: Error) => arrival.fail(fault))
  }

  /**
   * Runs a message; never throws or rejects. A request waits for a permit first if it must, until its `connection` leaves.
   * A replay does not wait: it is rejected if there is no permit. It runs also while the endpoint is paused.
   */
  accept(compiled: CompiledEndpoint, incoming: Incoming, connection?: CallerConnection): Awaitable<CompletedMessage> {
    const paused = isReplay(incoming.origin) ? undefined : refusalIfPaused(compiled)
    const refused = this.#isDraining ? stopping() : (paused ?? this.#refusalOfBody(incoming))
    if (refused !== undefined) return this.refuse(compiled, refused, incoming.origin, incoming)
    const pool = this.#admission.poolFor(compiled)
    const { handleKeyed, handle } = compiled
    const admitted = {
      compiled,
      incoming,
      pool,
      handle: handleKeyed === undefined || !mayHaveKey(incoming.origin) ? handle : handleKeyed,
    }
    if (isConsumed(incoming.origin) || this.#admission.acquire(pool)) {
      return this.#run(admitted, this.#options.clock(), this.#startTrace(incoming), this.#report)
    }
    const failure = this.#admission.refusal(compiled, !isReplay(incoming.origin))
    return failure === undefined
      ? this.#queue(admitted, connection)
      : this.refuse(compiled, failure, incoming.origin, incoming)
  }

  /** Runs the message of a dry run: nothing reports it but its `trace`. Throws OVERLOADED or SHUTTING_DOWN. */
  runDry(compiled: CompiledEndpoint, incoming: Incoming, trace: Trace): Awaitable<CompletedMessage> {
    const failure = this.refusal()
    if (failure !== undefined) throw failure
    const startedAt = this.#options.clock()
    const refused = this.#refusalOfBody(incoming)
    if (refused !== undefined) return this.#fail(refused, { compiled, incoming, startedAt, trace }, incoming.origin)
    this.#admission.acquire(undefined)
    return this.#run(
      { compiled, incoming, pool: undefined, handle: compiled.handle },
      startedAt,
      trace,
      this.#reportBug,
    )
  }

  /**
   * The reason to reject a message that does not wait: OVERLOADED or SHUTTING_DOWN; undefined if it can run now.
   * Without `compiled`, the message belongs to no active endpoint.
   */
  refusal(compiled?: CompiledEndpoint): Failure | undefined {
    return this.#refusal(compiled, false)
  }

  /** Answers and reports a failure of a message that does not reach the pipeline. `incoming`: if it was read. */
  refuse(
    compiled: CompiledEndpoint | undefined,
    failure: Failure,
    origin: Origin,
    incoming?: Incoming,
    startedAt = this.#options.clock(),
  ): CompletedMessage {
    return this.#report(this.#fail(failure, { compiled, incoming, startedAt, trace: undefined }, origin))
  }

  /** Forgets the counts of removed endpoints; `get` finds the active ones, by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void {
    this.#admission.keep(get)
  }

  /** Rejects every new message; resolves when none runs or waits any more. */
  drain(): Promise<void> {
    this.#isDraining = true
    if (this.#inFlight + this.#queued.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }

  /** Reports the messages that still run as failed; how they end later is not reported again. */
  giveUp(): void {
    for (const reject of this.#queued) reject(stopping())
    for (const { notify, ...one } of this.#running) {
      const outcome = failedOutcome(stoppedBefore(), one.compiled.endpoint, one.messageId)
      notify(toCompletedMessage(outcome, { ...one, trace: traceSoFar(one.trace) }, one.incoming.origin))
    }
    this.#running.clear()
  }

  #refusal(compiled: CompiledEndpoint | undefined, mayWait: boolean): Failure | undefined {
    return this.#isDraining ? stopping() : this.#admission.refusal(compiled, mayWait)
  }

  #refusalOfBody({ body }: Incoming): Failure | undefined {
    const { parserLimitBytes } = this.#options
    const bytes = body?.byteLength ?? 0
    if (bytes <= parserLimitBytes) return undefined
    return new Failure('BODY_TOO_LARGE', `The body has ${bytes} bytes; PARSER_LIMIT is ${parserLimitBytes}.`)
  }

  async #authenticate(
    compiled: CompiledEndpoint,
    auth: NonNullable<CompiledEndpoint['auth']>,
    arrival: Arrival,
  ): Promise<void> {
    const { headers, origin } = arrival
    const caller = await auth.identify(headers)
    if (caller instanceof Failure) arrival.refuse(this.refuse(compiled, caller, origin), undefined)
    else if (!arrival.hasLeft()) this.#admit(compiled, arrival, auth.withoutCredentials(headers), caller)
  }

  #admit(compiled: CompiledEndpoint, arrival: Arrival, requestHeaders: Headers, caller: string | undefined): void {
    const failure = this.#admission.overRate(compiled)
    if (failure !== undefined) {
      arrival.refuse(this.refuse(compiled, failure, arrival.origin), caller)
      return
    }
    arrival.read(requestHeaders, caller, (incoming) => {
      const completed = this.accept(compiled, incoming, arrival.connection)
      if (completed instanceof Promise) completed.then((later) => arrival.answer(later))
      else arrival.answer(completed)
    })
  }

  /** The deadline of the message counts from now on, not from when it starts. */
  #queue(admitted: Admitted, connection: CallerConnection | undefined): Promise<CompletedMessage> {
    return new Promise((resolve) => {
      const { compiled, incoming, pool } = admitted
      const startedAt = this.#options.clock()
      const trace = this.#startTrace(incoming)
      const reject = (failure: Failure): void => {
        if (this.#queued.delete(reject)) resolve(this.refuse(compiled, failure, incoming.origin, incoming, startedAt))
      }
      const start = (): void => {
        trace.lastMs = performance.now()
        if (this.#queued.delete(reject)) resolve(this.#run(admitted, startedAt, trace, this.#report))
        else this.#admission.release(pool)
      }
      this.#queued.add(reject)
      // The message that released the permit is answered first.
      this.#admission.wait(compiled, pool, { start: () => void setImmediate(start), reject }, connection)
    })
  }

  /** The caller has acquired a permit, unless the message is a record. */
  #run(admitted: Admitted, startedAt: number, trace: Trace, notify: Notify): Awaitable<CompletedMessage> {
    const { compiled, incoming, handle } = admitted
    const { clock, newId, messageTimeoutMs } = this.#options
    this.#inFlight += 1
    const messageId = newId()
    const { origin } = incoming
    const first = isReplay(origin) ? undefined : origin
    const run: Run = {
      messageId,
      clock,
      startedAt,
      deadlineAt: startedAt + messageTimeoutMs,
      lease: incoming.lease,
      budget: this.#newBudget(),
      door: DOORS[origin.door],
      mayWait: !isRequest(origin),
      slot: first?.slot,
      producer: first?.producer,
      delivered: incoming.delivered,
      recordedAnswers: incoming.recordedAnswers,
      body: incoming.body,
      lookupTimes: {},
      responseTimes: {},
      lookups: { highestStatus: undefined, networkError: false },
      trace,
      tables: compiled.lastTables ?? this.tables,
      isDelivered: false,
      extracted: undefined,
      answerKeeper: undefined,
    }
    const outcome = handle(receive(compiled, incoming, this.#formatTime(startedAt)), run, incoming.caller)
    if (!(outcome instanceof Promise)) return notify(this.#complete(admitted, run, outcome))
    const one: Running = { messageId, compiled, incoming, startedAt, trace, notify }
    this.#running.add(one)
    return outcome.then((result) => {
      const completed = this.#complete(admitted, run, result)
      return this.#running.delete(one) ? notify(completed) : completed
    })
  }

  #complete({ compiled, incoming, pool }: Admitted, run: Run, result: Outcome): CompletedMessage {
    this.#inFlight -= 1
    if (!isConsumed(incoming.origin)) this.#admission.release(pool)
    if (this.#inFlight + this.#queued.size === 0) this.#whenIdle?.()
    const { messageId, startedAt, trace, budget } = run
    budget.release()
    return toCompletedMessage(result, { messageId, compiled, incoming, startedAt, trace }, incoming.origin)
  }

  /** A message that does not reach the pipeline. */
  #fail(failure: Failure, circumstances: Omit<Circumstances, 'messageId'>, origin: Origin): CompletedMessage {
    const messageId = this.#options.newId()
    const outcome = failedOutcome(failure, circumstances.compiled?.endpoint, messageId)
    return toCompletedMessage(outcome, { messageId, ...circumstances }, origin)
  }

  #startTrace(incoming: Incoming): Trace {
    return startTrace(this.#options.traceContext?.(incoming), incoming.sentBytes)
  }

  readonly #report: Notify = (completed) => {
    this.#logMessage(completed)
    this.#options.observe(completed)
    return completed
  }

  /** A dry run has no line in the log, but a bug of the service does. */
  readonly #reportBug: Notify = (completed) => {
    if (completed.failure?.kind.bug) this.#logMessage(completed)
    return completed
  }
}

/** A record from its consumer. The replay of a record does not count: its caller waits for it, as for a request. */
const isConsumed = (origin: Origin): boolean => !isReplay(origin) && DOORS[origin.door].isPaced

/** The `Idempotency-Key` counts for requests only: a replay is to run again, and the offset of a record identifies it. */
const mayHaveKey = (origin: Origin): boolean => !isReplay(origin) && DOORS[origin.door].isKeyed

const isRequest = (origin: Origin): boolean => !isReplay(origin) && DOORS[origin.door].isRequest

type Circumstances = Pick<CompletedMessage, 'messageId' | 'compiled' | 'incoming' | 'startedAt' | 'trace'>

/** A message with the pool of its endpoint, in which it counts, and what processes it. */
type Admitted = Readonly<{
  compiled: CompiledEndpoint
  incoming: Incoming
  pool: PermitPool | undefined
  handle: KeyedHandle
}>

type Running = Circumstances &
  Readonly<{ compiled: CompiledEndpoint; incoming: Incoming; trace: Trace; notify: Notify }>

const toCompletedMessage = (
  result: Outcome,
  { messageId, compiled, incoming, startedAt, trace }: Circumstances,
  origin: Origin,
): CompletedMessage => ({
  answer: incoming?.answer === undefined ? result.answer : incoming.answer(result, messageId),
  failure: result.failure,
  messageId,
  source: classifySource(origin),
  outcome: classifyOutcome(result),
  code: outcomeCode(result),
  compiled,
  incoming,
  startedAt,
  ms: trace === undefined ? 0 : performance.now() - trace.startMs,
  trace,
})

function receive(
  compiled: CompiledEndpoint,
  { requestHeaders, query = {}, urlParams = {}, scheduledFor }: Incoming,
  endpointStart: string,
): Received {
  return {
    constants: compiled.endpoint.constants,
    requestHeaders,
    query,
    urlParams,
    timestamps:
      scheduledFor === undefined
        ? { endpointStart, lookupRequests: {} }
        : { endpointStart, lookupRequests: {}, scheduledFor },
  }
}
