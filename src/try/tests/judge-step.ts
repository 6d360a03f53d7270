/** Decides whether a message did what its test expects. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath, pointerTo, shown } from '../../core/lint.ts'
import { didYouMean } from '../../core/nearest.ts'
import { compileReferences, isSecretName, REDACTED, withoutSecretHeaders } from '../../core/secrets/secrets.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { weigh } from '../dry-run/shown-values.ts'
import type { RunningStep } from './given-services.ts'
import { createMatcher, ignoredPaths, type Matcher, TooManyComparisons } from './match.ts'
import { callMismatches, changeObserved, headerMismatches, type Observed } from './observed.ts'
import { parseOperator } from './operators.ts'
import type { Mismatch, TestStep } from './test-file.ts'

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
    const mismatches = findMismatches(expect, observed, ignore)
    if (mismatches.length === 0 || secrets === undefined) return mismatches
    return findMismatches(expect, changeObserved(observed, compileReferences(secrets)), ignore)
  } catch (thrown) {
    if (!(thrown instanceof TooManyComparisons)) throw thrown
    return [{ path: thrown.pointer, message: thrown.message }]
  }
}

function findMismatches(
  expect: TestStep['expect'],
  { outcome, answer, calls, deliveries, failure, transforms, mapped, state }: Observed,
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
    ...callMismatches('calls', expect.calls, calls, matcher),
    ...callMismatches('deliveries', expect.deliveries, deliveries, matcher),
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
  return matcher.mismatches(expected, value, { pointer, text, ignored: ignoredPaths(ignore) })
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
  if (!isObject(expected) || parseOperator(expected) !== undefined || actual === undefined) {
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
const MAX_SHOWN_CHARACTERS = 2_000

/** The mismatch as a report shows it: bounded, and without the values of headers that hold credentials. */
export function shownMismatch({ path, expected, actual, message }: Mismatch): Mismatch {
  const [, header] = /\/headers\/([^/]+)/.exec(path) ?? []
  const isSecret = header !== undefined && isSecretName(header)
  const isHeaders = path.endsWith('/headers')
  const shown = (value: Json): Json => {
    if (isSecret) return REDACTED
    const isLong = typeof weigh(value, MAX_SHOWN_CHARACTERS) === 'string'
    const start = isLong ? cutValue(value, { left: MAX_SHOWN_CHARACTERS }) : value
    return bounded(isHeaders && isObject(start) ? withoutSecretHeaders(start) : withoutCredentials(start), isLong)
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
  return text.length > MAX_SHOWN_CHARACTERS || isCut ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : value
}

/** So much of the value that its JSON has the characters that are left; the whole of it may be as long as a message. */
function cutValue(value: Json, room: { left: number }): Json {
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
      items.push(cutValue(item, room))
    }
    return items
  }
  if (!isObject(value)) return value
  const members: [string, Json][] = []
  for (const name in value) {
    if (room.left <= 0) break
    const shown = name.slice(0, room.left)
    room.left -= name.length + 3
    members.push([shown, cutValue(value[name] ?? null, room)])
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
      name === 'headers' && isObject(member) ? withoutSecretHeaders(member) : withoutCredentials(member),
    ]),
  )
}

// Answers that a test gives for other systems: those that a message lacked, and those that nothing asked for.

type Calls = RunningStep['trace']['calls']

/** The lookups that had no answer. Such a message did not run to its end, so nothing else of it is reported. */
export function missingAnswers({ trace, sent }: RunningStep): readonly Mismatch[] {
  return trace.calls
    .filter((call) => sent(call)?.source === 'missing')
    .map(({ id, item, target }) => {
      const where = documentPath('given.lookups', ...(item === undefined ? [id] : [id, item]))
      return {
        path: pointerTo('/given/lookups', id, ...(item === undefined ? [] : [item])),
        message: `The test has no answer for the lookup "${shown(id)}" (${shown(target)}); give one in "${where}".`,
      }
    })
}

/** Canned answers that nothing asked for: the document has no such request, or the message did not send it. */
export function unusedAnswers(
  { given }: TestStep,
  { trace, sent }: RunningStep,
  { requests }: Endpoint,
): readonly Mismatch[] {
  const asked = trace.calls.filter((call) => sent(call) !== undefined)
  return (['lookup', 'response'] as const).flatMap((kind) => {
    const group = `${kind}s` as const
    const known = requests[kind].map(({ id }) => id)
    return Object.entries(given[group]).flatMap(([id, answer]) => {
      const path = pointerTo(`/given/${group}`, id)
      if (!known.includes(id)) {
        return [{ path, message: `The endpoint has no ${kind} "${id}"${didYouMean(id, known)}` }]
      }
      const indexes = findIndexes(asked, kind, id)
      if (!Array.isArray(answer)) return indexes.size === 0 ? [unused(path, kind, id)] : []
      return answer.flatMap((_one, index) => (indexes.has(index) ? [] : [unused(pointerTo(path, index), kind, id)]))
    })
  })
}

/** Tables that the document does not name, and the message did not read by a name that an expression computed. */
export function unreadTables(
  { given }: TestStep,
  { trace }: RunningStep,
  { tableUses = [] }: CompiledEndpoint,
): readonly Mismatch[] {
  const read = new Set([...tableUses.map(({ table }) => table), ...(trace.tableReads?.versions.keys() ?? [])])
  return Object.keys(given.tables).flatMap((name) =>
    read.has(name)
      ? []
      : {
          path: pointerTo('/given/tables', name),
          message: `The message reads no table "${shown(name)}"${didYouMean(name, [...read])}`,
        },
  )
}

const findIndexes = (calls: Calls, kind: string, id: string): ReadonlySet<number> =>
  new Set(calls.filter((call) => call.kind === kind && call.id === id).map(({ item }) => item ?? 0))

const unused = (path: string, kind: string, id: string): Mismatch => ({
  path,
  message: `The message did not ask for this answer of the ${kind} "${shown(id)}"; remove it, or correct the document.`,
})
