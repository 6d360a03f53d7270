/** Decides which trace a message belongs to, the caller's or a new one, and whether the collector gets its spans. */
import type { Headers } from '../../core/message.ts'
import { isReplay, type Origin } from '../../core/origin.ts'
import { newSpanId, newTraceId, readParent, type TraceContext } from '../../core/tracing/trace.ts'

export type Sampler =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio'

export type SampledMessage = Readonly<{ requestHeaders: Headers; origin: Origin }>

/** `ratio`: the share of traces that the `traceidratio` samplers take, 0 to 1. */
export function createSampling(sampler: Sampler, ratio: number): (incoming: SampledMessage) => TraceContext {
  const followsParent = sampler.startsWith('parentbased_')
  const decide = (traceId: string): boolean => {
    if (sampler.endsWith('always_on')) return true
    return sampler.endsWith('traceidratio') && isWithin(traceId, ratio)
  }
  return ({ requestHeaders, origin }) => {
    // A replayed message does not belong to the trace of its first caller.
    const parent = isReplay(origin) ? undefined : readParent(requestHeaders)
    const traceId = parent?.traceId ?? newTraceId()
    const sampled = followsParent && parent !== undefined ? parent.sampled : decide(traceId)
    return { traceId, spanId: newSpanId(), parentId: parent?.parentId, sampled, state: parent?.state }
  }
}

/** By the last 56 bits, which are random in every id (W3C Trace Context, level 2), so that all systems decide alike. */
const isWithin = (traceId: string, ratio: number): boolean => Number.parseInt(traceId.slice(18), 16) / 2 ** 56 < ratio
