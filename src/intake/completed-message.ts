/** What became of a message: one account of it for all who keep one (metrics, the log, records, spans). */
import type { Trace } from '../domain/tracing/trace.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { Outcome, OutcomeName } from '../pipeline/outcome.ts'
import type { Incoming, Source } from './incoming-message.ts'

export type CompletedMessage = Outcome &
  Readonly<{
    messageId: string
    source: Source
    outcome: OutcomeName
    /** Empty where nothing failed. */
    code: string
    /** Undefined where no endpoint listens. */
    compiled: CompiledEndpoint | undefined
    /** Undefined where the message was refused before it was read. */
    incoming: Incoming | undefined
    /** Milliseconds since the epoch. */
    startedAt: number
    /** Until its answer was there, the writing of state included; 0 where it did not come as far as the pipeline. */
    ms: number
    /** Undefined where the message did not come as far as the pipeline. */
    trace: Trace | undefined
  }>

/** Whether another message follows that is the same one tried again. */
export const isTriedAgain = ({ incoming, failure }: Pick<CompletedMessage, 'incoming' | 'failure'>): boolean =>
  incoming?.triesAgain === true && failure?.retry === true
