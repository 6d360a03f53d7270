/** The headers `traceparent` and `tracestate` of W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/). */
import type { Headers } from '../message.ts'

export type TraceContext = Readonly<{
  /** 32 hex digits, those of the caller if it sent any. */
  traceId: string
  /** The span of the message: 16 hex digits. */
  spanId: string
  /** The span of the caller; undefined if the trace starts here. */
  parentId: string | undefined
  sampled: boolean
  /** `tracestate`, passed on unchanged. */
  state: string | undefined
}>

export type Parent = Readonly<{ traceId: string; parentId: string; sampled: boolean; state: string | undefined }>

/** A header that is not well-formed is ignored (section 3.2). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** A longer `tracestate` need not be passed on (section 3.3.1.5). */
const MOST_STATE = 512

export function readParent(headers: Headers): Parent | undefined {
  const [, version, traceId, parentId, flags, more] = TRACEPARENT.exec(headers.traceparent ?? '') ?? []
  if (traceId === undefined || parentId === undefined) return undefined
  if (version === '00' && more !== undefined) return undefined
  const { tracestate = '' } = headers
  const state = tracestate === '' || tracestate.length > MOST_STATE ? undefined : tracestate
  return { traceId, parentId, sampled: (Number.parseInt(flags ?? '0', 16) & 1) === 1, state }
}

/** The headers of a call that is part of the trace. */
export function traceHeaders({ traceId, sampled, state }: TraceContext, spanId: string): Headers {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
  return state === undefined ? { traceparent } : { traceparent, tracestate: state }
}

export const newTraceId = (): string => randomHex(32)
export const newSpanId = (): string => randomHex(16)

/** Ids must differ from each other but need not be secret; all zeros are not a valid id. */
function randomHex(digits: 16 | 32): string {
  let text = ''
  while (text.length < digits)
    text += Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return /[1-9a-f]/.test(text) ? text : randomHex(digits)
}
