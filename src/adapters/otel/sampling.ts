/** Where a message stands in a trace: the caller's, or one that begins here; and whether it is told to the collector. */
import { newSpanId, newTraceId, readParent, type TraceContext } from '../../domain/trace-context.ts'
import type { Incoming } from '../../registry/intake.ts'

export type Sampler =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio'

export function createSampling(sampler: Sampler, ratio: number): (incoming: Incoming) => TraceContext {
  const followsParent = sampler.startsWith('parentbased_')
  const decide = (traceId: string): boolean => {
    if (sampler.endsWith('always_on')) return true
    return sampler.endsWith('traceidratio') && isWithin(traceId, ratio)
  }
  return ({ requestHeaders, replayOf }) => {
    // A message that is repeated is no part of what its first caller did.
    const parent = replayOf === undefined ? readParent(requestHeaders) : undefined
    const traceId = parent?.traceId ?? newTraceId()
    const sampled = followsParent && parent !== undefined ? parent.sampled : decide(traceId)
    return { traceId, spanId: newSpanId(), parentId: parent?.parentId, sampled, state: parent?.state }
  }
}

/** By the last 56 bits, which are random in every id (W3C Trace Context, level 2): all systems decide alike. */
const isWithin = (traceId: string, ratio: number): boolean => Number.parseInt(traceId.slice(18), 16) / 2 ** 56 < ratio
