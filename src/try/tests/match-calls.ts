/** Compares the calls of a message with those that its test expects. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Matcher, Place } from './match.ts'
import { asJson, type ObservedCall } from './observed.ts'
import { operatorOf } from './operators.ts'
import type { Mismatch } from './test-report.ts'

/**
 * A plain array holds all calls: the n-th expectation of an id is for the n-th call of that request, and the order among
 * different requests does not count, since they are sent at once. An operator sees the array of all calls, in which objects
 * may have more members.
 */
export function callMismatches(
  expected: Json,
  calls: readonly ObservedCall[],
  pointer: string,
  matcher: Matcher,
): readonly Mismatch[] {
  if (operatorOf(expected) !== undefined) {
    return matcher.mismatches(expected, calls.map(asJson), { pointer, isPartial: true })
  }
  const left = [...calls]
  const mismatches = (expected as readonly Json[]).flatMap((one, index): readonly Mismatch[] => {
    const wanted = isObject(one) ? one : {}
    const place = { pointer: `${pointer}/${index}` }
    const at = left.findIndex(({ kind, id }) => id === wanted.id && (wanted.kind === undefined || wanted.kind === kind))
    const [call] = at === -1 ? [] : left.splice(at, 1)
    return call === undefined ? [notMade(wanted, calls, place)] : oneMismatches(wanted, call, place, matcher)
  })
  return [...mismatches, ...left.map((call) => notExpected(call, pointer))]
}

function oneMismatches(wanted: JsonObject, call: ObservedCall, place: Place, matcher: Matcher): readonly Mismatch[] {
  const actual = asJson(call)
  return Object.entries(wanted).flatMap(([name, value]) => {
    const at = { pointer: `${place.pointer}/${name}` }
    if (name === 'headers') return headerMismatches(value, call.headers, at, matcher)
    const found = Object.hasOwn(actual, name) ? actual[name] : undefined
    return matcher.mismatches(value, found, name === 'body' ? { ...at, text: call.body.text } : at)
  })
}

/** Headers without an expectation are not checked; upper and lower case of names do not count. */
export function headerMismatches(
  expected: Json,
  headers: ObservedCall['headers'],
  place: Place,
  matcher: Matcher,
): readonly Mismatch[] {
  if (!isObject(expected) || operatorOf(expected) !== undefined) return matcher.mismatches(expected, headers, place)
  return Object.entries(expected).flatMap(([name, value]) =>
    matcher.mismatches(value, headers[name.toLowerCase()], { pointer: `${place.pointer}/${name}` }),
  )
}

function notMade(wanted: JsonObject, calls: readonly ObservedCall[], { pointer }: Place): Mismatch {
  const ids = [...new Set(calls.map(({ id }) => id))]
  const id = String(wanted.id)
  const made = ids.length === 0 ? 'no call' : `calls of ${ids.join(', ')}`
  const more = calls.some((call) => call.id === id) ? `no more calls of "${id}"` : `no call of "${id}"`
  const hint = ids.includes(id) ? '.' : didYouMean(id, ids)
  return { path: pointer, expected: wanted, message: `The message made ${more}; it made ${made}${hint}` }
}

function notExpected({ kind, id, item, target, body }: ObservedCall, pointer: string): Mismatch {
  const actual = { kind, id, ...(item === undefined ? {} : { item }), ...target }
  return {
    path: pointer,
    actual: body.value === undefined ? actual : { ...actual, body: body.value },
    message: `The message made a call of "${id}" that is not expected; "$contains" allows further calls.`,
  }
}
