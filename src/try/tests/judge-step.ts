/** Decides whether a message did what its test expects. */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { pointerTo } from '../../core/lint.ts'
import { compileReferences, isSecretName, REDACTED } from '../../core/secrets/secrets.ts'
import { weigh } from '../dry-run/report/shown-values.ts'
import type { RunningStep } from './given-services.ts'
import { ignoredPlaces } from './ignored-places.ts'
import { createMatcher, type Matcher, TooManyComparisons } from './match.ts'
import { callMismatches, headerMismatches } from './match-calls.ts'
import { changeObserved, type Observed } from './observed.ts'
import { operatorOf } from './operators.ts'
import type { TestStep } from './test-file.ts'
import type { Mismatch } from './test-report.ts'

/**
 * Out: the places where the message did something else, with pointers from `expect` on. A place is as expected with the
 * values of secrets that the test gives, or with the references in place of them, as reports and records show it.
 */
export function judge(
  { expect }: TestStep,
  observed: Observed,
  secrets: RunningStep['trace']['secrets'],
  ignore: readonly string[],
): readonly Mismatch[] {
  try {
    const mismatches = mismatchesOf(expect, observed, ignore)
    if (mismatches.length === 0 || secrets === undefined) return mismatches
    return mismatchesOf(expect, changeObserved(observed, compileReferences(secrets)), ignore)
  } catch (thrown) {
    if (!(thrown instanceof TooManyComparisons)) throw thrown
    return [{ path: thrown.pointer, message: thrown.message }]
  }
}

function mismatchesOf(
  expect: TestStep['expect'],
  { outcome, answer, calls, failure, transforms, mapped, state }: Observed,
  ignore: readonly string[],
): readonly Mismatch[] {
  const matcher = createMatcher()
  const compare = (name: string, expected: Json | undefined, actual: Json | undefined): readonly Mismatch[] =>
    expected === undefined ? [] : matcher.mismatches(expected, actual, { pointer: `/expect/${name}` })
  const { status, headers, body } = expect.answer ?? {}
  return [
    ...compare('outcome', expect.outcome, outcome),
    ...compare('answer/status', status, answer.status),
    ...(headers === undefined
      ? []
      : headerMismatches(headers, answer.headers, { pointer: '/expect/answer/headers' }, matcher)),
    ...(body === undefined ? [] : bodyMismatches(body, answer.body, ignore, matcher)),
    ...(expect.calls === undefined ? [] : callMismatches(expect.calls, calls, '/expect/calls', matcher)),
    ...memberMismatches('failure', expect.failure, failure, matcher),
    ...memberMismatches('transforms', expect.transforms, transforms, matcher),
    ...compare('mapped', expect.mapped, mapped),
    ...memberMismatches('state', expect.state, state, matcher),
  ]
}

function bodyMismatches(
  expected: Json,
  { value, text }: Observed['answer']['body'],
  ignore: readonly string[],
  matcher: Matcher,
): readonly Mismatch[] {
  const pointer = '/expect/answer/body'
  return matcher.mismatches(expected, value, { pointer, text, ignored: ignoredPlaces(ignore) })
}

/** Members without an expectation are not checked. */
function memberMismatches(
  name: 'failure' | 'transforms' | 'state',
  expected: Json | undefined,
  actual: JsonObject | undefined,
  matcher: Matcher,
): readonly Mismatch[] {
  if (expected === undefined) return []
  const pointer = `/expect/${name}`
  if (!isObject(expected) || operatorOf(expected) !== undefined || actual === undefined) {
    const isNothing = isObject(expected) && Object.keys(expected).length === 0
    return isNothing ? [] : matcher.mismatches(expected, actual, { pointer })
  }
  return Object.entries(expected).flatMap(([member, value]) =>
    matcher.mismatches(value, Object.hasOwn(actual, member) ? actual[member] : undefined, {
      pointer: pointerTo(pointer, member),
    }),
  )
}

/** Characters of a value in a mismatch, as JSON. */
const LONGEST_SHOWN = 2_000

/** The mismatch as a report shows it: bounded, and without the values of headers that hold credentials. */
export function shownMismatch({ path, expected, actual, message }: Mismatch): Mismatch {
  const [, header] = /\/headers\/([^/]+)/.exec(path) ?? []
  const isSecret = header !== undefined && isSecretName(header)
  const isHeaders = path.endsWith('/headers')
  const shown = (value: Json): Json => {
    if (isSecret) return REDACTED
    const isLong = typeof weigh(value, LONGEST_SHOWN) === 'string'
    const start = isLong ? startOf(value, { left: LONGEST_SHOWN }) : value
    return bounded(isHeaders && isObject(start) ? redacted(start) : withoutCredentials(start), isLong)
  }
  return {
    path,
    ...(expected === undefined ? {} : { expected: shown(expected) }),
    ...(actual === undefined ? {} : { actual: shown(actual) }),
    message,
  }
}

function bounded(value: Json, isCut: boolean): Json {
  const text = JSON.stringify(value)
  return text.length > LONGEST_SHOWN || isCut ? `${text.slice(0, LONGEST_SHOWN)}…` : value
}

/** So much of the value that its JSON has the characters that are left; the whole of it may be as long as a message. */
function startOf(value: Json, room: { left: number }): Json {
  if (typeof value === 'string') {
    const text = value.slice(0, Math.max(0, room.left))
    room.left -= value.length + 2
    return text
  }
  room.left -= 1
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value) {
      if (room.left <= 0) break
      items.push(startOf(item, room))
    }
    return items
  }
  if (!isObject(value)) return value
  const members: [string, Json][] = []
  for (const name in value) {
    if (room.left <= 0) break
    const shown = name.slice(0, room.left)
    room.left -= name.length + 3
    members.push([shown, startOf(value[name] ?? null, room)])
  }
  return Object.fromEntries(members)
}

/** The members of each object `headers` whose names say that they hold credentials. */
function withoutCredentials(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutCredentials)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'headers' && isObject(member) ? redacted(member) : withoutCredentials(member),
    ]),
  )
}

const redacted = (headers: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))
