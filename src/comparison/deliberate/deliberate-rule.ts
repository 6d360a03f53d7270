/** What the rules of deliberate differences share. */
import type { FailureCode } from '../../domain/failure-table.ts'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { Comparison } from '../compare-answers.ts'
import type { Difference } from '../differences.ts'
import { failureCodeOf, mediaTypeOf, readBody } from '../received-answer.ts'

/**
 * A deliberate difference. The rule recognises it in what both services did with the message, so that every other difference
 * stays unexplained.
 */
export type DeliberateRule = Readonly<{
  /** One sentence for people. */
  reason: string
  explains(difference: Difference, comparison: Comparison): boolean
}>

export const isIn = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`)

/** Status, media type or body. */
export const isOfAnswer = (path: string): boolean => !isIn(path, '/calls')

/** Whether a value has no leaf but null; in XML an empty element is an empty text. */
export function isHollow(value: Json | undefined, isXml = false): boolean {
  if (typeof value !== 'object') return value === undefined || (isXml && value === '')
  return value === null || Object.values(value).every((one) => isHollow(one, isXml))
}

export const isXml = ({ peer }: Comparison): boolean => peer.answer.mediaType === 'application/xml'

/** The sentence of a failure of the peer; undefined if its answer is none. */
export function errorOfPeer({ peer: { answer } }: Comparison): string | undefined {
  const { status, value } = answer
  return status >= 400 && isObject(value) && typeof value.error === 'string' ? value.error : undefined
}

/** Whether the message failed here with this code. */
export const failsWith = (code: FailureCode, { here }: Comparison): boolean => failureCodeOf(here.answer) === code

/** The value of the message's body; undefined if it has none. */
export const bodyOf = ({ message: { body, headers } }: Comparison): Json | undefined =>
  body === undefined ? undefined : readBody(body, mediaTypeOf(headers['content-type'])).value

/** The entries of the mapping of the endpoint, and of the endpoints of this service that it calls. */
export const mappingEntries = ({ document, called }: Comparison): readonly (readonly [string, Json])[] =>
  [document, ...called].flatMap((one) =>
    one !== undefined && isObject(one.inputMapping) ? Object.entries(one.inputMapping) : [],
  )

/** The value at a JSON Pointer's segments; undefined if there is none. */
export function valueAt(value: Json | undefined, segments: readonly string[]): Json | undefined {
  const [first, ...rest] = segments
  if (first === undefined) return value
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return undefined
  return valueAt((value as JsonObject)[first], rest)
}

/** The bodies of an answer or a call, and the segments of a place in them. */
export type BodyPlace = Readonly<{ peer: Json | undefined; here: Json | undefined; segments: readonly string[] }>

/** Undefined if the path is in no body. */
export function bodyPlace(path: string, { peer, here }: Comparison): BodyPlace | undefined {
  const [, part, ...segments] = path.split('/').map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (part === 'body') return { peer: peer.answer.value, here: here.answer.value, segments }
  const [id = '', at, body, ...inner] = segments
  if (part !== 'calls' || body !== 'body') return undefined
  return { peer: peer.calls?.[id]?.[Number(at)]?.body, here: here.calls?.[id]?.[Number(at)]?.body, segments: inner }
}
