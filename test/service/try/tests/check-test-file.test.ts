/** The check of a file of tests: all faults at once, each in place, and nothing that makes it throw. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createOfflineTests } from '../../../../src/app/offline.ts'
import type { Json } from '../../../../src/core/json.ts'
import { checkTestFile } from '../../../../src/try/tests/check-test-file.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { loggerInto, readTestSettings } from '../../../support/service.ts'

const one = (changes: Json) => ({ tests: [{ name: 'a', expect: {}, ...(changes as object) }] })
const $file = { $file: 'a.json' }

const steps = (...list: Json[]) => ({ tests: [{ name: 'a', steps: list }] })
const given = (part: Json) => one({ given: part })
const expecting = (part: Json) => one({ expect: part })
const named = (count: number) => ({ tests: Array.from({ length: count }, (_, n) => ({ name: `${n}`, expect: {} })) })
const NO_COMMAND_LINE = /only the command line/

type Fault = readonly [path: string, message: RegExp]
const cases: readonly (readonly [name: string, file: Json, ...Fault[]])[] = [
  ['no object', [], ['', /an object with "tests"/]],
  ['no tests', {}, ['tests', /is required/]],
  ['an unknown field', { tests: [], ignored: [] }, ['ignored', /did you mean "ignore"/]],
  ['an empty test', { tests: [{}] }, ['tests[0].name', /is required/], ['tests[0].expect', /is required/]],
  [
    'two tests of one name',
    { tests: [...one({}).tests, ...one({}).tests] },
    ['tests[1].name', /tests\[0\] has this name/],
  ],
  ['a reserved name', one({ name: '__proto__' }), ['tests[0].name', /reserved/]],
  ['too many tests', named(201), ['tests', /201 tests/]],
  ['too many steps', steps(...Array(51).fill({ expect: {} })), ['tests[0].steps', /at most 50/]],
  [
    'steps beside given',
    { tests: [{ name: 'a', given: {}, steps: [{ expect: {} }] }] },
    ['tests[0]', /either "steps"/],
  ],
  ['no steps', steps(), ['tests[0].steps', /array/]],
  ['a step without expectation', steps({}), ['tests[0].steps[0].expect', /is required/]],
  ['a misspelt part', given({ lookup: {} }), ['tests[0].given.lookup', /did you mean "lookups"/]],
  ['a misspelt expectation', expecting({ anwser: {} }), ['tests[0].expect.anwser', /did you mean "answer"/]],
  [
    'wrong canned answers',
    given({ lookups: { p: { status: 1 } }, responses: { r: [{ fault: 'slow' }] } }),
    ['tests[0].given.lookups.p.status', /100 to 599/],
    ['tests[0].given.responses.r[0].fault', /one of/],
  ],
  ['a wrong query', given({ message: { query: { a: 1 } } }), ['tests[0].given.message.query.a', /string/]],
  [
    'a run that was due at no time',
    given({ message: { timestamps: { scheduledFor: '2026-04-31T00:00:00Z' } } }),
    ['tests[0].given.message.timestamps.scheduledFor', /the calendar/],
  ],
  [
    'a run with a body',
    given({ message: { body: {}, timestamps: { scheduledFor: '2026-04-30T00:00:00Z' } } }),
    ['tests[0].given.message.body', /has no body/],
  ],
  ['no day of the calendar', given({ now: '2026-04-31T00:00:00Z' }), ['tests[0].given.now', /the calendar/]],
  ['a time without offset', given({ now: '2026-01-01T00:00:00' }), ['tests[0].given.now', /with its offset/]],
  ['a secret that is no text', given({ secrets: { A: 1 } }), ['tests[0].given.secrets.A', /string/]],
  ['an empty reason', one({ skip: ' ' }), ['tests[0].skip', /the reason/]],
  ['an unknown outcome', expecting({ outcome: 'ok' }), ['tests[0].expect.outcome', /"done"/]],
  [
    'an unknown part of a failure',
    expecting({ failure: { cod: 'X' } }),
    ['tests[0].expect.failure.cod', /did you mean "code"/],
  ],
  ['calls without ids', expecting({ calls: [{ url: 'http://x' }] }), ['tests[0].expect.calls[0].id', /is required/]],
  [
    'an unknown part of a call',
    expecting({ calls: [{ id: 'a', uri: 'x' }] }),
    ['tests[0].expect.calls[0].uri', /Unknown field|did you mean/],
  ],
  [
    'parts of a delivery that it does not have',
    expecting({ deliveries: [{ id: 'a', kind: 'response' }, { orderKey: 'x' }] }),
    ['tests[0].expect.deliveries[0].kind', /Unknown field|did you mean/],
    ['tests[0].expect.deliveries[1].id', /is required/],
  ],
  [
    'a wrong operator',
    expecting({ answer: { body: { a: { $type: 'text' } } } }),
    ['tests[0].expect.answer.body.a.$type', /takes one of/],
  ],
  [
    'a wrong pointer',
    { ignore: ['a/b', '/a~2'], tests: [] },
    ['ignore[0]', /JSON Pointer/],
    ['ignore[1]', /JSON Pointer/],
  ],
  [
    'files',
    one({
      given: {
        message: { body: $file },
        lookups: { p: { body: $file } },
        responses: { r: [{ body: $file }] },
        state: $file,
      },
      expect: {
        answer: { body: $file },
        calls: [{ id: 'a', body: $file }],
        deliveries: [{ id: 'a', body: $file }],
        mapped: $file,
      },
    }),
    ...[
      'given.message.body',
      'given.lookups.p.body',
      'given.responses.r[0].body',
      'given.state',
      'expect.answer.body',
      'expect.calls[0].body',
      'expect.deliveries[0].body',
      'expect.mapped',
    ].map((path): Fault => [`tests[0].${path}`, NO_COMMAND_LINE]),
  ],
  [
    'patterns that are too large together',
    expecting({ answer: { body: Array.from({ length: 200 }, (_, n) => ({ $matches: `[ab]{1000}${n}` })) } }),
    ['tests[0].expect.answer.body[19].$matches', /more than 20,000 instructions/],
  ],
  ['too many bytes', given({ message: { body: 'x'.repeat(1_048_576) } }), ['', /1,048,576 bytes/]],
  [
    'several faults',
    { ignore: 1, tests: [{ nme: 'a', expect: { snapshot: 'yes' } }] },
    ['ignore', /array/],
    ['tests[0].nme', /did you mean "name"/],
    ['tests[0].expect.snapshot', /true or false/],
  ],
]

describe('a file of tests with', () => {
  for (const [name, file, ...faults] of cases) {
    test(name, () => {
      const errors = checkTestFile(JSON.parse(JSON.stringify(file))).lints.filter(
        ({ severity }) => severity === 'error',
      )
      const shown = errors.map(({ path }) => path).sort()
      assert.deepEqual(shown, faults.map(([path]) => path).sort(), JSON.stringify(errors))
      for (const [path, message] of faults)
        assert.match(errors.find((error) => error.path === path)?.message ?? '', message)
    })
  }

  test('the most tests and steps has no faults', () => {
    const steps = Array.from({ length: 50 }, () => ({ expect: {} }))
    const tests = Array.from({ length: 200 }, (_, n) => ({ name: `${n}`, steps }))
    assert.deepEqual(checkTestFile({ tests }).lints, [])
  })
})

const names =
  'ignore tests name given expect steps skip message body lookups responses state now secrets answer status headers calls deliveries id failure transforms mapped snapshot todo $contains $file'
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom<Json>(null, true, 0, '', 'a', '2026-01-01T00:00:00Z', [], {}),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names.split(' ')), tie('tree'), { maxKeys: 5 }),
  ),
}))

test('any JSON gets lints, and runs if it has none', async () => {
  const run = createOfflineTests(readTestSettings({}), loggerInto([]))
  const document = {
    name: 'a',
    endpoint: { pattern: '/a' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { lookup: [{ id: 'a', config: { method: 'GET', url: 'http://a.test/' } }] },
  }
  let ran = 0
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        tree,
        fc.array(tree, { maxLength: 3 }).map((tests) => ({ tests })),
      ),
      async (raw) => {
        const { file, lints } = checkTestFile(raw)
        for (const { message } of lints) assert.match(message, /\S/)
        if (lints.some(({ severity }) => severity === 'error')) return
        const report = await run(document, file)
        assert.equal(report.tests.length, file.tests.length)
        ran += 1
      },
    ),
    { numRuns: LONG ? 500 : 150 },
  )
  assert.ok(ran > 0)
})
