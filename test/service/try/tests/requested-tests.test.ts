/** `POST /endpoints/tests/run`: its requests, in and out of isolated processes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { TestReport } from '../../../../src/try/tests/test-file.ts'
import { json, type Service, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const DOCUMENT: JsonObject = {
  name: 'drawn',
  endpoint: { pattern: '/drawn' },
  transformation: { input: 'JSON', output: 'JSON' },
  constants: { key: `\${env:PATH}` },
  inputValidation: { required: ['a'] },
  inputTransforms: {
    now: '$now()',
    random: '$random()',
    list: '$shuffle([1..9])',
    time: '$toMillis("2020-07-01T12:00:00")',
  },
  inputMapping: {
    'transforms.now': 'now',
    'transforms.random': 'random',
    'transforms.list': 'list',
    'transforms.time': 'time',
    'constants.key': 'key',
  },
}
const tests: JsonObject[] = [
  {
    name: 'drawn',
    given: { message: { body: { a: 1 } } },
    expect: { mapped: { $contains: { now: '2026-01-01T00:00:00.000Z', time: 1593604800000, key: 'path' } } },
  },
  { name: 'refused', given: { message: { body: {} } }, expect: { failure: { code: 'VALIDATION_FAILED' } } },
  { name: 'shown', given: { message: { body: { a: 1 } } }, expect: { mapped: null } },
]

describe('tests over HTTP', () => {
  let service: Service
  let isolated: Service
  before(async () => {
    service = await startService()
    isolated = await startService({ ISOLATION: 'process', EXPRESSION_TIMEOUT_MS: '10000' })
  })
  after(() => Promise.all([service.stop(), isolated.stop()]))

  const run = (request: Json, on = service) => on.fetch('/endpoints/tests/run', json('POST', request))
  const reportOf = async (request: Json, on = service): Promise<TestReport> => {
    // A busy machine may start no isolated process in time.
    const reply = await until(
      () => run(request, on),
      ({ status }) => status !== 503,
    )
    assert.equal(reply.status, 200, reply.text)
    return reply.json<TestReport>()
  }
  const withoutTimes = ({ tests: results }: TestReport) => results.map(({ ms: _ms, ...result }) => result)

  test('give the same in isolated processes, at every run', async () => {
    const first = withoutTimes(await reportOf({ endpoint: DOCUMENT, tests }))
    const verdicts = first.map(({ verdict }) => verdict)
    assert.deepEqual(verdicts, ['passed', 'passed', 'failed'])
    const runs = [service, isolated, isolated].map((on) => reportOf({ endpoint: DOCUMENT, tests }, on))
    const reports = await Promise.all(runs)
    for (const report of reports) assert.deepEqual(withoutTimes(report), first)
  })

  test('run on a stored endpoint', async () => {
    const { _id } = await service.register({ ...DOCUMENT, inputMapping: { 'requestBody.a': 'a' } })
    const one = { name: 'a', given: { message: { body: { a: 1 } } }, expect: { answer: { body: { a: 1 } } } }
    assert.equal((await reportOf({ endpointId: _id, tests: [one] })).passed, 1)
    assert.equal((await reportOf({ endpointId: _id, tests: { tests: [one] } })).passed, 1)
  })

  test('use the snapshots of the request', async () => {
    const one = { name: 'a', given: { message: { body: '{' } }, expect: { snapshot: true } }
    const snapshot = { outcome: 'refused' }
    const [result] = (await reportOf({ endpoint: DOCUMENT, tests: [one], snapshots: { a: snapshot } })).tests
    assert.deepEqual(
      result?.mismatches.map(({ path }) => path).sort(),
      ['/expect/snapshot/answer', '/expect/snapshot/failure', '/expect/failure'].sort(),
    )
  })

  test('report the snapshots as they would be now if asked', async () => {
    const one = { name: 'a', given: { message: { body: {} } }, expect: { snapshot: true } }
    const { snapshots } = await reportOf({
      endpoint: DOCUMENT,
      tests: [one, { ...one, name: 'b', expect: { outcome: 'done' } }],
      update: true,
    })
    assert.deepEqual(Object.keys(snapshots ?? {}), ['a'])
    const again = await reportOf({ endpoint: DOCUMENT, tests: [one], ...(snapshots && { snapshots }) })
    assert.deepEqual([again.passed, again.snapshots], [1, undefined])
  })

  test('report the coverage if asked', async () => {
    const { coverage } = await reportOf({ endpoint: DOCUMENT, tests: tests.slice(1, 2), coverage: true })
    assert.ok(
      coverage !== undefined && coverage.percent === 0 && coverage.missed.length === coverage.total,
      JSON.stringify(coverage),
    )
    assert.equal((await reportOf({ endpoint: DOCUMENT, tests, coverage: true })).coverage?.percent, 100)
    assert.equal((await reportOf({ endpoint: DOCUMENT, tests })).coverage, undefined)
    const durable = { id: 'lab', config: { method: 'POST', url: 'http://lab.test' }, delivery: {} }
    const endpoint = { ...DOCUMENT, requests: { response: [durable] } }
    assert.equal((await reportOf({ endpoint, tests, coverage: true })).coverage?.percent, 100)
  })

  test('do not run on a document with faults, which are those of its registration', async () => {
    const faulty = { ...DOCUMENT, name: 'faulty', endpoint: { pattern: '/faulty' }, inputTransforms: { a: '$(' } }
    const report = await reportOf({ endpoint: faulty, tests })
    const refused = await service.fetch('/endpoints', json('POST', faulty))
    assert.equal(report.ran, false)
    assert.deepEqual(report.lint.errors, refused.json().details)
  })

  const refusals: readonly (readonly [request: Json, path: string])[] = [
    [[], ''],
    [{ tests }, ''],
    [{ endpoint: DOCUMENT }, 'tests'],
    [{ endpoint: DOCUMENT, tests, snapshot: {} }, 'snapshot'],
    [{ endpoint: DOCUMENT, tests, snapshots: [] }, 'snapshots'],
    [{ endpoint: DOCUMENT, tests, coverage: 'yes' }, 'coverage'],
    [{ endpoint: DOCUMENT, tests: [{ name: 'a' }] }, 'tests[0].expect'],
    [{ endpoint: DOCUMENT, tests: { tests: [{ name: 'a' }] } }, 'tests.tests[0].expect'],
  ]
  test('refuse what is wrong, in place', async () => {
    for (const [request, path] of refusals) {
      const { status, text, json: read } = await run(request)
      const { code, details } = read<{ code: string; details: readonly JsonObject[] }>()
      assert.deepEqual([status, code, details.length, details[0]?.path], [400, 'TESTS_INVALID', 1, path], text)
    }
  })

  test('refuse an endpoint that does not exist, and other methods', async () => {
    assert.equal((await run({ endpointId: '0'.repeat(24), tests })).status, 404)
    assert.equal((await run({ endpointId: 'x', tests })).status, 400)
    assert.equal((await service.fetch('/endpoints/tests/run')).status, 405)
  })

  test('read the most tests of the most bytes', async () => {
    const text = 'x'.repeat(1_048_576 - 500)
    const one = { name: 'a', given: { message: { body: { a: text } } }, expect: { outcome: 'done' } }
    assert.equal((await reportOf({ endpoint: DOCUMENT, tests: [one] })).passed, 1)
    assert.equal(
      (await run({ endpoint: DOCUMENT, tests: [one], snapshots: { a: { x: 'y'.repeat(3_000_000) } } })).status,
      413,
    )
  })
})
