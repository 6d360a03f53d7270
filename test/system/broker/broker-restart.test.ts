/** A 2xx is a promise: the short form of `broker-restart.ts`. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { tryStartKafka } from '../../support/services/kafka.ts'
import { produceThroughRestart } from './broker-restart.ts'

// A broker of its own: the one that other tests use must not be killed.
const kafka = await tryStartKafka()

describe('a broker that is killed and started again', { skip: typeof kafka === 'string' ? kafka : false }, () => {
  test('every message that was answered with 2xx is in the topic; the others got 502 or 504', async () => {
    assert.ok(typeof kafka !== 'string')
    after(() => kafka.stop())
    const { answers, lost } = await produceThroughRestart(kafka, 300, 10)
    assert.equal(lost, 0)
    const { 200: done = 0, 502: unreachable = 0, 504: timedOut = 0, ...others } = answers
    assert.deepEqual(others, {})
    assert.equal(done + unreachable + timedOut, 300)
    assert.ok(done >= 100 && unreachable + timedOut > 0, JSON.stringify(answers))
  })
})
