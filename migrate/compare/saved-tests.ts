/** Keeps compared transactions as tests of their endpoints: files that end in `.tests.json`. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeFolder, writeFault } from '../../src/core/files/files.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { withoutSecretHeaders } from '../../src/core/secrets/secrets.ts'
import { checkTestFile } from '../../src/try/tests/check-test-file.ts'
import { expectationFromRun } from '../../src/try/tests/expectation-of-record.ts'
import { inlineBody, present, withAnyQuery, withoutSecretParameters } from '../../src/try/tests/given-of-record.ts'
import type { RunTests } from '../../src/try/tests/run-tests.ts'
import { MAX_TEST_BYTES, MAX_TESTS } from '../../src/try/tests/test-file.ts'
import { type ComparedSide, ComparisonImpossible } from './comparison.ts'
import type { JudgedDifference } from './deliberate-differences.ts'
import type { ReplayedTransaction } from './transaction-replay.ts'

export type SavedTest = Readonly<{ replayed: ReplayedTransaction; differences: readonly JudgedDifference[] }>

/**
 * Writes files for each endpoint, in place of earlier ones; each holds as many tests as a file may have. A test expects what this
 * service does; if a difference is not explained, it expects what the peer did, and fails until the document does the same.
 * Out: the paths of the files. Rejects with ComparisonImpossible if a file cannot be written.
 */
export async function saveTests(
  folder: string,
  tests: readonly SavedTest[],
  runTests: RunTests,
): Promise<readonly string[]> {
  const names = new Set<string>()
  const files: { name: string; text: string }[] = []
  for (const list of Map.groupBy(tests, ({ replayed }) => replayed.given.endpoint.name).values()) {
    for (const file of splitIntoFiles(await expectOutcomes(list, runTests), endpointName(list))) {
      files.push({ name: uniqueName(file.endpoint, names), text: `${JSON.stringify(file, undefined, 2)}\n` })
    }
  }
  try {
    makeFolder(resolve(folder))
    return files.map(({ name, text }) => {
      const path = join(folder, `${name}.tests.json`)
      writeFileSync(path, text)
      return path
    })
  } catch (thrown) {
    throw new ComparisonImpossible(writeFault(folder, thrown))
  }
}

const endpointName = ([first]: readonly SavedTest[]): string => first?.replayed.given.endpoint.name ?? ''

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

/** A file names its endpoint, since it is rarely beside the document under the same name. */
function splitIntoFiles(tests: readonly JsonObject[], endpoint: string) {
  const files: { endpoint: string; tests: JsonObject[] }[] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const test of tests) {
    const own = Buffer.byteLength(JSON.stringify(test)) + 1
    const isFull = bytes + own > MAX_TEST_BYTES || files.at(-1)?.tests.length === MAX_TESTS
    if (isFull) {
      files.push({ endpoint, tests: [] })
      bytes = HEAD_BYTES
    }
    files.at(-1)?.tests.push(test)
    bytes += own
  }
  return files
}

/** More than the rest of a file takes. */
const HEAD_BYTES = 4_096

/** The tests of one endpoint. What this service does is found by running them: they have another time than the comparison. */
async function expectOutcomes(list: readonly SavedTest[], runTests: RunTests): Promise<readonly JsonObject[]> {
  const outcomes = new Map<string, JsonObject>()
  const given = list.map((saved) => ({
    ...saved,
    name: saved.replayed.comparison.message.name,
    given: createGiven(saved),
  }))
  const explained = given.filter(({ differences }) => differences.every(({ deliberate }) => deliberate !== undefined))
  const [first] = list
  for (let at = 0; first !== undefined && at < explained.length; at += MAX_TESTS) {
    const { file } = checkTestFile({
      tests: explained
        .slice(at, at + MAX_TESTS)
        .map(({ name, given }) => ({ name, given, expect: { snapshot: true } })),
    })
    await runTests(first.replayed.given.endpoint, file, {
      onSnapshot: ({ name }, _step, snapshot) => void outcomes.set(name, snapshot),
    })
  }
  return given.map(({ name, given, replayed }) => {
    const outcome = outcomes.get(name)
    return {
      name,
      given,
      expect: outcome === undefined ? createExpectation(replayed.comparison.peer) : expectationFromRun(outcome),
    }
  })
}

const createExpectation = (peer: ComparedSide): JsonObject => ({ answer: expectedAnswer(peer), ...expectedCalls(peer) })

function createGiven({ replayed, differences }: SavedTest): JsonObject {
  const { comparison, given, report } = replayed
  const { message, peer } = comparison
  const isExplained = differences.every(({ deliberate }) => deliberate !== undefined)
  const { body, headers, query, urlParams, state } = given.message
  const type = message.headers['content-type']
  const answers = (kind: 'lookup' | 'response') => {
    const all = withoutSecretAnswers(given[`${kind}s`])
    return isExplained ? askedAnswers(all, kind, report) : all
  }
  return {
    message: {
      ...(body === undefined ? {} : { body: typeof body === 'string' ? inlineBody(body) : body }),
      ...(type === undefined ? {} : { contentType: type }),
      ...present('headers', withoutContentType(headers)),
      ...present('query', isObject(query) ? withoutSecretParameters(query) : undefined),
      ...present('urlParams', isObject(urlParams) ? urlParams : undefined),
    },
    ...present('lookups', answers('lookup')),
    ...present('responses', answers('response')),
    ...present('state', isObject(state) ? state : undefined),
    ...(Number.isNaN(peer.times.sentAt) ? {} : { now: new Date(peer.times.sentAt).toISOString() }),
  }
}

/**
 * The answers that the message asked for here: a test fails with one that nothing asks for. An empty one means a lookup
 * that the peer did not record, because another lookup had failed.
 */
function askedAnswers(answers: JsonObject, kind: string, report: JsonObject): JsonObject {
  const calls = (Array.isArray(report.calls) ? report.calls.filter(isObject) : []).filter((call) => call.kind === kind)
  const asked = Map.groupBy(
    calls.filter(({ answered }) => answered !== 'not sent'),
    ({ id }) => String(id),
  )
  return Object.fromEntries(
    [...asked].flatMap(([id, own]) => {
      const answer = answers[id]
      if (answer === undefined) return kind === 'lookup' ? [[id, {}] as const] : []
      const length = Math.max(...own.map(({ item }) => Number(item ?? 0))) + 1
      return [[id, Array.isArray(answer) ? answer.slice(0, length) : answer] as const]
    }),
  )
}

function expectedAnswer({ answer: { status, mediaType, value } }: ComparedSide): JsonObject {
  // The comparison keeps the root element of XML, which bodies of tests do not have.
  const isXml = mediaType !== undefined && /(?:^|[/+])xml$/.test(mediaType)
  const [root] = isXml && isObject(value) ? Object.values(value) : []
  const body = root ?? value
  return { status, ...(body === undefined ? {} : { body: withoutMessageId(body) }) }
}

/** Each message has another id. */
function withoutMessageId(body: Json): Json {
  if (!isObject(body) || !('messageId' in body)) return body
  const { messageId: _messageId, ...rest } = body
  return { $contains: rest }
}

/** OpenHIM often has no query of a call, and other calls than those of requests are not known. */
function expectedCalls({ calls = {} }: ComparedSide): JsonObject {
  const list = Object.entries(calls).flatMap(([id, own]) =>
    own.map(({ method, url, body }) => ({
      id,
      method,
      url: url.includes('?') ? url : withAnyQuery(url),
      ...(body === undefined ? {} : { body }),
    })),
  )
  return list.length === 0 ? {} : { calls: { $contains: list } }
}

function withoutContentType(headers: Json | undefined): JsonObject {
  const { 'content-type': _contentType, ...others } = isObject(headers) ? headers : {}
  return withoutSecretHeaders(others)
}

function withoutSecretAnswers(answers: JsonObject): JsonObject {
  const masked = (answer: Json): Json =>
    isObject(answer) && isObject(answer.headers) ? { ...answer, headers: withoutSecretHeaders(answer.headers) } : answer
  return Object.fromEntries(
    Object.entries(answers).map(([id, one]) => [id, Array.isArray(one) ? one.map(masked) : masked(one)]),
  )
}
