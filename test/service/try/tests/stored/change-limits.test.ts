/** The tests of a change have a time, and there is an end to those that it names. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createOfflineTests } from '../../../../../src/app/offline.ts'
import { openStore } from '../../../../../src/app/open-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { createChangeTests } from '../../../../../src/try/tests/stored-tests.ts'
import { endpointOf, idOf, insertEndpoint } from '../../../../support/contracts/records.ts'
import { readTestSettings } from '../../../../support/service.ts'
import { silent } from '../../../../support/silent.ts'

const settings = readTestSettings({ DATABASE_URL: 'sqlite::memory:' })
const runTests = createOfflineTests(settings, silent)

const testsOf = (count: number) =>
  JSON.stringify({
    tests: Array.from({ length: count }, (_, n) => ({ name: `test ${n}`, expect: { outcome: 'refused' } })),
  })

describe('the tests of a change', () => {
  let store: Store
  before(async () => {
    store = await openStore(settings, silent)
    for (let n = 0; n < 12; n += 1) await insertEndpoint(store.endpoints, endpointOf(n))
  })
  after(() => store.close())
  beforeEach(async () => {
    for (let n = 0; n < 12; n += 1) await store.tests.write(idOf(n), undefined, await store.tests.get(idOf(n)))
  })

  const documentOf = (n: number) =>
    endpointOf(n, { endpoint: { pattern: `/${n}` }, transformation: { input: 'JSON', output: 'JSON' } }).document
  const start = (mode: 'warn' | 'require', limitMs?: number) => {
    const changeTests = createChangeTests({
      mode,
      store: store.tests,
      runTests,
      ...(limitMs === undefined ? {} : { limitMs }),
    })
    assert.ok(changeTests)
    return changeTests({}).run
  }

  test('fail, and say so, if the ones before took all the time of the change', async () => {
    for (const n of [0, 1]) await store.tests.write(idOf(n), testsOf(20), undefined)
    const run = start('require', 0)
    const lints = [...(await run(idOf(0), documentOf(0))), ...(await run(idOf(1), documentOf(1)))]
    const late = lints.filter(({ message }) => message.includes('took all the time'))
    assert.ok(late.length >= 38, JSON.stringify(lints))
    assert.ok(late.every(({ severity, path }) => severity === 'error' && path.startsWith('tests[')))
  })

  test('are named up to 1,000; the others are counted', async () => {
    for (let n = 0; n < 6; n += 1) await store.tests.write(idOf(n), testsOf(200), undefined)
    const run = start('warn')
    const lints = []
    for (let n = 0; n < 6; n += 1) lints.push(await run(idOf(n), documentOf(n)))
    const lengths = lints.map(({ length }) => length)
    assert.deepEqual(lengths, [200, 200, 200, 200, 200, 1])
    assert.deepEqual(lints.at(-1), [{ path: 'tests', message: '200 more tests fail.', severity: 'warning' }])
  })

  test('that an earlier version has stored and this one refuses fail as a whole', async () => {
    await store.tests.write(idOf(0), '{"tests":[{"name":"a","expected":{}}]}', undefined)
    const [lint, ...others] = await start('require')(idOf(0), documentOf(0))
    assert.deepEqual(others, [])
    assert.deepEqual([lint?.path, lint?.severity], ['tests', 'error'])
    assert.match(lint?.message ?? '', /^The stored tests cannot run: /)
  })
})
