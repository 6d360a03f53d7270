/** Drift of a service with workers: one answer for all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriftAnswer } from '../../support/drift/samples.ts'
import { startCrew } from './crew.ts'

test('the sampled messages of all workers are in one answer, whichever worker gives it', async (t) => {
  const crew = await startCrew(t, { env: { DRIFT_SAMPLE: '1' } })
  await crew.register({ endpoint: { pattern: '/find' } })
  const callers = await crew.connectToEach('/find')
  const { _id } = await crew.register({
    endpoint: { pattern: '/all' },
    inputMapping: { 'requestBody.common': 'a', 'requestBody.n': 'n', 'requestBody.gone': 'x' },
  })
  for (const [n, { call }] of callers.entries()) {
    await call('POST', '/all', { [`only${n}`]: n, both: true, ...(n === 0 ? { common: 1 } : { n }) })
  }
  for (const { call } of callers) {
    const { status, body } = await call('GET', `/endpoints/${_id}/drift`)
    assert.equal(status, 200)
    const { sampled, unread, missing, hours } = body as unknown as DriftAnswer
    assert.equal(sampled, 2)
    // An hour may have passed in between.
    assert.equal(
      hours.reduce((sum, one) => sum + one.sampled, 0),
      2,
    )
    assert.deepEqual(
      unread.map(({ path, seen }) => [path, seen]),
      [
        ['requestBody.both', 2],
        ['requestBody.only0', 1],
        ['requestBody.only1', 1],
      ],
    )
    assert.deepEqual(
      missing.map(({ path }) => path),
      ['requestBody.gone'],
    )
  }
  for (const caller of callers) caller.end()
})
