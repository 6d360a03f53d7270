/** A completed message, as metrics, the log, records and spans get it. */
import { isReplay, type Source } from '../core/origin.ts'
import type { Trace } from '../core/tracing/trace.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { Outcome, OutcomeName } from '../pipeline/outcome.ts'
import type { Incoming } from './incoming-message.ts'

export type CompletedMessage = Outcome &
  Readonly<{
    messageId: string
    source: Source
    outcome: OutcomeName
    /** Empty if nothing failed. */
    code: string
    /** A request that no endpoint listens to has none. */
    compiled: CompiledEndpoint | undefined
    /** A message that was refused before it was read has none. */
    incoming: Incoming | undefined
    /** Milliseconds since the epoch. */
    startedAt: number
    /** Milliseconds until the answer, the writing of state included; 0 if the message did not reach the pipeline. */
    ms: number
    /** A message that was refused before the pipeline has none. */
    trace: Trace | undefined
  }>

/** Its door tries it again as another message. */
export function isTriedAgain({ incoming, failure }: Pick<CompletedMessage, 'incoming' | 'failure'>): boolean {
  const origin = incoming?.origin
  if (origin === undefined || failure === undefined || isReplay(origin)) return false
  return origin.triesAgain?.(failure) === true
}
