/** Checks a file of tests. All its faults are reported at once, each at its place. */

import { isObject, type Json, type JsonObject, REFUSED_NAMES } from '../../core/json.ts'
import { collectInto, type Lint, type LintSink } from '../../core/lint.ts'
import { OUTCOMES } from '../../core/records/message-record.ts'
import { json, list, object, text } from '../../core/schema.ts'
import { checkSchema } from '../../document/checks/check-field.ts'
import { checkMessage } from '../../document/checks/dry-run-request.ts'
import { isFileReference } from '../../document/file-references.ts'
import { lintExpectation, newPatternRoom, type PatternRoom, parseOperator, parseTime } from './operators.ts'
import {
  DEFAULT_NOW,
  type DocumentTest,
  type Expectation,
  type Given,
  MAX_STEPS,
  MAX_TEST_BYTES,
  MAX_TESTS,
  type TestFile,
  type TestStep,
} from './test-file.ts'
import { TestFile as FileSchema } from './test-file-schema.ts'

/** Parts of an expectation that may be an operator in place of these. */
const EXPECTED_FAILURE = object({}, { error: json, code: json, status: json, stage: json, path: json, details: json })
const OF_REQUEST = { item: json, method: json, url: json, topic: json, key: json, headers: json, body: json }
const EXPECTED = {
  calls: list(object({ id: text }, { kind: json, ...OF_REQUEST })),
  deliveries: list(object({ id: text }, { orderKey: json, ...OF_REQUEST })),
}

type CheckedTestFile = Readonly<{ file: TestFile; lints: readonly Lint[] }>

/**
 * In: a file of tests as JSON, at most MAX_TEST_BYTES. Out: the file for `runTests`, and all its lints, with paths as
 * `tests[0].given.lookups.patient`. A file with a lint that is an error must not run; warnings are for its author.
 */
export function checkTestFile(raw: Json): CheckedTestFile {
  const lints: Lint[] = []
  const lint = collectInto(lints)
  const written = isObject(raw) ? raw : {}
  if (!isObject(raw)) lint.error('A file of tests is an object with "tests", an array.')
  else checkSchema(FileSchema, raw, lint)
  if (Buffer.byteLength(JSON.stringify(raw)) > MAX_TEST_BYTES) {
    lint.error(`The tests have more than ${MAX_TEST_BYTES.toLocaleString('en')} bytes; use shorter messages, or fewer.`)
  }
  const tests = asObjects(written.tests)
  if (tests.length > MAX_TESTS) {
    lint.at('tests').error(`There are ${tests.length} tests; the most of one document are ${MAX_TESTS}.`)
  }
  lintPointers(written.ignore, lint.at('ignore'))
  lintNames(tests, lint.at('tests'))
  const room = newPatternRoom()
  for (const [index, test] of tests.entries()) lintTest(test, lint.at('tests', index), room)
  const { endpoint, ignore } = written
  const file: TestFile = {
    ...(typeof endpoint === 'string' ? { endpoint } : {}),
    ignore: Array.isArray(ignore) ? ignore.filter((one) => typeof one === 'string') : [],
    tests: tests.slice(0, MAX_TESTS).map(toDocumentTest),
  }
  return { file, lints }
}

const asObjects = (list: Json | undefined): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

function lintPointers(pointers: Json | undefined, lint: LintSink): void {
  if (!Array.isArray(pointers)) return
  for (const [index, pointer] of pointers.entries()) {
    if (typeof pointer === 'string' && !/^(?:\/(?:[^~]|~[01])*)*$/.test(pointer)) {
      lint.at(index).error('A JSON Pointer (RFC 6901) starts with "/": "/meta/lastUpdated", or "" for the whole body.')
    }
  }
}

function lintNames(tests: readonly JsonObject[], lint: LintSink): void {
  const seen = new Map<string, number>()
  for (const [index, { name }] of tests.entries()) {
    if (typeof name !== 'string') continue
    const sink = lint.at(index, 'name')
    const first = seen.get(name)
    if (first !== undefined) sink.error(`The test ${lint.at(first).path} has this name too; give each its own.`)
    else seen.set(name, index)
    if (REFUSED_NAMES.has(name)) sink.error(`The name "${name}" is reserved; choose another one.`)
  }
}

function lintTest(test: JsonObject, lint: LintSink, room: PatternRoom): void {
  const { steps } = test
  if (steps === undefined) {
    if (test.expect === undefined)
      lint.at('expect').error(`"${lint.at('expect').path}" is required: what the message must do.`)
    lintStep(test, lint, room)
    return
  }
  if (test.given !== undefined || test.expect !== undefined) {
    lint.error('A test has either "steps", each with its "given" and "expect", or one "given" and "expect".')
  }
  const list = asObjects(steps)
  if (list.length > MAX_STEPS) lint.at('steps').error(`A test has at most ${MAX_STEPS} steps.`)
  for (const [index, step] of list.entries()) lintStep(step, lint.at('steps', index), room)
}

function lintStep({ given, expect }: JsonObject, lint: LintSink, room: PatternRoom): void {
  if (isObject(given)) lintGiven(given, lint.at('given'))
  if (isObject(expect)) lintExpected(expect, lint.at('expect'), room)
}

function lintGiven(given: JsonObject, lint: LintSink): void {
  const { message, lookups, responses, state, now, tables } = given
  checkMessage(message, lint.at('message'))
  if (isObject(message)) refuseFile(message.body, lint.at('message', 'body'))
  for (const [group, answers] of Object.entries({ lookups, responses })) {
    if (!isObject(answers)) continue
    for (const [id, answer] of Object.entries(answers)) {
      const sink = lint.at(group, id)
      if (isObject(answer)) refuseFile(answer.body, sink.at('body'))
      for (const [index, one] of asObjects(answer).entries()) refuseFile(one.body, sink.at(index, 'body'))
    }
  }
  refuseFile(state, lint.at('state'))
  for (const [name, table] of Object.entries(isObject(tables) ? tables : {})) refuseFile(table, lint.at('tables', name))
  if (typeof now === 'string' && parseTime(now) === undefined) {
    lint
      .at('now')
      .error(`"${lint.at('now').path}" must be a time of the calendar with its offset, such as "${DEFAULT_NOW}".`)
  }
}

function lintExpected(expect: JsonObject, lint: LintSink, room: PatternRoom): void {
  const { outcome, answer, failure, ...others } = expect
  if (typeof outcome === 'string' && !OUTCOMES.some((name) => name === outcome)) {
    const known = OUTCOMES.map((name) => `"${name}"`).join(', ')
    lint.at('outcome').error(`"${lint.at('outcome').path}" must be one of ${known}.`)
  }
  if (isObject(answer)) {
    refuseFile(answer.body, lint.at('answer', 'body'))
    for (const [name, value] of Object.entries(answer)) lintExpectation(value, lint.at('answer', name), room)
  }
  if (failure !== undefined) lintFailure(failure, lint.at('failure'), room)
  for (const name of ['calls', 'deliveries'] as const) lintCalls(name, others[name], lint.at(name), room)
  refuseFile(others.mapped, lint.at('mapped'))
  for (const name of ['outcome', 'transforms', 'mapped', 'state']) {
    const value = expect[name]
    if (value !== undefined) lintExpectation(value, lint.at(name), room)
  }
}

function lintFailure(failure: Json, lint: LintSink, room: PatternRoom): void {
  if (parseOperator(failure) === undefined) {
    checkSchema(EXPECTED_FAILURE, failure, lint)
  }
  lintExpectation(failure, lint, room)
}

function lintCalls(name: keyof typeof EXPECTED, calls: Json | undefined, lint: LintSink, room: PatternRoom): void {
  if (calls === undefined) return
  lintExpectation(calls, lint, room)
  if (parseOperator(calls) !== undefined) return
  checkSchema(EXPECTED[name], calls, lint)
  for (const [index, one] of asObjects(calls).entries()) refuseFile(one.body, lint.at(index, 'body'))
}

/** The command line puts the content in place of `$file` before it checks the tests. */
function refuseFile(value: Json | undefined, lint: LintSink): void {
  if (!isFileReference(value)) return
  lint.error('"$file" names a file beside the tests, which only the command line reads; put its content here.')
}

function toDocumentTest(test: JsonObject): DocumentTest {
  const { name, source, skip, publish, steps } = test
  return {
    name: typeof name === 'string' ? name : '',
    ...(isObject(source) ? { source } : {}),
    ...(typeof skip === 'string' ? { skip } : {}),
    ...(typeof publish === 'boolean' ? { publish } : {}),
    steps: (steps === undefined ? [test] : asObjects(steps)).slice(0, MAX_STEPS).map(toTestStep),
    hasSteps: steps !== undefined,
  }
}

function toTestStep({ given, expect }: JsonObject): TestStep {
  const { now, ...others } = isObject(given) ? given : {}
  const nowMs = parseTime(typeof now === 'string' ? now : DEFAULT_NOW) ?? 0
  // The checks above ensure the types; a file with errors does not run.
  const complete = {
    message: {},
    lookups: {},
    responses: {},
    secrets: {},
    tables: {},
    ...others,
    nowMs,
  } as unknown as Given
  return { given: complete, expect: (isObject(expect) ? expect : {}) as Expectation }
}
