/** A batch on one instance: no reader sees a part of it, there or on another instance. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { freshDatabase } from '../../support/services/postgres.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { type Instance, needsPostgres, startInstance, startInstances, until } from './instances.ts'

const ENDPOINTS = 20
const BATCHES = 8

const documentOf = (round: number, place: number): JsonObject =>
  endpointDocument({
    name: `place ${place}`,
    endpoint: { pattern: `/place/${place}` },
    constants: { round },
    inputMapping: { 'constants.round': 'round' },
  })

test(`of ${BATCHES} batches on two instances, every list shows all or nothing`, needsPostgres, async (test) => {
  const instances = (await startInstances(test, 2)) as [Instance, Instance]
  const [first] = instances
  const operations = Array.from({ length: ENDPOINTS }, (_, place) => ({ op: 'create', document: documentOf(0, place) }))
  const created = await first.ask('POST', '/endpoints/batch', { operations })
  assert.equal(created.status, 200, JSON.stringify(created.body))
  const ids = (created.body.results as { id: string }[]).map(({ id }) => id)
  const routed = async (instance: Instance, round: number) => {
    const { body } = await instance.ask('POST', '/place/0', {})
    return body.round === round
  }
  await until('the first batch on the other instance', 60_000, () => routed(instances[1], 0))

  let isDone = false
  let lists = 0
  const observe = async (instance: Instance) => {
    while (!isDone) {
      const { body } = await instance.ask('GET', '/endpoints')
      const rounds = (body as unknown as { constants: { round: number } }[]).map(({ constants }) => constants.round)
      assert.equal(rounds.length, ENDPOINTS)
      assert.equal(new Set(rounds).size, 1, `a list shows the batches ${[...new Set(rounds)].join(', ')}`)
      lists += 1
    }
  }
  /** Each message is answered by the batch before or the one after; the routes of a batch switch together. */
  const send = async (instance: Instance) => {
    let newest = 0
    while (!isDone) {
      const place = lists % ENDPOINTS
      const { status, body } = await instance.ask('POST', `/place/${place}`, {})
      assert.equal(status, 200)
      assert.ok(Number(body.round) >= newest, `round ${body.round} answered after round ${newest}`)
      newest = Number(body.round)
    }
  }
  const change = async () => {
    for (let round = 1; round <= BATCHES; round += 1) {
      const here = instances[round % 2] as Instance
      // The names and routes go around, so that each endpoint takes those of another one.
      const moved = ids.map((id, place) => ({
        op: 'replace',
        id,
        document: documentOf(round, (place + round) % ENDPOINTS),
      }))
      const { status, body } = await here.ask('POST', '/endpoints/batch', { operations: moved })
      assert.equal(status, 200, JSON.stringify(body))
      assert.ok(await routed(here, round), `batch ${round} is active where it was made`)
      const there = instances[(round + 1) % 2] as Instance
      await until(`batch ${round} on the other instance`, 60_000, () => routed(there, round))
    }
    isDone = true
  }
  await Promise.all([
    change().finally(() => {
      isDone = true
    }),
    ...instances.map(observe),
    ...instances.map(send),
  ])
  assert.ok(lists > BATCHES)

  // Batches of one endpoint that are made at once are all made, or none of each.
  const contested = await Promise.all(
    instances.map((instance, index) =>
      instance.ask('POST', '/endpoints/batch', {
        operations: ids.map((id, place) => ({ op: 'replace', id, document: documentOf(100 + index, place) })),
      }),
    ),
  )
  assert.deepEqual(
    contested.map(({ status }) => status),
    [200, 200],
  )
  const { body } = await first.ask('GET', '/endpoints')
  const rounds = new Set(
    (body as unknown as { constants: { round: number } }[]).map(({ constants }) => constants.round),
  )
  assert.equal(rounds.size, 1)
})

const KILLS = 3

test(
  `an instance that is killed ${KILLS} times during batches leaves all of each or nothing`,
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const watching = await startInstance(test, database)
    const operations = Array.from({ length: ENDPOINTS }, (_, place) => ({
      op: 'create',
      document: documentOf(0, place),
    }))
    const created = await watching.ask('POST', '/endpoints/batch', { operations })
    const ids = (created.body.results as { id: string }[]).map(({ id }) => id)
    const roundsStored = async () => {
      const { body } = await watching.ask('GET', '/endpoints')
      return (body as unknown as { constants: { round: number } }[]).map(({ constants }) => constants.round)
    }
    let round = 0
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const service = await spawnService(freshFolder(test), { env: { DATABASE_URL: database.url } })
      let acknowledged = round
      const change = async () => {
        for (;;) {
          round += 1
          const moved = ids.map((id, place) => ({
            op: 'replace',
            id,
            document: documentOf(round, (place + round) % ENDPOINTS),
          }))
          const reply = await fetch(`${service.url}/endpoints/batch`, json('POST', { operations: moved }))
          if (reply.status === 200) acknowledged = round
          await reply.body?.cancel()
        }
      }
      const changing = assert.rejects(change())
      const enough = round + 3 + kill
      await until('some batches', 60_000, () => acknowledged >= enough)
      service.child.kill('SIGKILL')
      await Promise.all([changing, service.ended])
      const [stored = -1, ...others] = await roundsStored()
      assert.equal(others.length, ENDPOINTS - 1)
      assert.ok(others.every((one) => one === stored))
      assert.ok(stored >= acknowledged, `batch ${acknowledged} was acknowledged, and ${stored} is stored`)
      await until('the last batch where no instance was killed', 60_000, async () => {
        const { body } = await watching.ask('POST', '/place/0', {})
        return body.round === stored
      })
    }
  },
)
