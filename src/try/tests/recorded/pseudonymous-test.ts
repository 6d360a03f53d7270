/** A test that shows no person: with pseudonyms in what is given, and the results of a run with them in what is expected. */
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { Unreadable, Unwritable } from '../../../formats/body-faults.ts'
import { CODECS } from '../../../formats/codecs.ts'
import { literalsOf } from './document-literals.ts'
import { expectationOfRun, type WrittenExpectation } from './expectation-of-record.ts'
import { createPseudonyms, type Pseudonyms } from './pseudonyms.ts'
import { fitToPatternsOf } from './schema-patterns.ts'

export type WrittenTest = Readonly<{ given: JsonObject }> & WrittenExpectation

/** Values that a schema limits may have pseudonyms outside of the limits: other pseudonyms may fit. */
const MOST_ATTEMPTS = 8
/** Milliseconds after which no further ones are tried. */
const ATTEMPTS_MS = 5_000

const KEY_BYTES = 32

/** Headers that describe the exchange, not its content: others, such as `content-disposition`, may name a person. */
const OF_EXCHANGE =
  /^(?:accept(?:-.*)?|content-(?:type|length|encoding|language)|user-agent|cache-control|prefer|traceparent|tracestate)$/

/**
 * In: the test with the values of the message; what a run of it did, undefined if there is none; the document; the run of
 * another `given`. Out: the test with pseudonyms. If the message ends otherwise with all pseudonyms that were tried, `losses`
 * says so.
 */
export async function pseudonymise(
  written: WrittenTest,
  snapshot: JsonObject | undefined,
  document: JsonObject,
  run: (given: JsonObject) => Promise<JsonObject | undefined>,
  random: (count: number) => Uint8Array,
): Promise<WrittenTest> {
  const kept = literalsOf(document)
  let given = written.given
  let ran: JsonObject | undefined
  let isAlike = false
  const startMs = performance.now()
  for (let attempt = 0; attempt < MOST_ATTEMPTS && !isAlike; attempt += 1) {
    if (attempt > 0 && performance.now() - startMs > ATTEMPTS_MS) break
    given = pseudonymousGiven(
      written.given,
      createPseudonyms({ key: random(KEY_BYTES), kept, nested, fit: fitToPatternsOf(document) }),
    )
    ran = await run(given)
    isAlike = shapeOf(ran) === shapeOf(snapshot)
  }
  const losses = isAlike ? written.losses : [...written.losses, ENDS_OTHERWISE]
  if (written.expect.todo === true) return { given, expect: written.expect, losses }
  return { given, expect: expectationOfRun(ran), losses }
}

const ENDS_OTHERWISE = {
  path: 'given',
  reason:
    'With pseudonyms the message ends otherwise than it did, since the document depends on its values; the test expects what a run with them did.',
}

function pseudonymousGiven(given: JsonObject, { value, shiftMs }: Pseudonyms): JsonObject {
  const { message, lookups, responses, now } = given
  const { body, headers, query, urlParams, ...others } = isObject(message) ? message : {}
  return {
    message: {
      ...(body === undefined ? {} : { body: value(body) }),
      ...others,
      ...(isObject(headers) ? { headers: headersOf(headers, value) } : {}),
      ...(query === undefined ? {} : { query: value(query) }),
      ...(urlParams === undefined ? {} : { urlParams: value(urlParams) }),
    },
    ...(isObject(lookups) ? { lookups: answersOf(lookups, value) } : {}),
    ...(isObject(responses) ? { responses: answersOf(responses, value) } : {}),
    now: new Date(Date.parse(String(now)) + shiftMs).toISOString(),
  }
}

const headersOf = (headers: JsonObject, value: Pseudonyms['value']): JsonObject =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, OF_EXCHANGE.test(name) ? text : value(text)]))

function answersOf(answers: JsonObject, value: Pseudonyms['value']): JsonObject {
  const changed = (answer: Json): Json => {
    if (!isObject(answer)) return answer
    const { body, headers, ...others } = answer
    return {
      ...others,
      ...(isObject(headers) ? { headers: headersOf(headers, value) } : {}),
      ...(body === undefined ? {} : { body: value(body) }),
    }
  }
  return Object.fromEntries(
    Object.entries(answers).map(([id, answer]) => [id, Array.isArray(answer) ? answer.map(changed) : changed(answer)]),
  )
}

/** Changes the values in a text that is JSON or XML; undefined for any other text. */
function nested(text: string, change: (value: Json) => Json): string | undefined {
  const codec = /^\s*[{[]/.test(text) ? CODECS.json : /^\s*</.test(text) ? CODECS.xml : undefined
  try {
    const changed = codec?.rewrite(Buffer.from(text), undefined, change)
    return changed && Buffer.from(changed).toString()
  } catch (thrown) {
    if (thrown instanceof Unreadable || thrown instanceof Unwritable) return undefined
    throw thrown
  }
}

/** What two runs have in common that differ in values only. */
function shapeOf(snapshot: JsonObject | undefined): string {
  if (snapshot === undefined) return ''
  const { outcome, answer, calls, failure } = snapshot
  const { status, body } = isObject(answer) ? answer : {}
  const { code, stage, path } = isObject(failure) ? failure : {}
  const ids = Array.isArray(calls) ? calls.map((call) => (isObject(call) ? [call.id, call.item] : [])) : []
  return JSON.stringify([outcome, status, code, stage, path, ids, body === undefined ? null : formOf(body)])
}

const formOf = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(formOf)
  if (isObject(value)) return Object.entries(value).map(([name, member]) => [name.replace(/\d/g, '0'), formOf(member)])
  return typeof value === 'boolean' || value === null ? value : typeof value
}
