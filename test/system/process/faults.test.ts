/** The short form of run.ts: what is true of every fault, whatever the machine does meanwhile. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { freshFolder, type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { ANSWER_LIMIT } from './faults.ts'
import { meetFaults, type Report } from './meet-faults.ts'

/** How long a message may wait for its turn: a slow machine takes seconds for the largest of them together. */
const WAIT_MS = 60_000

describe('messages whose upstream is at fault', { skip: process.platform !== 'linux' && 'counts in /proc' }, () => {
  let service: SpawnedService
  let report: Report
  before(async () => {
    const env = { ANSWER_LIMIT, CIRCUIT_BREAKER_FAILURES: '0', MESSAGE_LOG: 'off', MESSAGE_WAIT_MS: `${WAIT_MS}` }
    service = await spawnService(freshFolder({ after }), { env })
    const pid = service.child.pid as number
    // Most faults end by themselves: their time is long, so that a slow machine gives none of them another meaning.
    const plan = { timeoutMs: 300, patientMs: 20_000, messages: 1, concurrency: 64 }
    report = await meetFaults({ url: service.url, pid }, plan)
  })
  after(async () => {
    service.child.kill('SIGTERM')
    await service.ended
  })

  test('are all answered, with the status that is true', () => {
    assert.deepEqual(
      report.met.flatMap(({ fault, wrong }) => wrong.map((sentence) => `${fault}: ${sentence}`)),
      [],
    )
    assert.ok(report.met.length > 60)
  })

  test('are answered within their deadline and the wait for their turn', () => {
    // run.ts reports how late they are; here others may have the processor.
    assert.deepEqual(
      report.met.filter(({ lateMs }) => lateMs > WAIT_MS),
      [],
    )
  })

  test('leave no socket and little memory behind', () => {
    assert.deepEqual(report.leaked, { connections: 0, sockets: 0 })
    assert.ok(report.memory.maxMb - report.memory.beforeMb < 400, JSON.stringify(report.memory))
  })

  test('leave a service that goes on', async () => {
    assert.equal((await fetch(`${service.url}/uptime`)).status, 200)
    assert.equal(service.output.stderr, '')
  })
})
