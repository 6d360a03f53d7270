/**
 * The one way into the pipeline, whatever a message came by: gives it an id and a deadline, bounds how many run at
 * once, refuses new ones while the service stops, and reports what became of it.
 */
import { Failure } from '../domain/failure.ts'
import { createIsoTime } from '../domain/iso-time.ts'
import type { Awaitable, JsonObject } from '../domain/json.ts'
import type { Headers, Received } from '../domain/message.ts'
import type { Logger } from '../domain/ports.ts'
import type { Clock, Run } from '../domain/run.ts'
import { startTrace, type Trace, traceSoFar } from '../domain/trace.ts'
import type { TraceContext } from '../domain/trace-context.ts'
import type { Outcome } from '../pipeline/compile.ts'
import type { Once } from '../pipeline/once.ts'
import { answerFailure } from '../pipeline/reply.ts'
import { codeOf, type Finished, nameOf, sourceOf } from './finished.ts'
import { createMessageLines } from './message-line.ts'
import type { Compiled } from './registry.ts'

export type Incoming = Readonly<{
  requestHeaders: Headers
  query: JsonObject
  urlParams: JsonObject
  body: Uint8Array | undefined
  /** Set where the message is a record of a topic. */
  isRecord?: boolean
  /** Set where whoever brings the message tries it again by itself, should it fail with what may succeed later. */
  triesAgain?: boolean
  /** Who sent it, where the endpoint asks for that (`EndpointAuth`). */
  caller?: string
  /** The id of the message that this one repeats, where somebody asked for that. */
  replayOf?: string
}>

export interface Intake {
  /** Runs a message; never throws or rejects. */
  accept(compiled: Compiled, incoming: Incoming): Awaitable<Finished>
  /** The same with nobody told of it: a message of a dry run, whose trace the caller keeps. */
  rehearse(compiled: Compiled, incoming: Incoming, trace: Trace): Awaitable<Finished>
  /** Why a message would not be let in now: OVERLOADED or SHUTTING_DOWN; undefined where it would. */
  refusal(): Failure | undefined
  /** The same of a record, whose consumer bounds by itself how many are under way: SHUTTING_DOWN or nothing. */
  recordRefusal(): Failure | undefined
  /** Answers a failure of a message that did not come as far as the pipeline. */
  refuse(compiled: Compiled | undefined, failure: Failure, incoming?: Incoming): Finished
  readonly inFlight: number
  /** Lets no message in any more; resolves when those under way are done. */
  drain(): Promise<void>
  /**
   * Reports the messages still under way as failed, since nobody will be left to tell how they end. Their late end is not
   * reported again.
   */
  giveUp(): void
}

export type IntakeOptions = Readonly<{
  clock: Clock
  newId: () => string
  logger: Logger
  messageTimeoutMs: number
  maxMessagesInFlight: number
  /** Told of each message when it has ended, before it is answered: it must be quick and must not throw. */
  observe: (finished: Finished) => void
  /** Where a message stands in a trace; left out where nobody traces. */
  traceContext?: ((incoming: Incoming) => TraceContext) | undefined
}>

export function createIntake(options: IntakeOptions): Intake {
  const { clock, newId, logger, messageTimeoutMs, maxMessagesInFlight, observe, traceContext } = options
  const isoOf = createIsoTime()
  const logMessage = createMessageLines(logger)
  /** Those that wait for something; the others end within one turn. */
  const waiting = new Set<Waiting>()
  let inFlight = 0
  /** Those of them that count for MAX_MESSAGES_IN_FLIGHT. */
  let counted = 0
  let whenIdle: (() => void) | undefined
  let draining = false

  const report = (finished: Finished): Finished => {
    logMessage(finished)
    observe(finished)
    return finished
  }
  const finish = (compiled: Compiled, incoming: Incoming, run: Run, result: Outcome): Finished => {
    inFlight -= 1
    if (!isConsumed(incoming)) counted -= 1
    if (inFlight === 0) whenIdle?.()
    const { messageId, startedAt, trace } = run
    return finishedOf(result, { messageId, compiled, incoming, startedAt, trace })
  }
  /** `tell` gets what became of it. */
  const run = (
    compiled: Compiled,
    handle: Once,
    incoming: Incoming,
    trace: Trace,
    tell: (finished: Finished) => Finished,
  ) => {
    inFlight += 1
    if (!isConsumed(incoming)) counted += 1
    const messageId = newId()
    const startedAt = clock()
    const account: Run = {
      messageId,
      clock,
      startedAt,
      deadlineAt: startedAt + messageTimeoutMs,
      isRecord: incoming.isRecord ?? false,
      body: incoming.body,
      lookupTimes: {},
      lookups: { highestStatus: undefined, networkError: false },
      trace,
      extracted: undefined,
    }
    const outcome = handle(receive(compiled, incoming, isoOf(startedAt)), account, incoming.caller)
    if (!(outcome instanceof Promise)) return tell(finish(compiled, incoming, account, outcome))
    const one: Waiting = { messageId, compiled, incoming, startedAt, trace, tell }
    waiting.add(one)
    return outcome.then((result) => {
      const finished = finish(compiled, incoming, account, result)
      return waiting.delete(one) ? tell(finished) : finished
    })
  }
  /** What is no fault of whoever tried the message belongs into the log all the same. */
  const reportBug = (finished: Finished): Finished => {
    if (finished.failure?.code === 'INTERNAL') logMessage(finished)
    return finished
  }
  const recordRefusal = (): Failure | undefined =>
    draining ? new Failure('SHUTTING_DOWN', 'The service is stopping; send the message again in a moment.') : undefined
  const refusal = (): Failure | undefined => {
    if (draining || counted < maxMessagesInFlight) return recordRefusal()
    return new Failure('OVERLOADED', `${counted} messages are under way already; send this one again in a moment.`)
  }
  const refuse: Intake['refuse'] = (compiled, failure, incoming) => {
    const messageId = newId()
    const answer = answerFailure(failure, compiled?.endpoint.transformation.output ?? 'JSON', messageId)
    const startedAt = clock()
    return report(finishedOf({ answer, failure }, { messageId, compiled, incoming, startedAt, trace: undefined }))
  }

  return {
    refusal,
    recordRefusal,
    refuse,
    accept: (compiled, incoming) => {
      const refused = isConsumed(incoming) ? recordRefusal() : refusal()
      if (refused !== undefined) return refuse(compiled, refused, incoming)
      const { once, handle } = compiled
      const asked = once === undefined || !isRequest(incoming) ? handle : once
      return run(compiled, asked, incoming, startTrace(traceContext?.(incoming)), report)
    },
    rehearse: (compiled, incoming, trace) => {
      const refused = refusal()
      if (refused !== undefined) throw refused
      return run(compiled, compiled.handle, incoming, trace, reportBug)
    },
    get inFlight() {
      return inFlight
    },
    drain: () => {
      draining = true
      if (inFlight === 0) return Promise.resolve()
      return new Promise((resolve) => {
        whenIdle = resolve
      })
    },
    giveUp: () => {
      for (const one of waiting) one.tell(givenUp(one))
      waiting.clear()
    },
  }
}

/** A record as it comes from its topic; one that is replayed is asked for by somebody, as a request is. */
const isConsumed = ({ isRecord, replayOf }: Incoming): boolean => isRecord === true && replayOf === undefined

/** Whoever replays a message wants it to be worked on again; records are told apart by their place in the topic. */
const isRequest = ({ isRecord, replayOf }: Incoming): boolean => isRecord !== true && replayOf === undefined

type Circumstances = Pick<Finished, 'messageId' | 'compiled' | 'incoming' | 'startedAt' | 'trace'>

type Waiting = Circumstances & Readonly<{ compiled: Compiled; trace: Trace; tell: (finished: Finished) => Finished }>

function givenUp({ messageId, compiled, incoming, startedAt, trace }: Waiting): Finished {
  const failure = new Failure(
    'SHUTTING_DOWN',
    'The service stopped before the message ended; what it had sent by then may have arrived.',
  )
  const answer = answerFailure(failure, compiled.endpoint.transformation.output, messageId)
  return finishedOf({ answer, failure }, { messageId, compiled, incoming, startedAt, trace: traceSoFar(trace) })
}

const finishedOf = (result: Outcome, { messageId, compiled, incoming, startedAt, trace }: Circumstances): Finished => ({
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

function receive(compiled: Compiled, { requestHeaders, query, urlParams }: Incoming, endpointStart: string): Received {
  return {
    constants: compiled.endpoint.constants,
    requestHeaders,
    query,
    urlParams,
    timestamps: { endpointStart, lookupRequests: {} },
  }
}
