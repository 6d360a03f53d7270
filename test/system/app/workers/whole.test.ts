/** What one worker is asked and reports for the whole service. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { readEvents } from '../../../support/observe/events/event-reader.ts'
import { readExposition } from '../../../support/observe/metrics/exposition.ts'
import type { DriftAnswer } from '../../../support/records/drift/samples.ts'
import { capturesOf } from '../../../support/records/message-log/captures.ts'
import { endpointDocument, startUpstream } from '../../../support/service.ts'
import { type Crew, startCrew, until } from './crew.ts'

const read = async (crew: Crew) => readExposition((await crew.admin('GET', '/metrics')).body.text as string)

const sumOf = ({ series }: Awaited<ReturnType<typeof read>>, name: string, endpoint?: string) =>
  series
    .filter((one) => one.name === name && (endpoint === undefined || one.labels.endpoint === endpoint))
    .reduce((sum, { value }) => sum + value, 0)

describe('two workers', async () => {
  const env = { MESSAGE_LOG: 'all', DRIFT_SAMPLE: '1', TESTS_ON_CHANGE: 'require' }
  const crew = await startCrew({ after }, { env })

  test('are one in metrics, statistics, the message log and health', async () => {
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

  test('report a message that was just answered, whichever worker did', async () => {
    await crew.register({ name: 'Logged', endpoint: { pattern: '/logged' } })
    const callers = await crew.connectToEach('/logged')
    for (const caller of callers) {
      for (let count = 0; count < 5; count += 1) {
        const answer = await fetch(`${crew.url}/logged`, { method: 'POST', body: '{}' })
        const id = answer.headers.get('x-crosswalk-message-id')
        const { status, body } = await crew.admin('GET', `/messages/${id}`)
        assert.deepEqual([status, body.id], [200, id])
      }
      caller.end()
    }
  })

  test('have one uptime, and plans of replays are found by every call', async () => {
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

  test('a stream counts the messages of every worker, and a list their endpoints', async () => {
    await crew.register({ name: 'Counted', endpoint: { pattern: '/counted' } })
    const callers = await crew.connectToEach('/counted')
    const reader = await readEvents(`${crew.adminUrl}/events`)
    await reader.first(({ type }) => type === 'open')
    for (const { call } of callers) for (let n = 0; n < 5; n += 1) await call('POST', '/counted', {})
    const counted = () =>
      reader.events.reduce((sum, { type, data }) => (type === 'messages' ? sum + Number(data.done) : sum), 0)
    await until('all are counted', () => counted() >= 10)
    assert.equal(counted(), 10)
    const { _id } = await crew.register({ name: 'New', endpoint: { pattern: '/new' } })
    const changed = await reader.first(({ type }) => type === 'endpoints')
    assert.deepEqual(changed.data.changes, [{ change: 'created', id: _id, version: 1, name: 'New' }])
    for (const { call } of callers) {
      const { body } = await call('GET', '/endpoints?view=summary&q=counted')
      const [row] = body.endpoints as { stats: { count: number } }[]
      // The callers have sent one message each to find their workers, at least.
      assert.ok(Number(row?.stats.count) >= 12)
      const { status } = await call('GET', `/endpoints/${_id}/faults`)
      assert.equal(status, 200)
    }
    reader.close()
    for (const caller of callers) caller.end()
  })

  test('the sampled messages of all workers are in one answer, whichever worker gives it', async () => {
    await crew.register({ endpoint: { pattern: '/find' } })
    const callers = await crew.connectToEach('/find')
    const { _id } = await crew.register({
      endpoint: { pattern: '/sampled' },
      inputMapping: { 'requestBody.common': 'a', 'requestBody.n': 'n', 'requestBody.gone': 'x' },
    })
    for (const [n, { call }] of callers.entries()) {
      await call('POST', '/sampled', { [`only${n}`]: n, both: true, ...(n === 0 ? { common: 1 } : { n }) })
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

  test('a capture holds on every worker at once, for as many messages of all of them, and ends on all', async () => {
    const { _id } = await crew.register({
      name: 'captured',
      endpoint: { pattern: '/captured' },
      inputMapping: { 'requestBody.n': 'n' },
    })
    const callers = await crew.connectToEach('/captured')
    const { start, get, call, captured } = capturesOf(crew.adminUrl).on(_id)
    await start({ messages: 50 })
    const send = (n: number) => callers[n % callers.length]?.call('POST', '/captured', { n })
    await Promise.all(callers.map((_, n) => send(n)))
    assert.equal((await captured()).length, callers.length)
    await Promise.all(Array.from({ length: 200 }, (_, n) => send(n)))
    assert.equal((await captured()).length, 50)
    const { isActive, remaining } = await get()
    assert.deepEqual([isActive, remaining], [false, 0])
    await start({ messages: 50 })
    assert.equal((await call('DELETE')).status, 200)
    await Promise.all(callers.map((_, n) => send(n)))
    assert.equal((await captured()).length, 50)
    for (const caller of callers) caller.end()
  })

  test('stored tests are those of every worker, and judge changes on each of them', async () => {
    const given = { message: { body: {} } }
    const file: JsonObject = { tests: [{ name: 'good', given, expect: { answer: { body: { answer: 'good' } } } }] }
    const { _id } = await crew.register({
      name: 'tested',
      endpoint: { pattern: '/tested' },
      constants: { answer: 'good' },
      inputMapping: { 'constants.answer': 'answer' },
    })
    const callers = await crew.connectToEach('/tested')
    const path = `/endpoints/${_id}/tests`
    const [first, second] = callers
    assert.ok(first && second)
    let { etag } = await first.call('GET', path)
    for (const { call } of [first, second, first]) {
      const put = await call('PUT', path, file, { 'if-match': etag })
      assert.equal(put.status, 200)
      etag = put.etag
      for (const other of callers) assert.deepEqual((await other.call('GET', path)).body, file)
    }
    for (const { call } of callers) {
      const refused = await call('PATCH', `/endpoints/${_id}`, { constants: { answer: 'bad' } })
      assert.deepEqual([refused.status, refused.body.code], [409, 'TESTS_FAILED'])
      const run = await call('POST', '/endpoints/tests/run', { endpointId: _id })
      assert.equal(run.body.passed, 1)
      const override = { 'x-crosswalk-override': 'known' }
      assert.equal((await call('PATCH', `/endpoints/${_id}`, { constants: { answer: 'bad' } }, override)).status, 200)
      assert.equal((await call('PATCH', `/endpoints/${_id}`, { constants: { answer: 'good' } })).status, 200)
    }
    for (const caller of callers) caller.end()
  })

  test('a test can be made from the message of any worker', async () => {
    await crew.register({
      name: 'recorded',
      endpoint: { pattern: '/recorded' },
      inputMapping: { 'requestBody.a': 'a' },
    })
    const callers = await crew.connectToEach('/recorded')
    for (const { call } of callers) {
      assert.equal((await call('POST', '/recorded', { a: 1 })).status, 200)
    }
    const { body } = await crew.admin('GET', '/messages?endpoint=recorded')
    const messages = (body.messages as JsonObject[]).slice(0, callers.length)
    assert.equal(messages.length, callers.length)
    for (const { id } of messages) {
      const made = await crew.admin('POST', `/messages/${String(id)}/test`, {})
      assert.deepEqual([made.status, (made.body.result as JsonObject).verdict], [200, 'passed'])
    }
    for (const caller of callers) caller.end()
  })

  test('a message that any worker has just processed runs dry, and each worker gives a value that another one cut', async () => {
    await crew.register({ name: 'open', endpoint: { pattern: '/open' } })
    const { _id } = await crew.register({
      name: 'doubled',
      endpoint: { pattern: '/doubled' },
      inputTransforms: { both: '[requestBody.text, requestBody.text]' },
      inputMapping: { 'transforms.both': 'both', 'requestBody.nr': 'nr' },
    })
    const callers = await crew.connectToEach('/open')
    for (const [nr, sender] of callers.entries()) {
      assert.equal((await sender.call('POST', '/doubled', { nr, text: 'x' })).status, 200)
      const { body } = await crew.admin('GET', `/messages?endpoint=${_id}&limit=1`)
      const [message] = body.messages as JsonObject[]
      const recorded = { messageId: message?.id ?? '' }
      const report = await crew.admin('POST', '/endpoints/dry-run', recorded)
      assert.equal(report.status, 200, JSON.stringify(report.body))
      assert.equal((report.body.answer as JsonObject).body, JSON.stringify({ both: ['x', 'x'], nr }))
      // Who may send messages is not always who may read them.
      const { status, body: refused } = await sender.call('POST', '/endpoints/dry-run', recorded)
      assert.deepEqual([status, refused.code], [400, 'DRY_RUN_INVALID'])
    }
    const asked = { endpointId: _id, message: { body: { nr: 1, text: 'x'.repeat(600_000) } } }
    const at = '/stages/1/output/transforms'
    for (const { call } of callers) {
      const { body } = await call('POST', '/endpoints/dry-run', asked)
      assert.ok(JSON.stringify(body.stages).includes(`"at":"${at}"`))
      for (const other of callers) {
        const whole = await other.call('POST', '/endpoints/dry-run/value', { ...asked, at })
        assert.equal((whole.body.both as string[]).length, 2)
      }
    }
  })
})

describe('two workers of their own', () => {
  test('count on what a lost one had counted, while its endpoint is in force', async (t) => {
    const crew = await startCrew(t)
    const { _id } = await crew.register({ name: 'All', endpoint: { pattern: '/all' } })
    const callers = await crew.connectToEach('/all')
    for (let count = 0; count < 20; count += 1) await callers[count % 2]?.call('POST', '/all', {})
    for (const caller of callers) caller.end()
    const before = sumOf(await read(crew), 'crosswalk_messages_total', 'All')
    process.kill(crew.workerPids()[0] as number, 'SIGKILL')
    await until('the loss is counted', async () => {
      const now = await read(crew).catch(() => undefined)
      return now !== undefined && sumOf(now, 'crosswalk_workers') === 4
    })
    const after = await read(crew)
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
    await until('the others are refused', () => statuses.length === calls.length - most)
    assert.equal(await inFlight(), most)
    for (const caller of callers) assert.equal((await caller.call('POST', '/quick', {})).status, 503)
    released.resolve()
    await Promise.all(calls)
    assert.equal(statuses.filter((status) => status === 200).length, most)
    assert.equal(statuses.filter((status) => status === 503).length, calls.length - most)
    for (const caller of callers) caller.end()
  })
})
