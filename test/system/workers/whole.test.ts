/** What one worker is asked and reports for the whole service. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { readExposition } from '../../support/metrics/exposition.ts'
import { endpointDocument, startUpstream } from '../../support/service.ts'
import { type Crew, startCrew, until } from './crew.ts'

const read = async (crew: Crew) => readExposition((await crew.admin('GET', '/metrics')).body.text as string)

const sumOf = ({ series }: Awaited<ReturnType<typeof read>>, name: string, endpoint?: string) =>
  series
    .filter((one) => one.name === name && (endpoint === undefined || one.labels.endpoint === endpoint))
    .reduce((sum, { value }) => sum + value, 0)

describe('two workers', () => {
  test('are one in metrics, statistics, the message log and health', async (t) => {
    const crew = await startCrew(t)
    const { _id } = await crew.register({ name: 'All', endpoint: { pattern: '/all' } })
    const callers = await crew.connectToEach('/all')
    const before = sumOf(await read(crew), 'crosswalk_messages_total', 'All')
    const sent = 10
    for (const caller of callers) {
      for (let count = 0; count < sent; count += 1) await caller.call('POST', '/all', {})
      const { status } = await caller.call('POST', '/all?failing', 'no object' as never)
      assert.ok(status === 200 || status === 400)
    }
    const exposition = await read(crew)
    const total = before + 2 * (sent + 1)
    assert.equal(sumOf(exposition, 'crosswalk_messages_total', 'All'), total)
    assert.equal(sumOf(exposition, 'crosswalk_message_duration_seconds_count', 'All'), total)
    const once = ['crosswalk_build_info', 'crosswalk_workers_lost_total', 'process_start_time_seconds']
    for (const name of once) assert.equal(exposition.series.filter((one) => one.name === name).length, 1, name)
    assert.equal(sumOf(exposition, 'crosswalk_build_info'), 1)
    assert.equal(sumOf(exposition, 'crosswalk_workers'), 4)

    for (const caller of callers) {
      const { body } = await caller.call('GET', `/endpoints/${_id}/stats`)
      assert.equal((body.hour as JsonObject).count, total)
    }
    const { body: found } = await crew.admin('GET', '/messages?endpoint=All&limit=500')
    const ids = (found.messages as { id: string }[]).map(({ id }) => id)
    assert.equal(ids.length, total)
    assert.equal(new Set(ids.map((id) => id.slice(-8))).size, 2)
    const { body: health } = await crew.admin('GET', '/health/ready')
    assert.deepEqual(health.workers, { configured: 2, running: 2, lost: 0 })
    for (const caller of callers) caller.end()
  })

  test('report a message that was just answered, whichever worker did', async (t) => {
    const crew = await startCrew(t)
    await crew.register({ name: 'All', endpoint: { pattern: '/all' }, messageLog: 'all' })
    const callers = await crew.connectToEach('/all')
    for (const caller of callers) {
      for (let count = 0; count < 5; count += 1) {
        const answer = await fetch(`${crew.url}/all`, { method: 'POST', body: '{}' })
        const id = answer.headers.get('x-crosswalk-message-id')
        const { status, body } = await crew.admin('GET', `/messages/${id}`)
        assert.deepEqual([status, body.id], [200, id])
      }
      caller.end()
    }
  })

  test('count on what a lost one had counted, while its endpoint is in force', async (t) => {
    const crew = await startCrew(t)
    const { _id } = await crew.register({ name: 'All', endpoint: { pattern: '/all' } })
    const callers = await crew.connectToEach('/all')
    for (let count = 0; count < 20; count += 1) await callers[count % 2]?.call('POST', '/all', {})
    for (const caller of callers) caller.end()
    const before = sumOf(await read(crew), 'crosswalk_messages_total', 'All')
    process.kill(crew.workerPids()[0] as number, 'SIGKILL')
    const after = await until(
      'the loss is counted',
      () => read(crew).catch(() => undefined),
      (exposition) => exposition !== undefined && sumOf(exposition, 'crosswalk_workers') === 4,
    )
    assert.ok(after)
    assert.equal(sumOf(after, 'crosswalk_messages_total', 'All'), before)
    assert.equal(sumOf(after, 'crosswalk_workers_lost_total'), 1)
    await crew.call('DELETE', `/endpoints/${_id}`)
    assert.equal(sumOf(await read(crew), 'crosswalk_messages_total', 'All'), 0)
  })

  test('share MAX_MESSAGES_IN_FLIGHT, and health counts what all have', async (t) => {
    const released = Promise.withResolvers<void>()
    const upstream = await startUpstream(async () => {
      await released.promise
      return {}
    })
    t.after(upstream.stop)
    const most = 5
    const crew = await startCrew(t, { env: { MAX_MESSAGES_IN_FLIGHT: `${most}`, MESSAGE_PORT_MANAGEMENT: 'off' } })
    const lookup = [{ id: 'up', config: { url: upstream.url } }]
    for (const document of [
      { name: 'Held', endpoint: { pattern: '/held' }, requests: { lookup } },
      { name: 'Quick', endpoint: { pattern: '/quick' } },
    ]) {
      assert.equal((await crew.admin('POST', '/endpoints', endpointDocument(document))).status, 201)
    }
    const callers = await crew.connectToEach('/quick')
    for (const { call } of callers) {
      const { status, body } = await call('GET', '/endpoints')
      assert.equal(status, 404)
      assert.match(String(body.error), new RegExp(`admin port \\(${new URL(crew.adminUrl).port}\\)`))
    }
    const calls: Promise<void>[] = []
    const statuses: number[] = []
    const inFlight = async () => (await crew.admin('GET', '/health/ready')).body.messagesInFlight as number
    // Over new connections, until they have reached every worker often enough.
    while ((await inFlight()) < most) {
      for (let count = 0; count < 5; count += 1) {
        calls.push(crew.call('POST', '/held', {}).then(({ status }) => void statuses.push(status)))
      }
    }
    await until(
      'the others are refused',
      () => statuses.length,
      (count) => count === calls.length - most,
    )
    assert.equal(await inFlight(), most)
    for (const caller of callers) assert.equal((await caller.call('POST', '/quick', {})).status, 503)
    released.resolve()
    await Promise.all(calls)
    assert.equal(statuses.filter((status) => status === 200).length, most)
    assert.equal(statuses.filter((status) => status === 503).length, calls.length - most)
    for (const caller of callers) caller.end()
  })

  test('have one uptime, and plans of replays are found by every call', async (t) => {
    const crew = await startCrew(t)
    let last = 0
    for (let count = 0; count < 6; count += 1) {
      const { body } = await (count % 2 ? crew.call : crew.admin)('GET', '/uptime')
      assert.ok((body.milliseconds as number) >= last)
      last = body.milliseconds as number
    }
    const { body: plan } = await crew.admin('POST', '/messages/replay', { outcome: 'failed' })
    for (let count = 0; count < 6; count += 1) {
      assert.equal((await crew.admin('GET', `/messages/replay/${plan.id}`)).status, 200)
    }
  })
})
