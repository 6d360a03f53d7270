/** Keeps compared transactions as tests of their endpoints: files that end in `.tests.json`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import { isSecretName, REDACTED } from '../domain/secrets/secrets.ts'
import type { ComparedSide } from './compare-answers.ts'
import { ComparisonImpossible } from './compared-message.ts'
import type { JudgedDifference } from './deliberate-differences.ts'
import type { ReplayedTransaction } from './transaction-replay.ts'

export type SavedTest = Readonly<{ replayed: ReplayedTransaction; differences: readonly JudgedDifference[] }>

/**
 * Writes a file for each endpoint, in place of an earlier one. A test expects what this service did; if a difference is not
 * explained, it expects what the peer did, and fails until the document does the same. Out: the paths of the files.
 * Throws ComparisonImpossible if a file cannot be written.
 */
export function saveTests(folder: string, tests: readonly SavedTest[]): readonly string[] {
  const byEndpoint = Map.groupBy(tests, ({ replayed }) => replayed.given.endpoint.name)
  const names = new Set<string>()
  try {
    mkdirSync(folder, { recursive: true })
    return [...byEndpoint].map(([endpoint, list]) => {
      const path = join(folder, `${uniqueName(endpoint, names)}.tests.json`)
      writeFileSync(path, `${JSON.stringify(fileOf(list), undefined, 2)}\n`)
      return path
    })
  } catch (thrown) {
    throw new ComparisonImpossible(`The tests cannot be written: ${(thrown as Error).message}.`)
  }
}

/** Letters, digits and "-", so that no name leads out of the folder. */
function uniqueName(endpoint: string, taken: Set<string>): string {
  const plain =
    endpoint
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 80) || 'endpoint'
  let name = plain
  for (let n = 2; taken.has(name); n++) name = `${plain}-${n}`
  taken.add(name)
  return name
}

/** Places that hold the time of the message differ at every run. */
function fileOf(tests: readonly SavedTest[]): JsonObject {
  const times = tests.flatMap(({ differences }) =>
    differences
      .filter(({ deliberate }) => deliberate === 'time-of-message')
      .map(({ path }) => path.slice('/body'.length)),
  )
  return { ...(times.length === 0 ? {} : { ignore: [...new Set(times)] }), tests: tests.map(testOf) }
}

function testOf({ replayed, differences }: SavedTest): JsonObject {
  const { comparison, given, report } = replayed
  const { message, peer, here } = comparison
  const isExplained = differences.every(({ deliberate }) => deliberate !== undefined)
  const { body, headers, query, urlParams, state } = given.message
  const type = message.headers['content-type']
  return {
    name: message.name,
    given: {
      message: {
        ...(body === undefined ? {} : { body: inlineBody(body) }),
        ...(type === undefined ? {} : { contentType: type }),
        ...present('headers', withoutContentType(headers)),
        ...present('query', isObject(query) ? withoutSecretMembers(query) : undefined),
        ...present('urlParams', urlParams),
      },
      ...present('lookups', withoutSecretAnswers(given.lookups)),
      ...present('responses', withoutSecretAnswers(given.responses)),
      ...present('state', state),
      ...(Number.isNaN(peer.times.sentAt) ? {} : { now: new Date(peer.times.sentAt).toISOString() }),
    },
    expect: {
      ...(isExplained ? { outcome: report.outcome ?? null } : {}),
      answer: answerOf(isExplained ? here : peer),
      ...callsOf(isExplained ? here : peer),
    },
  }
}

/** A body that is JSON is easier to read as its value, and is sent as its text again. */
function inlineBody(body: Json): Json {
  if (typeof body !== 'string' || !/^\s*[{[]/.test(body)) return body
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

const answerOf = ({ answer: { status, value } }: ComparedSide): JsonObject => ({
  status,
  ...(value === undefined ? {} : { body: withoutMessageId(value) }),
})

/** Each message has another id. */
function withoutMessageId(body: Json): Json {
  if (!isObject(body) || !('messageId' in body)) return body
  const { messageId: _messageId, ...rest } = body
  return { $contains: rest }
}

function callsOf({ calls = {} }: ComparedSide): JsonObject {
  const list = Object.entries(calls).flatMap(([id, own]) =>
    own.map(({ method, url, body }) => ({ id, method, url, ...(body === undefined ? {} : { body }) })),
  )
  return list.length === 0 ? {} : { calls: list }
}

const present = (name: string, value: Json | undefined): JsonObject =>
  isObject(value) && Object.keys(value).length > 0 ? { [name]: value } : {}

function withoutContentType(headers: Json | undefined): JsonObject {
  const { 'content-type': _contentType, ...others } = isObject(headers) ? headers : {}
  return withoutSecretMembers(others)
}

const withoutSecretMembers = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isSecretName(name) ? REDACTED : value]))

function withoutSecretAnswers(answers: JsonObject): JsonObject {
  const masked = (answer: Json): Json =>
    isObject(answer) && isObject(answer.headers) ? { ...answer, headers: withoutSecretMembers(answer.headers) } : answer
  return Object.fromEntries(
    Object.entries(answers).map(([id, one]) => [id, Array.isArray(one) ? one.map(masked) : masked(one)]),
  )
}
