/** A test from a run: what it is given, and what of the run it expects. */
import { type CannedAnswers, readGiven } from '../../../api/given-parts.ts'
import type { CannedAnswer, RunCall, StoredTest } from '../../../api/run-calls.ts'
import { cannedFrom, typedAnswer } from '../run/canned-answers.ts'
import type { RunData, TypedMessage } from '../run/run-data.ts'
import type { EditedAnswers } from '../run/run-request.ts'

export type Given = Readonly<Record<string, unknown>>

/** What a test is made from. `recorded`: the test of the service, for a recorded message. */
export type TestSource = Readonly<{
  data: RunData
  recorded: StoredTest | undefined
  answers: EditedAnswers
  calls: readonly RunCall[]
  /** When the run of a schedule was due that the dry run was. */
  due: string | undefined
}>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Answers that the user wrote come in place of recorded ones; those of live calls were seen in the run. */
export function testInputFromRun({ data, recorded, answers, calls, due }: TestSource): Given {
  const base: Given =
    data.kind === 'recorded'
      ? (recorded?.given ?? {})
      : data.kind === 'test'
        ? ((data.test.given as Given | undefined) ?? readGiven(data.test))
        : { message: parseMessage(data.message, due) }
  const lookups = { ...asAnswers(base.lookups), ...liveAnswers(calls), ...answers.lookups }
  const responses = { ...asAnswers(base.responses), ...answers.responses }
  return {
    ...base,
    ...(Object.keys(lookups).length > 0 && { lookups: asTestAnswers(lookups) }),
    ...(Object.keys(responses).length > 0 && { responses: asTestAnswers(responses) }),
  }
}

const asAnswers = (value: unknown): CannedAnswers => (isObject(value) ? (value as CannedAnswers) : {})

function parseMessage({ body, contentType, headers, query, urlParams }: TypedMessage, due: string | undefined): Given {
  const object = (text: string) => (text.trim() === '' ? undefined : (JSON.parse(text) as unknown))
  const parts = { headers: object(headers), query: object(query), urlParams: object(urlParams) }
  return {
    ...(body !== '' && { body: asValue(body) }),
    ...(contentType !== '' && { contentType }),
    ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)),
    ...(due !== undefined && { timestamps: { scheduledFor: due } }),
  }
}

/** JSON is easier to read as a value than as a text. A text that is a JSON text itself would be another body. */
function asValue(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : body
  } catch {
    return body
  }
}

function liveAnswers(calls: readonly RunCall[]): CannedAnswers {
  const live = calls.filter(({ kind, answered }) => kind === 'lookup' && answered === 'live')
  const found: Record<string, CannedAnswer | CannedAnswer[]> = {}
  for (const call of live) {
    const answer = cannedFrom(typedAnswer(call))
    if (call.item === undefined) found[call.id] = answer
    else found[call.id] = [...[found[call.id] ?? []].flat(), answer]
  }
  return found
}

const asTestAnswers = (answers: CannedAnswers): unknown =>
  Object.fromEntries(
    Object.entries(answers).map(([id, answer]) => [
      id,
      Array.isArray(answer) ? answer.map(readable) : readable(answer),
    ]),
  )

const readable = (answer: CannedAnswer | readonly CannedAnswer[]): unknown => {
  const { body, ...rest } = answer as CannedAnswer
  const headers = rest.headers?.['content-type']
  return {
    ...rest,
    ...(body !== undefined && { body: typeof body === 'string' && isJson(headers) ? asValue(body) : body }),
  }
}

const isJson = (contentType: string | undefined): boolean => contentType === undefined || /[/+]json/.test(contentType)

/** What of a run counts. */
export const COUNTED = ['outcome', 'status', 'body', 'headers', 'calls', 'failure', 'state'] as const
export type Counted = (typeof COUNTED)[number]

/** In: what the service saw in the run (a snapshot). Out: what of it the run has. */
export function countable(snapshot: Given): readonly Counted[] {
  const answer = isObject(snapshot.answer) ? snapshot.answer : {}
  const has: Readonly<Record<Counted, boolean>> = {
    outcome: snapshot.outcome !== undefined,
    status: answer.status !== undefined,
    body: answer.body !== undefined,
    headers: isObject(answer.headers) && Object.keys(answer.headers).length > 0,
    calls: true,
    failure: snapshot.failure !== undefined,
    state: snapshot.state !== undefined,
  }
  return COUNTED.filter((one) => has[one])
}

/**
 * In: a snapshot, what counts, and JSON Pointers into the body of the answer where anything may be. Out: `expect` of the
 * test.
 */
export function createExpectation(snapshot: Given, counts: ReadonlySet<Counted>, ignored: readonly string[]): Given {
  const answer = isObject(snapshot.answer) ? snapshot.answer : {}
  const parts = {
    ...(counts.has('status') && { status: answer.status }),
    ...(counts.has('headers') && { headers: literally(answer.headers) }),
    ...(counts.has('body') && { body: withAnything(answer.body, ignored) }),
  }
  return {
    ...(counts.has('outcome') && { outcome: snapshot.outcome }),
    ...(Object.keys(parts).length > 0 && { answer: parts }),
    ...(counts.has('calls') && { calls: expectedCalls(snapshot.calls) }),
    ...(counts.has('failure') && { failure: literally(snapshot.failure) }),
    ...(counts.has('state') && { state: literally(snapshot.state) }),
  }
}

/** Headers of calls are left out: credentials of a snapshot are digests, which no call has. */
function expectedCalls(calls: unknown): unknown {
  if (!Array.isArray(calls)) return []
  return calls.filter(isObject).map(({ headers: _headers, ...call }) => ({
    ...call,
    ...(call.body !== undefined && { body: literally(call.body) }),
  }))
}

/** An object of which a name could be read as an operator is taken literally. */
function literally(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(literally)
  if (!isObject(value)) return value
  if (Object.keys(value).some((name) => name.startsWith('$'))) return { $literal: value }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, literally(inner)]))
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

function withAnything(body: unknown, pointers: readonly string[]): unknown {
  const steps = pointers.map((pointer) => pointer.split('/').slice(1).map(unescaped))
  return replaceAt(body, steps)
}

function replaceAt(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0) return literally(value)
  if (paths.some((path) => path.length === 0)) return { $any: true }
  const below = (name: string) => paths.filter(([first]) => first === name).map(([, ...rest]) => rest)
  if (Array.isArray(value)) return value.map((item, index) => replaceAt(item, below(String(index))))
  if (!isObject(value)) return value
  // Within an object that is taken literally no place can be left open.
  if (Object.keys(value).some((name) => name.startsWith('$'))) return { $any: true }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceAt(inner, below(name))]))
}

/** JSON Pointers to the leaves of a body, for a choice; the first ones of a large body. */
export function leafPointers(body: unknown, max = 200): readonly string[] {
  const found: string[] = []
  const walk = (value: unknown, pointer: string) => {
    if (found.length >= max) return
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (entries.length === 0) found.push(pointer)
    for (const [name, inner] of entries) walk(inner, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
  walk(body, '')
  return found
}
