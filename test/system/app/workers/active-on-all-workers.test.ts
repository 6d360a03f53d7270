/** A change is active on every worker when its answer is sent. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { endpointDocument } from '../../../support/service.ts'
import { freshDatabase, postgresMissing } from '../../../support/services/postgres.ts'
import { lookInto } from '../../../support/store/folder.ts'
import { type Caller, type Crew, startCrew, until } from './crew.ts'

const CONNECTIONS = 6
/** Over each connection, while a change is made and once more after its answer. */
const CALLS = 5

/** The n-th configuration: it answers n, on a route that goes around. */
const numbered = (n: number): JsonObject =>
  endpointDocument({
    name: 'numbered',
    endpoint: { pattern: '/numbered' },
    constants: { n },
    inputMapping: { 'constants.n': 'n' },
  })

/**
 * Makes `changes`, one after the other, with calls from many connections beside each and after its answer. The calls are
 * counted, not repeated for as long as a change takes: on a busy machine they would make it take longer still.
 * Out: the workers that answered.
 */
async function hammer(crew: Crew, changes: number): Promise<ReadonlySet<string>> {
  const { _id } = await crew.register(numbered(0))
  let answered = 0
  const workers = new Set<string>()
  const callOver = async (caller: Caller) => {
    for (let count = 0; count < CALLS; count += 1) {
      const known = answered
      const { status, body, worker } = await caller.call('POST', '/numbered', {})
      assert.equal(status, 200)
      assert.ok((body.n as number) >= known, `${worker} answered by ${body.n} after ${known} was answered`)
      workers.add(worker)
    }
  }
  // A connection of its own: changes are made on every worker.
  const change = async (n: number) => {
    const { status, body } = await crew.call('PUT', `/endpoints/${_id}`, numbered(n))
    assert.equal(status, 200, JSON.stringify(body))
    answered = n
  }
  for (let n = 1; n <= changes; n += 1) {
    // New ones each time, to whichever workers take them; they are open when the answer comes.
    const callers = Array.from({ length: CONNECTIONS }, crew.connect)
    await Promise.all([change(n), ...callers.map(callOver)])
    await Promise.all(callers.map(callOver))
    for (const caller of callers) caller.end()
  }
  return workers
}

describe('a change that was answered', () => {
  const changes = 60
  test(`${changes} times, is in force on every worker`, async (t) => {
    const crew = await startCrew(t)
    assert.equal((await hammer(crew, changes)).size, 2)
  })

  test('of many endpoints is in force on every worker, all of it', async (t) => {
    const crew = await startCrew(t)
    const count = 200
    const places = Array.from({ length: count }, (_, place) => place)
    const document = (round: number, place: number) =>
      endpointDocument({
        name: `place ${place}`,
        endpoint: { pattern: `/place/${place}` },
        constants: { round },
        inputMapping: { 'constants.round': 'n' },
      })
    const create = places.map((place) => ({ op: 'create', document: document(0, place) }))
    const created = await crew.call('POST', '/endpoints/batch', { operations: create })
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const ids = (created.body.results as { id: string }[]).map(({ id }) => id)
    for (const round of [1, 2]) {
      const operations = ids.map((id, place) => ({
        op: 'replace',
        id,
        document: document(round, (place + round) % count),
      }))
      const { status, body } = await crew.call('POST', '/endpoints/batch', { operations })
      assert.equal(status, 200, JSON.stringify(body))
      const callers = await crew.connectToEach('/place/0')
      for (const caller of callers) {
        for (const place of places.slice(0, 50)) {
          assert.equal((await caller.call('POST', `/place/${place}`, {})).body.n, round)
        }
        caller.end()
      }
    }
  })

  test('on PostgreSQL is in force on every worker', { skip: postgresMissing() ?? false }, async (t) => {
    const database = await freshDatabase(t)
    const crew = await startCrew(t, { workers: 3, env: { DATABASE_URL: database.url } })
    assert.equal((await hammer(crew, 30)).size, 3)
    crew.child.kill('SIGTERM')
    await crew.ended
  })

  test('is not answered before a worker that stands still has followed', async (t) => {
    const crew = await startCrew(t)
    const { _id } = await crew.register(numbered(0))
    const callers = await crew.connectToEach('/numbered')
    const [still] = crew.workerPids() as [number]
    process.kill(still, 'SIGSTOP')
    const changes = callers.map((caller) => caller.call('PUT', `/endpoints/${_id}`, numbered(1)))
    let answers = 0
    for (const change of changes) void change.then(() => (answers += 1))
    const stored = () =>
      lookInto(
        join(crew.folder, 'data/crosswalk.db'),
        (db) => db.prepare('select document from endpoints').get()?.document,
      )
    await until('the change is stored', () => String(stored()).includes('"constants":{"n":1}'))
    assert.equal(answers, 0)
    process.kill(still, 'SIGCONT')
    for (const { status } of await Promise.all(changes)) assert.equal(status, 200)
    for (const caller of callers) caller.end()
    for (let count = 0; count < 4; count += 1) assert.equal((await crew.call('POST', '/numbered', {})).body.n, 1)
  })

  test('is reported as a failure where a worker stands still for too long, and is in force when it goes on', async (t) => {
    const crew = await startCrew(t)
    const { _id } = await crew.register(numbered(0))
    const callers = await crew.connectToEach('/numbered')
    const [still] = crew.workerPids() as [number]
    process.kill(still, 'SIGSTOP')
    const changes = callers.map((caller) => caller.call('PUT', `/endpoints/${_id}`, numbered(1)))
    // The one that stands still answers nothing at all.
    const refused = await Promise.race(changes)
    assert.deepEqual([refused.status, refused.body.code], [503, 'STORE_UNAVAILABLE'])
    assert.match(String(refused.body.error), /^The change is stored, but a worker has not activated it yet/)
    process.kill(still, 'SIGCONT')
    assert.equal((await Promise.all(changes)).filter(({ status }) => status === 200).length, 1)
    for (const caller of callers) {
      assert.equal((await caller.call('POST', '/numbered', {})).body.n, 1)
      caller.end()
    }
  })

  test('of several at once with If-Match, one is made; names and routes stay unique', async (t) => {
    const crew = await startCrew(t)
    const { _id } = await crew.register(numbered(0))
    for (let round = 1; round <= 20; round += 1) {
      const { etag } = await crew.call('GET', `/endpoints/${_id}`)
      const writers = Array.from({ length: 4 }, (_, index) =>
        crew.call('PUT', `/endpoints/${_id}`, numbered(round * 10 + index), { 'if-match': etag }),
      )
      const statuses = (await Promise.all(writers)).map(({ status }) => status).sort()
      assert.deepEqual(statuses, [200, 412, 412, 412])
      const same = Array.from({ length: 4 }, () =>
        crew.call(
          'POST',
          '/endpoints',
          endpointDocument({ name: `n${round}`, endpoint: { pattern: `/r${round}/:id` } }),
        ),
      )
      const created = (await Promise.all(same)).map(({ status }) => status).sort()
      assert.deepEqual(created, [201, 409, 409, 409])
      const free = Array.from({ length: 4 }, (_, index) =>
        crew.call('PATCH', `/endpoints/${_id}`, { description: `${round}.${index}` }),
      )
      assert.deepEqual(new Set((await Promise.all(free)).map(({ status }) => status)), new Set([200]))
    }
    const versions = await crew.call('GET', `/endpoints/${_id}/versions`)
    assert.equal(versions.status, 200)
  })
})
