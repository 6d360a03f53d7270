/**
 * What the message log keeps of the answers of lookups, so that a replay can use them: of messages that would be others if their
 * lookups were asked again.
 */
import { isObject, type Json } from '../../core/json.ts'
import { DOORS, type Door } from '../../core/origin.ts'
import type { OutboundAnswer, OutboundFault } from '../../core/ports/http-client-port.ts'
import type { BodyName, RecordedBody } from '../../core/records/message-record.ts'
import type { CallSpan } from '../../core/tracing/trace.ts'
import type { Endpoint } from '../../document/schema/schema.ts'

/** The part of a log entry with status and headers of each answer of a lookup; their bodies are parts of their own. */
export const LOOKUPS: BodyName = 'lookups'

export const isLookupPart = (which: BodyName): boolean => which === LOOKUPS || which.startsWith('lookup.')

/** The message is what its lookups answer: it has no body of its own, or they read pages. */
export const isPolled = (door: Door, { requests: { lookup } }: Pick<Endpoint, 'requests'>): boolean =>
  lookup.length > 0 && (DOORS[door].neverHasBody || lookup.some(({ page }) => page !== undefined))

type Headers = OutboundAnswer['headers']

export type LookupAnswer = Readonly<{
  id: string
  /** Of a forEach, or the number of the page. */
  item: number | undefined
  /** The status of the answer, or why there was none. */
  result: number | OutboundFault
  headers: Headers
}>

/** As `LOOKUPS` holds them. Rows without names: `REDACT_PATHS` takes names of members at any depth. */
export const lookupAnswers = (calls: readonly CallSpan[], keptHeaders: (headers: Headers) => Headers): Json =>
  calls.flatMap(({ kind, id, item = null, answer, fault }): Json[] => {
    if (kind !== 'lookup') return []
    if (answer !== undefined) return [[id, item, answer.status, { ...keptHeaders(answer.headers) } as Json]]
    return fault === undefined || fault === 'deadline' || fault === 'internal' ? [] : [[id, item, fault, {}]]
  })

/** The inverse of `lookupAnswers`. In: a part that is whole. */
export const readLookupAnswers = ({ content }: RecordedBody): readonly LookupAnswer[] =>
  (JSON.parse(Buffer.from(content).toString()) as [string, number | null, number | OutboundFault, Headers][]).map(
    ([id, item, result, headers]) => ({
      id,
      item: item ?? undefined,
      result,
      headers: isObject(headers as Json) ? headers : {},
    }),
  )

/** Bytes of all answers of lookups. */
export function answeredBytes(calls: readonly CallSpan[]): number {
  let bytes = 0
  for (const { kind, answer } of calls) if (kind === 'lookup') bytes += answer?.body.byteLength ?? 0
  return bytes
}
