/** When state is stored, how much of it, and what becomes of messages where it cannot be. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { openPipeline } from './fixture.ts'

// For its upstream: the service of these tests has its database in a known place.
const pipeline = openPipeline()
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-state-'))
let service: Service
before(async () => {
  service = await startService({}, folder)
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** A connection of its own, as another process would have. */
function withDatabase<T>(use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(folder, 'test.db'))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

type Row = { endpoint_id: string; state: string }
const rowsOf = ({ _id }: { _id: string }): Row[] =>
  withDatabase((db) => {
    const rows = db.prepare('SELECT * FROM states ORDER BY sequence').all() as unknown as Row[]
    return rows.filter(({ endpoint_id }) => endpoint_id === _id)
  })

const stateful: JsonObject = {
  state: { extract: { requestBody: { n: 'n' } } },
  inputMapping: { 'state.requestBody.n': 'before', 'requestBody.n': 'n' },
}

it('has the state of a message before its answer is sent', async () => {
  const endpoint = await service.register({ endpoint: { pattern: '/kept' }, ...stateful })
  for (const n of [1, 2, 3]) {
    await service.fetch('/kept', json('POST', { n }))
    const [row, ...others] = rowsOf(endpoint)
    assert.deepEqual([JSON.parse(row?.state ?? '{}').requestBody, others], [{ n }, []])
  }
})

it('keeps no more than a filter could ever select, and nothing of an endpoint that is gone', async () => {
  const lookup = {
    id: 'p',
    config: { url: `${pipeline.upstream.url}/:status`, params: { url: { status: { path: 'payload.status' } } } },
    allowedStatuses: ['*'],
  }
  const looking = await service.register({ endpoint: { pattern: '/looking' }, requests: { lookup }, ...stateful })
  const alone = await service.register({ endpoint: { pattern: '/alone' }, ...stateful })
  const statuses = [200, 201, 404, 500, 'reset']
  const senders = Array.from({ length: 25 }, async (_, sender) => {
    const status = statuses[sender % statuses.length] ?? null
    const reply = await service.fetch('/looking', json('POST', { n: sender, status }))
    assert.equal(reply.status, status === 'reset' ? 502 : 200)
    for (let n = 0; n < 10; n++) await service.fetch('/alone', json('POST', { n }))
  })
  await Promise.all(senders)
  assert.deepEqual([rowsOf(looking).length, rowsOf(alone).length], [statuses.length, 1])
  for (const { _id } of [looking, alone]) await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
  assert.deepEqual([...rowsOf(looking), ...rowsOf(alone)], [])
})

it('takes a hundred messages at once, each answered with a state that was kept', async () => {
  await service.register({ endpoint: { pattern: '/many' }, ...stateful })
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  const replies = await Promise.all(numbers.map((n) => service.fetch('/many', json('POST', { n }))))
  for (const [n, reply] of replies.entries()) {
    const { before, n: own } = reply.json<{ before?: number; n: number }>()
    assert.deepEqual([reply.status, own], [200, n])
    assert.ok(before === undefined || numbers.includes(before), `${before} was never sent`)
  }
  const { before: last } = (await service.fetch('/many', json('POST', {}))).json<{ before: number }>()
  assert.ok(numbers.includes(last))
})

describe('an endpoint that uses no state', () => {
  const cases: [name: string, document: () => JsonObject, keeps: boolean][] = [
    ['without any of it', () => ({}), false],
    [
      'with an expression over a field of that name',
      () => ({ inputTransforms: { a: 'requestBody.address.state & " state"', b: '$.requestBody.{"state": 1}' } }),
      false,
    ],
  ]
  for (const [name, document, keeps] of cases) {
    it(`keeps ${keeps ? 'some after all' : 'none'}: ${name}`, async () => {
      const pattern = `/any-${cases.findIndex(([one]) => one === name)}`
      const endpoint = await service.register({ endpoint: { pattern }, ...document() })
      const reply = await service.fetch(pattern, json('POST', { state: 'TX', address: { state: 'TX' } }))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(rowsOf(endpoint).length, keeps ? 1 : 0)
    })
  }
})

it('refuses messages with state while another process holds the lock of the store, and no others', async () => {
  await service.register({ endpoint: { pattern: '/with' }, ...stateful })
  await service.register({ endpoint: { pattern: '/without' } })
  const holder = new DatabaseSync(join(folder, 'test.db'))
  holder.exec('BEGIN IMMEDIATE')
  const waiting = service.fetch('/with', json('POST', { n: 1 }))
  const first = await Promise.race([waiting, service.fetch('/without', json('POST', { n: 'free' }))])
  const refused = await waiting
  // Its transaction ends with it.
  holder.close()
  assert.deepEqual([first.status, first.text], [200, '{"n":"free"}'])
  const { code, path } = refused.json()
  assert.deepEqual([refused.status, code, path], [503, 'STATE_UNAVAILABLE', 'state'])
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.equal((await service.fetch('/with', json('POST', { n: 2 }))).status, 200)
  assert.deepEqual((await service.fetch('/with', json('POST', { n: 3 }))).json(), { before: 2, n: 3 })
})

it('is not needed where an endpoint uses no state: it answers where the database is gone', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-state-'))
  const gone = await startService({}, home)
  t.after(async () => {
    await gone.stop()
    rmSync(home, { recursive: true })
  })
  await gone.register({ endpoint: { pattern: '/free' } })
  for (const name of readdirSync(home)) rmSync(join(home, name))
  const reply = await gone.fetch('/free', json('POST', { a: 1 }))
  assert.deepEqual([reply.status, reply.text], [200, '{"a":1}'])
})
